//! Names of classes, methods, threads and files, and texts of plugins, with control characters of terminals. The
//! command and the agent print them escaped.

use crate::support::command::{LATE, classhook};
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::Servant;
use e2e_tests::workspace::{self, agent_library, test_file};
use e2e_tests::{javac, scratch};
use std::path::{Path, PathBuf};

/// The hostile part of each text, as the Java program has it.
const EVIL: &str = "\u{1b}c\u{9b}2J\rx\nclasshook: error\u{202e}";
/// The end of that part in its escaped form.
const SHOWN: &str = r"\nclasshook: error\u202e";

fn compile(folder: &Path) -> PathBuf {
    let source = test_file("java/hostile/Hostile.java");
    javac::compile(&jdks::newest(), &[&source], folder, &["--release", "11"])
}

fn program(jdk: &Jdk, classes: &Path, options: &[&str]) -> Servant {
    let java = Java::new(jdk).options(options).class_path(&[classes]);
    Servant::of(&java.main("Hostile"))
}

/// Asserts that a text has no control characters, and no line that imitates one of ours.
#[track_caller]
fn assert_harmless(text: &str) {
    let is_harmless = |c: char| {
        let marks = ['\u{202a}'..='\u{202e}', '\u{2066}'..='\u{2069}'];
        matches!(c, '\n' | '\t') || !(c.is_control() || marks.iter().any(|mark| mark.contains(&c)))
    };
    assert!(text.chars().all(is_harmless), "{text:?}");
    assert!(!text.contains("\nclasshook: error"), "{text}");
}

#[track_caller]
fn assert_run_is_harmless(run: &Run) {
    assert_harmless(&run.stdout);
    assert_harmless(&run.stderr);
}

#[test]
fn names_of_classes_methods_and_threads_are_shown_escaped() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let classes = compile(folder.path());
        let output = folder.path().join("out");
        let agent = format!(
            "-agentpath:{}=plugin=trace,log=debug,output={}",
            agent_library().display(),
            output.display()
        );
        let mut program = program(&jdk, &classes, &[&agent]);
        let pid = program.pid().to_string();
        program.ask("call");
        let run = classhook(&["classes", &pid, "--changed"]);
        assert_run_is_harmless(&run);
        assert!(run.stdout.contains(SHOWN), "{}", run.report());
        let run = classhook(&["classes", &pid, "--changed", "--json"]);
        assert_run_is_harmless(&run);
        let answer: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
        let names = answer["classes"].as_array().expect("a list").iter();
        let mut names = names.filter_map(|class| class["name"].as_str());
        assert!(names.any(|name| name.ends_with(EVIL)), "{}", run.report());
        for words in [
            &["status", &pid][..],
            &["reload", &pid, "--plugin", "trace", "--select", "Hostile*"],
            &["ps"],
        ] {
            assert_run_is_harmless(&classhook(words));
        }
        let left = program.end();
        assert_eq!(left.code, Some(0), "{}", left.stderr);
        assert_harmless(&left.stderr);
        assert!(left.stderr.contains(SHOWN), "{}", left.stderr);
        let run = classhook(&["report", &output.to_string_lossy()]);
        assert_run_is_harmless(&run);
        assert!(run.stdout.contains(SHOWN), "{}", run.report());
    }
}

#[test]
fn names_of_files_are_shown_escaped() {
    let folder = scratch();
    let classes = compile(folder.path());
    let missing = folder.path().join(EVIL).join("missing.class");
    for command in ["inspect", "verify", "report"] {
        let run = classhook(&[command, &missing.to_string_lossy()]);
        run.assert_stderr(r"\u009b2J").assert_stderr(r"error\u202e");
        assert_run_is_harmless(&run);
    }
    let renamed = folder
        .path()
        .join(format!("{}.class", EVIL.replace('\n', "")));
    std::fs::copy(classes.join("Hostile.class"), &renamed).expect("a copy");
    assert_run_is_harmless(&classhook(&["inspect", &renamed.to_string_lossy()]));
    let output = folder.path().join(format!("out{EVIL}"));
    let program = program(&jdks::newest(), &classes, &LATE);
    let pid = program.pid().to_string();
    let output = output.to_string_lossy();
    for words in [
        &["attach", &pid, "--output", &output][..],
        &["status", &pid],
        &["dump", &pid],
        &["off", &pid],
    ] {
        let run = classhook(words);
        run.assert_success();
        assert_run_is_harmless(&run);
        let all = format!("{}{}", run.stdout, run.stderr);
        assert!(all.contains(SHOWN), "{}", run.report());
    }
    let left = program.end();
    assert_harmless(&left.stderr);
}

#[test]
fn plugin_cannot_imitate_messages_of_the_agent() {
    let folder = scratch();
    // Under this name reports of coverage print the plugin's failures.
    let component = folder.path().join("coverage.wasm");
    let misbehaving = workspace::target("bundled/tests/misbehaving.wasm");
    std::fs::copy(misbehaving, &component).expect("a copy");
    let source = test_file("java/Misbehaved.java");
    let newest = jdks::newest();
    let classes = javac::compile(&newest, &[&source], folder.path(), &["--release", "11"]);
    let file = folder.path().join("classhook.toml");
    let text = format!(
        "[agent]\noutput = \"out\"\n\n[[plugin]]\nuse = \"{}\"\ngrant = [\"probes\"]\n\n[plugin.config]\ndeed = \"forge\"\n",
        component.display()
    );
    std::fs::write(&file, text).expect("written");
    let run = Java::new(&newest)
        .class_path(&[&classes])
        .agent(Some(&format!("config={}", file.display())))
        .main("Misbehaved")
        .run();
    run.assert_success()
        .assert_stderr(r"classhook: plugin `coverage`: classhook: error[H0001]: forged \u001b[2J");
    assert_harmless(&run.stderr);
    let snapshots = javac::files_with_extension(&folder.path().join("out"), "hook");
    let run = classhook(&["report", &snapshots[0].to_string_lossy()]);
    run.assert_stderr(r"\u001b[2J");
    assert_run_is_harmless(&run);
}
