//! Printed classes equal those of `javap`: the same instructions, operands and tables.

use std::path::{Path, PathBuf};
use std::process::Command;

use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, scratch};
use rewriter::ClassFile;

/// Modules whose classes contain every kind of instruction that javac emits.
const MODULES: [&str; 3] = ["java.logging", "java.sql", "jdk.jfr"];

/// An instruction as (bci, mnemonic, operand, comment), or a row of a switch as (0, "case", …).
type Line = (u32, String, String, String);

#[test]
fn instructions_equal_those_of_javap() {
    for jdk in jdks::main_in_turn("javap") {
        let folder = scratch();
        extract(&jdk, folder.path());
        let files = javac::files_with_extension(folder.path(), "class");
        let mut compared = 0;
        for files in files.chunks(200) {
            let theirs = javap(&jdk, files);
            assert_eq!(theirs.len(), files.len());
            for (file, theirs) in files.iter().zip(theirs) {
                compared += compare(file, &theirs);
            }
        }
        println!(
            "JDK {}: {} classes, {compared} lines",
            jdk.version,
            files.len()
        );
        assert!(compared > 20_000, "only {compared} lines compared");
    }
}

fn extract(jdk: &Jdk, folder: &Path) {
    for module in MODULES {
        let status = Command::new(jdk.tool("jimage"))
            .args([
                "extract",
                "--include",
                &format!("regex:/{module}/.*\\.class"),
            ])
            .arg("--dir")
            .arg(folder)
            .arg(jdk.home.join("lib/modules"))
            .status()
            .expect("jimage starts");
        assert!(status.success(), "jimage extracts {module}");
    }
}

/// Returns the output of `javap` for each file, in order.
fn javap(jdk: &Jdk, files: &[PathBuf]) -> Vec<String> {
    let output = Command::new(jdk.tool("javap"))
        .args([
            "-v",
            "-p",
            "-J-Dfile.encoding=UTF-8",
            "-J-Dstdout.encoding=UTF-8",
        ])
        .args(files)
        .output()
        .expect("javap starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let parts = text.split("Classfile ").skip(1);
    parts.map(str::to_owned).collect()
}

fn compare(file: &Path, theirs: &str) -> usize {
    let bytes = std::fs::read(file).expect("a class file");
    let class = ClassFile::read(&bytes).expect("a class of the JDK is read");
    let mut ours = String::new();
    class_text::class(&class, &mut ours).expect("a string takes everything");
    let ours: Vec<Line> = lines(&ours);
    let theirs: Vec<Line> = lines(theirs);
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs, "{}", file.display());
    }
    assert_eq!(ours.len(), theirs.len(), "{}", file.display());
    ours.len()
}

/// Returns the instructions and rows of switches in either text.
fn lines(text: &str) -> Vec<Line> {
    let mut found = Vec::new();
    let mut in_switch = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if in_switch {
            in_switch = trimmed != "}";
            if let Some((key, target)) = trimmed.split_once(": ") {
                found.push((0, "case".to_owned(), key.to_owned(), target.to_owned()));
            }
            continue;
        }
        if let Some(line) = instruction(trimmed) {
            in_switch = line.1.ends_with("switch");
            found.push(line);
        }
    }
    found
}

/// Parses `12: invokevirtual #7   // Method a:()V`; other lines give `None`.
fn instruction(line: &str) -> Option<Line> {
    let (bci, rest) = line.split_once(": ")?;
    let bci = bci.parse().ok()?;
    let (mnemonic, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let known = mnemonic.chars().next()?.is_ascii_lowercase()
        && mnemonic
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !known || !is_mnemonic(mnemonic) {
        return None;
    }
    if mnemonic.ends_with("switch") {
        return Some((bci, mnemonic.to_owned(), String::new(), String::new()));
    }
    let (operand, comment) = rest.split_once("//").unwrap_or((rest, ""));
    let operand = operand.split_whitespace().collect::<Vec<_>>().join(" ");
    Some((bci, mnemonic.to_owned(), operand, normal(comment.trim())))
}

fn is_mnemonic(word: &str) -> bool {
    let plain = word.strip_suffix("_w").unwrap_or(word);
    (0..=255).any(|opcode| {
        jvms::opcode::mnemonic(opcode).is_some_and(|name| name == word || name == plain)
    })
}

/// Normalises numbers, which Rust and Java print differently, and removes characters with different escapes.
fn normal(comment: &str) -> String {
    let number = |text: &str, kind: &str, suffix: char| -> Option<f64> {
        let text = text.strip_prefix(kind)?.trim().strip_suffix(suffix)?;
        let text = text.replace("Infinity", "inf");
        text.parse::<f64>().ok()
    };
    if let Some(value) = number(comment, "float ", 'f') {
        return format!("float {:?}", value as f32);
    }
    if let Some(value) = number(comment, "double ", 'd') {
        return format!("double {value:?}");
    }
    if comment.starts_with("String ") {
        let plain = |c: &char| c.is_ascii_alphanumeric();
        return comment.chars().filter(plain).take(500).collect();
    }
    comment.split_whitespace().collect::<Vec<_>>().join(" ")
}
