//! The agent loaded into a running JVM.

use crate::support::agent;
use crate::support::agent::{classes, hits, names, snapshot, snapshots};
use crate::support::command::classhook;
use attach::Attachment;
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::patience::await_that;
use e2e_tests::{scratch, workspace};
use rustix::process::{Pid, Signal, kill_process};
use std::io::Read;
use std::path::Path;
use std::process::Child;

/// Starts a JVM that calls `Life$Steps.three` all the time.
fn start(jdk: &Jdk) -> Child {
    start_with(jdk, "late")
}

fn start_with(jdk: &Jdk, what: &str) -> Child {
    let mut child = Java::new(jdk)
        .options(&[
            "-Xverify:all",
            "-Xcheck:jni",
            "-XX:+EnableDynamicAgentLoading",
        ])
        .class_path(&[classes()])
        .main("Life")
        .argument(what)
        .spawn();
    assert_eq!(line(&mut child), "started 2\n", "on {jdk}");
    child
}

/// Reads the next line of the program, and no byte after it.
fn line(child: &mut Child) -> String {
    let out = child.stdout.as_mut().expect("a pipe");
    let mut bytes = Vec::new();
    while bytes.last() != Some(&b'\n') {
        let mut byte = [0];
        out.read_exact(&mut byte).expect("output");
        bytes.extend(byte);
    }
    String::from_utf8(bytes).expect("text")
}

fn load(child: &Child, options: &str) -> Result<(), attach::AttachError> {
    load_from(child, &workspace::agent_library(), options)
}

fn load_from(child: &Child, library: &Path, options: &str) -> Result<(), attach::AttachError> {
    Attachment::open(i32::try_from(child.id()).expect("a pid"))?.load(library, options)
}

/// Ends the JVM in good order and returns its standard error.
fn end(mut child: Child) -> String {
    let pid = i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .expect("a pid");
    kill_process(pid, Signal::TERM).expect("the JVM is there");
    let mut text = String::new();
    child
        .stderr
        .take()
        .expect("a pipe")
        .read_to_string(&mut text)
        .expect("output");
    assert_eq!(child.wait().expect("an end").code(), Some(143), "{text}");
    text
}

fn wait_for_hit(folder: &Path, class: &str) {
    await_that(&format!("a hit of {class}"), || {
        let files = snapshots(folder);
        let found = files
            .first()
            .and_then(|file| probes::Snapshot::read(file).ok());
        found.is_some_and(|snapshot| {
            let mut classes = snapshot.classes.iter();
            classes.any(|found| found.name == class && found.probes.contains(&true))
        })
    });
}

#[test]
fn classes_loaded_before_the_attach_are_covered_from_then_on() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let child = start(&jdk);
        load(
            &child,
            &format!("plugin=coverage,output={}", folder.path().display()),
        )
        .expect("attached");
        wait_for_hit(folder.path(), "Life$Steps");
        let stderr = end(child);
        assert!(!stderr.contains("classhook:"), "{stderr}");
        let snapshot = snapshot(folder.path());
        assert!(snapshot.complete, "{jdk}");
        assert_eq!(snapshot.summary.failed, 0, "{jdk}: {:?}", snapshot.failures);
        let (hit, all) = hits(&snapshot, "Life$Steps");
        assert!(hit > 0 && hit < all, "{jdk}: {hit} of {all}");
        // `main` was entered before the attach and never again
        assert!(names(&snapshot).contains(&"Life"), "{jdk}");
    }
}

/// A class without a file is measured as the JVM reconstitutes it. The snapshot says so, and has those bytes.
#[test]
fn class_generated_at_run_time_before_the_attach_is_covered_without_a_file() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let mut child = start_with(&jdk, "made");
        assert_eq!(line(&mut child), "made 21\n", "on {jdk}");
        load(&child, &format!("output={}", folder.path().display())).expect("attached");
        wait_for_hit(folder.path(), "Template4321");
        let stderr = end(child);
        assert!(!stderr.contains("classhook:"), "{stderr}");
        let snapshot = snapshot(folder.path());
        assert!(
            snapshot.failures.is_empty(),
            "{jdk}: {:?}",
            snapshot.failures
        );
        let (hit, all) = hits(&snapshot, "Template4321");
        assert!(hit > 0 && hit < all, "{jdk}: {hit} of {all}");
        let made = |class: &&probes::SnapshotClass| class.name == "Template4321";
        let class = snapshot.classes.iter().find(made).expect("the class");
        let bytes = class
            .bytes
            .as_ref()
            .expect("bytes")
            .inflate()
            .expect("bytes");
        assert_eq!(fingerprint::of(&bytes), class.fingerprint, "{jdk}");
    }
}

/// The identity of a class does not depend on the way in which the agent received it.
#[test]
fn attached_and_started_agents_see_equal_classes() {
    for jdk in jdks::main_two() {
        let (attached, started) = (scratch(), scratch());
        let child = start(&jdk);
        load(&child, &format!("output={}", attached.path().display())).expect("attached");
        end(child);
        agent::java(&jdk)
            .coverage(started.path())
            .main("Life")
            .argument("end")
            .run()
            .assert_success();
        let attached = snapshot(attached.path());
        let started = snapshot(started.path());
        let life = |snapshot: &probes::Snapshot| {
            let class = snapshot
                .classes
                .iter()
                .find(|class| class.name == "Life")
                .expect("Life");
            (
                class.fingerprint,
                class.probes.len(),
                class
                    .bytes
                    .as_ref()
                    .expect("bytes")
                    .inflate()
                    .expect("bytes"),
            )
        };
        assert_eq!(life(&attached), life(&started), "{jdk}");
    }
}

#[test]
fn second_attach_and_attach_after_a_start_are_refused_politely() {
    for jdk in jdks::main_two() {
        let (first, second) = (scratch(), scratch());
        let child = start(&jdk);
        load(&child, &format!("output={}", first.path().display())).expect("attached");
        let again = load(&child, &format!("output={}", second.path().display()));
        // JNI_EEXIST
        assert!(
            matches!(again, Err(attach::AttachError::AgentFailed(-5))),
            "{again:?}"
        );
        // If a process reads the agent's output, the program's output has none of it.
        let said = second.path().join("said");
        std::fs::write(&said, "").expect("written");
        let options = format!("messages={}", said.display());
        load(&child, &options).expect_err("it is there");
        let said = std::fs::read_to_string(said).expect("text");
        assert!(said.contains("warning[H0403]"), "{said}");
        let stderr = end(child);
        assert_eq!(stderr.matches("H0403").count(), 1, "{stderr}");
        assert!(snapshot(first.path()).complete, "{jdk}");
        assert!(snapshots(second.path()).is_empty(), "{jdk}");
    }
}

/// A newer release comes while the former one works, and again when that has left.
#[test]
fn another_copy_says_whether_the_first_one_works() {
    let other = scratch();
    let copy = other.path().join("another.so");
    std::fs::copy(e2e_tests::workspace::agent_library(), &copy).expect("copied");
    for jdk in jdks::main_two() {
        let (first, second) = (scratch(), scratch());
        let child = start(&jdk);
        load(&child, &format!("output={}", first.path().display())).expect("attached");
        let said = second.path().join("said");
        let options = format!(
            "messages={},output={}",
            said.display(),
            second.path().display()
        );
        let refused = || {
            std::fs::write(&said, "").expect("written");
            let loaded = load_from(&child, &copy, &options);
            assert!(loaded.is_err(), "{jdk}: {loaded:?}");
            std::fs::read_to_string(&said).expect("text")
        };
        let works = refused();
        let goes_on = "H0403]: another copy of the agent is loaded in this JVM already; it goes on";
        assert!(works.contains(goes_on), "{jdk}: {works}");
        classhook(&["off", &child.id().to_string()]).assert_success();
        let left = refused();
        let stay =
            "H0403]: another copy of the agent was loaded in this JVM before, and its classes stay";
        assert!(left.contains(stay), "{jdk}: {left}");
        end(child);
        assert!(snapshot(first.path()).complete, "{jdk}");
        assert!(snapshots(second.path()).is_empty(), "{jdk}");
    }
}

#[test]
fn failed_attach_leaves_the_jvm_as_it_was_and_the_next_one_works() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let child = start(&jdk);
        load(&child, "no-such-key=1").expect_err("a bad option");
        load(&child, &format!("output={}", folder.path().display())).expect("attached");
        wait_for_hit(folder.path(), "Life$Steps");
        let stderr = end(child);
        assert!(stderr.contains("classhook: error[H01"), "{stderr}");
        assert!(snapshot(folder.path()).complete, "{jdk}");
    }
}
