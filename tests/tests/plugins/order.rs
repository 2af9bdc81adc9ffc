//! The order of plugins: which code is around which.

use crate::support::advice::{file, shop};
use crate::support::command::{LATE, begun, classhook};
use crate::support::traced::trace_of;
use e2e_tests::java::Java;
use e2e_tests::servant::Servant;
use e2e_tests::{javac, jdks, scratch, workspace};
use probes::events::Outcome;
use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};

/// Writes a configuration of `trace`, and of further plugins.
fn tracing(folder: &Path, methods: &[&str], more: &str) -> PathBuf {
    let config = folder.join("order.toml");
    let output = folder.join("out");
    let text = format!(
        "[agent]\noutput = {output:?}\n{more}\n[[plugin]]\nuse = \"trace\"\n\
         [plugin.config]\nmethods = {methods:?}\nmode = \"events\"\n"
    );
    std::fs::write(&config, text).expect("written");
    config
}

/// Returns how many calls of the method were recorded, and how many of them threw.
fn recorded(folder: &Path, method: &str) -> (usize, usize) {
    let trace = trace_of(&folder.join("out"));
    let of = |span: &u32| trace.spans.get(span).is_some_and(|it| it.method == method);
    let calls = || trace.calls.iter().filter(|call| of(&call.span));
    let threw = calls().filter(|call| matches!(call.outcome, Outcome::Threw(_)));
    (calls().count(), threw.count())
}

/// The plugin `editing` replaces the body of `answer`.
#[test]
fn trace_records_calls_of_a_body_that_another_plugin_replaces() {
    for jdk in jdks::all() {
        if jdk.feature < 11 {
            continue; // the program
        }
        let folder = scratch();
        let source = workspace::test_file("java/edits/Changed.java");
        let options = ["--release", "11", "-encoding", "UTF-8"];
        let classes = javac::compile(&jdks::newest(), &[&source], folder.path(), &options);
        let component = workspace::target("bundled/tests/editing.wasm");
        let editing = format!(
            "[[plugin]]\nuse = {component:?}\ngrant = [\"rewrite\", \"structure\"]\n\
             [plugin.config]\nstructure = false\n"
        );
        let methods = ["Changed$Target.answer"];
        let config = tracing(folder.path(), &methods, &editing);
        let run = Java::new(jdk)
            .options(&["-Xverify:all", "-Xcheck:jni", "-Dfile.encoding=UTF-8"])
            .class_path(&[classes])
            .main("Changed")
            .agent(Some(&format!("config={}", config.display())))
            .run();
        run.assert_success();
        assert!(run.stdout.starts_with("40 1 2"), "{jdk}: {}", run.report());
        let calls = recorded(folder.path(), "answer");
        assert_eq!(calls, (1, 0), "{jdk}: {}", run.report());
    }
}

/// The advice throws at the entry of `fail`, which itself throws as well. Both come and leave while the program runs.
#[test]
fn trace_sees_calls_that_advice_ends_while_the_advice_comes_and_leaves() {
    for jdk in jdks::eight().iter().chain(jdks::all()) {
        let folder = scratch();
        let classes = shop(folder.path());
        let java = Java::new(jdk).options(&["-Xverify:all"]);
        let java = match jdk.feature {
            8 => java,
            _ => java.options(&LATE),
        };
        let java = java.class_path(&[classes]).main("Shop").argument("wait");
        let mut servant = Servant::of(&java);
        let pid = servant.pid().to_string();
        let mut ask = |told: &str| {
            let answer = servant.ask("again");
            assert!(answer.contains(told), "{jdk}: {answer}");
        };
        ask("full");
        let advice = file("Rethrowing");
        let advice = advice.to_str().expect("text");
        let other = folder.path().join("advised");
        let other = other.to_str().expect("text");
        classhook(&["attach", &pid, "--output", other, "--advice", advice]).assert_success();
        let output = folder.path().join("out");
        let output = output.to_str().expect("text");
        let words = ["trace", &pid, "--methods", "Shop.fail", "-o", output];
        let (mut tracing, _told) = begun(&words);
        ask("by the advice");
        classhook(&["disable", &pid, "advice"]).assert_success();
        ask("full");
        classhook(&["enable", &pid, "advice"]).assert_success();
        ask("by the advice");
        kill_process(Pid::from_child(&tracing), Signal::INT).expect("our own child");
        assert!(tracing.wait().expect("an end").success(), "{jdk}");
        ask("by the advice");
        assert_eq!(servant.end().code, Some(0));
        assert_eq!(recorded(folder.path(), "fail"), (3, 3), "{jdk}");
    }
}
