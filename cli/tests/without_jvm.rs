//! `classhook explain`, `inspect` and `verify`: commands on classes, without a JVM.

#[path = "support/command.rs"]
mod support;

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;

use class_description::{Arena, describe};
use coverage::analysis::probe_count;
use support::{Compiled, run};

const GATE: &str = "package bank;
public class Gate {
    static int pass(int who) {
        if (who > 3 && who != 7) {
            return 1;
        }
        return 0;
    }
}
";
const EMPTY: &str = "package bank;
public interface Empty {
    void nothing();
}
";

fn bank() -> Compiled {
    Compiled::new(&[("bank/Gate.java", GATE), ("bank/Empty.java", EMPTY)])
}

fn file(bank: &Compiled, name: &str) -> String {
    let path = bank.path("classes").join(format!("{name}.class"));
    path.to_string_lossy().into_owned()
}

#[test]
fn explain_shows_every_probe_that_coverage_sets_in_its_place() {
    let bank = bank();
    let ran = run(["explain", "coverage", &file(&bank, "bank/Gate")]).well();
    let probes = probe_count(&describe(&bank.class("bank/Gate"), &Arena::new()).unwrap());
    assert!(probes >= 4);
    assert_eq!(
        ran.out.matches("+ coverage: hit ").count(),
        probes,
        "{}",
        ran.out
    );
    let lines: Vec<&str> = ran.out.lines().map(str::trim).collect();
    let at = lines
        .iter()
        .position(|line| line.contains(": iconst_1"))
        .unwrap();
    assert_eq!(
        lines[at + 1..at + 3],
        ["+ coverage: hit 3 (before 12)", "12: ireturn"],
        "{}",
        ran.out
    );
}

#[test]
fn explain_diff_shows_inserted_code_and_keeps_the_rest() {
    let bank = bank();
    let ran = run(["explain", "--diff", "coverage", &file(&bank, "bank/Gate")]).well();
    let probes = probe_count(&describe(&bank.class("bank/Gate"), &Arena::new()).unwrap());
    let inserted = |line: &&str| line.starts_with('+') && line.contains("bastore");
    assert_eq!(
        ran.out.lines().filter(inserted).count(),
        probes,
        "{}",
        ran.out
    );
    assert!(ran.out.contains("@@ method pass(I)I @@"), "{}", ran.out);
    let gone = |line: &&str| line.starts_with('-') && line.contains("ireturn");
    assert_eq!(ran.out.lines().filter(gone).count(), 0, "{}", ran.out);
}

#[test]
fn explain_finds_classes_in_jars_by_name_and_pattern() {
    let bank = bank();
    let jar = bank.jar("bank.jar").to_string_lossy().into_owned();
    let one = run(["explain", "coverage", &format!("{jar}!bank.Gate")]).well();
    let named = run(["explain", "coverage", "--in", &jar, "bank.Gate"]).well();
    assert_eq!(one.out, named.out);
    assert!(
        one.out
            .starts_with(&format!("// {jar}!/bank/Gate.class\nclass bank/Gate "))
    );
    let all = run(["explain", "coverage", "--in", &jar, "bank.*"]).well();
    assert!(all.out.contains("class bank/Gate ") && all.out.contains("class bank/Empty "));
}

#[test]
fn explain_reports_missing_classes() {
    let bank = bank();
    let jar = bank.jar("bank.jar").to_string_lossy().into_owned();
    let nowhere = run(["explain", "coverage", "bank.Gate"]);
    nowhere.refused("H0631", &["bank.Gate", "--in"]);
    let missing = run(["explain", "coverage", "--in", &jar, "bank.Gone"]);
    missing.refused("H0631", &["bank.Gone", &jar]);
    let plugin = run(["explain", "covrage", &file(&bank, "bank/Gate")]);
    plugin.refused("H0105", &["covrage", "coverage"]);
}

#[test]
fn inspect_prints_a_class_and_the_opinions_of_other_readers() {
    let bank = bank();
    let ran = run(["inspect", &file(&bank, "bank/Gate")]).well();
    assert!(ran.out.contains("method pass(I)I"), "{}", ran.out);
    assert!(
        ran.out
            .ends_with("// cafebabe agrees\n// ristretto_classfile agrees\n"),
        "{}",
        ran.out
    );
}

#[test]
fn inspect_finds_a_class_by_name_as_explain_does() {
    let bank = bank();
    let classes = bank.path("classes");
    let ran = run(["inspect", "--in", classes.to_str().unwrap(), "bank.Gate"]).well();
    assert!(ran.out.contains("class bank/Gate"), "{}", ran.out);
}

#[test]
fn inspect_of_a_plugin_names_its_capabilities() {
    let ran = run(["inspect", "coverage"]).well();
    for line in [
        "plugin coverage",
        "  digest: sha256:",
        "    classhook:plugin/probes@0.1.0  (capability `probes`: sets probes in the classes you select)",
        "      hit",
        "    classhook:plugin/transformer@0.1.0",
        "  selects: ",
    ] {
        assert!(
            ran.out.lines().any(|found| found.starts_with(line)),
            "{line}\n{}",
            ran.out
        );
    }
}

#[test]
fn inspect_of_a_file_that_is_no_plugin_is_refused() {
    let bank = bank();
    let path = bank.path("no.wasm");
    fs::write(&path, b"\x7fELF").unwrap();
    run(["inspect", path.to_str().unwrap()]).refused("H0106", &["no.wasm", "component"]);
}

/// Returns a class with annotations nested `depth` times.
fn nested_annotations(depth: u32) -> Vec<u8> {
    let mut bytes = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61, 0, 7];
    let utf8 = |text: &str| [&[1, 0, text.len() as u8], text.as_bytes()].concat();
    bytes.extend(utf8("A"));
    bytes.extend([7, 0, 1]);
    bytes.extend(utf8("java/lang/Object"));
    bytes.extend([7, 0, 3]);
    bytes.extend(utf8("RuntimeVisibleAnnotations"));
    bytes.extend(utf8("LA;"));
    bytes.extend([0, 0x21, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 5]);
    bytes.extend((2 + depth * 7 + 4).to_be_bytes());
    bytes.extend([0, 1]);
    bytes.extend([0, 6, 0, 1, 0, 1, b'@'].repeat(depth as usize));
    bytes.extend([0, 6, 0, 0]);
    bytes
}

#[test]
fn class_that_kills_other_readers_is_inspected() {
    let bank = bank();
    let path = bank.path("Deep.class");
    fs::write(&path, nested_annotations(1_000_000)).unwrap();
    let ran = run(["inspect", path.to_str().unwrap()]).well();
    assert!(
        ran.out.contains("class A extends java/lang/Object"),
        "{}",
        ran.out
    );
    let broken = "breaks on the class: it overflowed its stack or crashed";
    let overflow = ran.out.matches(broken).count();
    let aborted = ran
        .out
        .matches("breaks on the class: it ran out of memory or aborted")
        .count();
    assert!(overflow + aborted >= 1, "{}", ran.out);
}

#[test]
fn verify_continues_after_the_death_of_a_reader() {
    let bank = bank();
    fs::write(
        bank.path("classes/Deep.class"),
        nested_annotations(1_000_000),
    )
    .unwrap();
    let ran = run(["verify", bank.path("classes").to_str().unwrap()]).well();
    assert!(ran.out.contains("        3  classes\n"), "{}", ran.out);
    assert!(
        ran.out.contains("        2  ristretto_classfile agrees\n"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("breaks on\n"), "{}", ran.out);
}

#[test]
fn verify_counts_instrumented_classes() {
    let bank = bank();
    let jar = bank.jar("bank.jar").to_string_lossy().into_owned();
    let ran = run(["verify", &jar, "--plugin", "coverage"]).well();
    for line in [
        "        2  classes",
        "        1  left unchanged by the plugin",
        "        1  changed, and passed the self-check",
        "        1  cafebabe agrees afterwards",
        "        1  ristretto_classfile agrees afterwards",
    ] {
        assert!(
            ran.out.lines().any(|found| found == line),
            "{line}\n{}",
            ran.out
        );
    }
}

#[test]
fn verify_fails_for_a_damaged_class_and_names_it() {
    let bank = bank();
    let mut bytes = bank.class("bank/Gate");
    bytes.truncate(bytes.len() - 3);
    fs::write(bank.path("classes/Cut.class"), bytes).unwrap();
    let ran = run(["verify", bank.path("classes").to_str().unwrap()]);
    assert_eq!(ran.code, Some(1), "{}", ran.error);
    ran.says(&[
        "warning[H0632]: ",
        "Cut.class cannot be read",
        "is truncated",
    ]);
    assert!(
        ran.out.contains("        1  cannot be read\n"),
        "{}",
        ran.out
    );
    run(["verify", "/nowhere"]).refused("H0612", &["/nowhere"]);
}

/// The agent resets the data of its answer, so the answer must not be lost.
#[test]
fn dump_with_reset_keeps_an_answer_that_does_not_fit_at_its_path() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap().to_string();
    let answer = [0x01, 0xC0, 0xC0, 0x10, 0x07];
    let answering = std::thread::spawn(move || {
        for _ in 0..2 {
            let (mut client, _) = server.accept().unwrap();
            client.write_all(&answer).unwrap();
            client.read_exact(&mut [0; 8]).unwrap();
            client.write_all(&[0x20]).unwrap();
        }
    });
    let ran = run(["dump", &address, "--reset", "--to", "/dev/full"]);
    assert_eq!(ran.code, Some(3), "a full disk is no mistake of the user's");
    ran.says(&["error[H0620]", "/dev/full", "No space left", "make room"]);
    let note = "the data that was reset in the JVM is in ";
    let kept = ran.error.lines().find_map(|line| line.split_once(note));
    let (_, kept) = kept.unwrap_or_else(|| panic!("{}", ran.error));
    assert_eq!(fs::read(kept).unwrap(), answer);
    fs::remove_file(kept).unwrap();
    let ran = run(["dump", &address, "--to", "/dev/full"]);
    assert_eq!(ran.code, Some(3));
    ran.says(&["error[H0620]", "/dev/full"]);
    assert!(!ran.error.contains(note), "{}", ran.error);
    answering.join().unwrap();
}
