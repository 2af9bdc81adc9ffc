//! Probes that are taken out of hot code once they were hit, and what is recorded all the same.

use crate::support::agent::{hits, snapshot};
use crate::support::command::{LATE, assert_no_agent, classhook, json};
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::patience::await_that;
use e2e_tests::servant::{Left, Servant};
use e2e_tests::{javac, scratch, workspace};
use probes::Snapshot;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The classes of `tests/java/self_removal`.
fn classes() -> &'static Path {
    static CLASSES: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, classes) = CLASSES.get_or_init(|| {
        let folder = scratch();
        let file = workspace::test_file("java/self_removal/Hot.java");
        let options = ["--release", "11", "-g"];
        let classes = javac::compile(&jdks::newest(), &[&file], folder.path(), &options);
        (folder, classes)
    });
    classes
}

fn java(jdk: &Jdk) -> Java {
    Java::new(jdk)
        .all_compilers()
        .options(&LATE)
        .option("-Xverify:all")
        .class_path(&[classes()])
        .main("Hot")
}

/// The program with the agent from its start.
fn start(jdk: &Jdk, output: &Path, options: &str) -> Servant {
    let options = format!("output={}{options}", output.display());
    Servant::of(&java(jdk).agent(Some(&options)))
}

/// How many classes lack probes that were hit.
fn without_spent(running: &Servant) -> u64 {
    let status = json(&["status", &running.pid().to_string()]);
    status["classes"]["without_spent"]
        .as_u64()
        .expect("a number")
}

#[track_caller]
fn await_removal(running: &Servant) {
    await_that("hot code without its probes", || without_spent(running) > 0);
}

#[track_caller]
fn end(running: Servant) {
    let Left {
        stdout,
        stderr,
        code,
    } = running.end();
    assert_eq!((stdout.trim(), code), ("whole bursts", Some(0)), "{stderr}");
}

/// Each class with its hits.
fn all_hits(snapshot: &Snapshot) -> Vec<(&str, &[bool])> {
    let mut all: Vec<_> = snapshot
        .classes
        .iter()
        .map(|class| (class.name.as_str(), &class.probes[..]))
        .collect();
    all.sort();
    all
}

#[test]
fn what_is_hit_before_and_after_the_removal_is_recorded_as_without_it() {
    for jdk in jdks::main_in_turn("self-removal") {
        let folder = scratch();
        let [with, without] = ["with", "without"].map(|name| folder.path().join(name));
        let mut running = start(&jdk, &with, "");
        assert_eq!(running.ask("rare 1"), "10", "{jdk}");
        let pid = running.pid().to_string();
        let changed = || json(&["status", &pid])["classes"]["changed"].clone();
        let before = changed();
        await_removal(&running);
        assert_eq!(changed(), before, "a class counts once: {jdk}");
        assert_eq!(running.ask("rare 2"), "20", "{jdk}");
        // Nothing is called where the stack has just ended, which would end it once more.
        assert_eq!(running.ask("deep"), "1", "{jdk}");
        let status = classhook(&["status", &pid]);
        let said = status.stdout.contains("with hot code where they were hit");
        assert!(said, "{}", status.report());
        end(running);

        let mut running = start(&jdk, &without, ",self-remove=off");
        assert_eq!(running.ask("rare 1"), "10");
        assert_eq!(running.ask("rare 2"), "20");
        assert_eq!(running.ask("deep"), "1", "{jdk}");
        end(running);
        let [with, without] = [&with, &without].map(|folder| snapshot(folder));
        assert_eq!(all_hits(&with), all_hits(&without), "{jdk}");
        let (hit, probes) = hits(&with, "Hot$Work");
        assert!(hit > 3 && hit < probes, "{hit} of {probes}");
    }
}

/// What the class of the hot method has on record after a reset, the hot code run once more and one rare case.
fn after_a_reset(jdk: &Jdk, options: &str) -> Vec<bool> {
    let folder = scratch();
    let mut running = start(jdk, folder.path(), options);
    let pid = running.pid().to_string();
    assert_eq!(running.ask("rare 1"), "10", "{jdk}");
    if options.is_empty() {
        await_removal(&running);
    }
    running.ask("pause");
    classhook(&["reset", &pid]).assert_success();
    assert_eq!(without_spent(&running), 0, "{jdk}");
    classhook(&["dump", &pid]).assert_success();
    assert_eq!(hits(&snapshot(folder.path()), "Hot$Work").0, 0, "{jdk}");
    running.ask("go");
    running.ask("pause");
    assert_eq!(running.ask("rare 3"), "30", "{jdk}");
    end(running);
    let snapshot = snapshot(folder.path());
    let mut classes = snapshot.classes.into_iter();
    let work = classes.find(|class| class.name == "Hot$Work");
    work.expect("it was loaded").probes
}

#[test]
fn reset_puts_the_probes_back() {
    let jdk = jdks::newest();
    let with = after_a_reset(&jdk, "");
    assert_eq!(with, after_a_reset(&jdk, ",self-remove=off"));
    assert!(with.contains(&true));
}

#[test]
fn agent_that_leaves_and_comes_back_begins_with_every_probe() {
    let jdk = jdks::newest();
    let folder = scratch();
    let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
    let mut running = start(&jdk, &first, "");
    let pid = running.pid().to_string();
    await_removal(&running);
    classhook(&["off", &pid]).assert_success();
    assert_no_agent(&pid);
    let output = second.to_string_lossy();
    classhook(&["attach", &pid, "--output", &output]).assert_success();
    assert_eq!(running.ask("rare 1"), "10");
    classhook(&["off", &pid]).assert_success();
    end(running);
    let hit = |folder| hits(&snapshot(folder), "Hot$Work").0;
    assert_eq!(hit(&second), hit(&first) + 1);
}
