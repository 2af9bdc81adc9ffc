//! Classes that were loaded before the agent and are linked after it.

use crate::support::command::{LATE, await_changed, classhook};
use e2e_tests::java::Java;
use e2e_tests::patience::await_that;
use e2e_tests::servant::Servant;
use e2e_tests::{javac, jdks, scratch, workspace};
use probes::events::Trace;
use std::path::Path;

#[test]
fn class_that_was_loaded_and_not_linked_is_instrumented_when_it_is_linked() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let file = workspace::test_file("java/unlinked/Unlinked.java");
        let classes = javac::compile(&jdk, &[&file], folder.path(), &["--release", "11"]);
        let java = Java::new(&jdk).options(&LATE).options(&["-Xverify:all"]);
        let mut running = Servant::of(&java.class_path(&[&classes]).main("Unlinked"));
        let pid = running.pid().to_string();
        let output = folder.path().join("out");
        let words = ["attach", &pid, "--plugin", "trace", "--select", "Unlinked*"];
        classhook(&[&words[..], &["--output", &output.to_string_lossy()]].concat())
            .assert_success();
        await_changed(&pid, 1);
        assert_eq!(running.ask("work"), "done");
        await_changed(&pid, 2);
        // The hook has made the edits; they are active in the JVM a moment later.
        await_that("a call of the class", || {
            assert_eq!(running.ask("work"), "done");
            classhook(&["dump", &pid]).assert_success();
            is_recorded(&output)
        });
        classhook(&["off", &pid]).assert_success();
        assert_eq!(running.end().code, Some(0));
    }
}

/// Checks whether the event file has a call of the class that was not linked.
fn is_recorded(output: &Path) -> bool {
    let files = javac::files_with_extension(output, "events");
    let trace = Trace::read(&files[0]).expect("a readable event file");
    let work = trace.spans.values().find(|span| span.method == "work");
    let work = work.expect("a span of the class that was not linked");
    trace.calls.iter().any(|call| call.span == work.id)
}
