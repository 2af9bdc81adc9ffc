//! `classhook trace`: a command, and a JVM that is running and is left as it was.

#[path = "support/traced.rs"]
mod traced;

use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::Servant;
use e2e_tests::{javac, scratch, workspace};
use probes::Snapshot;
use probes::events::Trace;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use traced::{Program, java, trace_of};

fn classhook(words: &[&str]) -> Run {
    Java::program(workspace::classhook()).arguments(words).run()
}

/// The classes of `examples/bank`.
fn bank(jdk: &Jdk, folder: &Path) -> PathBuf {
    let root = workspace::test_file("../examples/bank");
    let sources: Vec<PathBuf> = ["src", "src-11"]
        .iter()
        .flat_map(|name| javac::sources_in(&root.join(name)))
        .collect();
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    javac::compile(jdk, &sources, folder, &["--release", "11"])
}

/// Runs the bank under `classhook trace`.
fn traced_bank(jdk: &Jdk, classes: &Path, folder: &Path, more: &[&str]) -> Trace {
    let output = folder.join(more.join(""));
    let (output_text, classes) = (output.to_string_lossy(), classes.to_string_lossy());
    let program = jdk.tool("java");
    let program = program.to_string_lossy();
    let mut words = vec!["trace", "-o", &output_text, "--skip", "lambdas"];
    words.extend(more);
    words.extend(["--", &program, "-cp", &classes, "bank.Main"]);
    classhook(&words).assert_success();
    trace_of(&output)
}

/// Class and method of every span that was entered.
fn called(trace: &Trace, entered: impl Fn(u32) -> u64) -> BTreeSet<(String, u64)> {
    let spans = trace.spans.values().filter(|span| entered(span.id) > 0);
    spans
        .map(|span| {
            (
                format!("{}.{}{}", span.class, span.method, span.descriptor),
                entered(span.id),
            )
        })
        .collect()
}

#[test]
fn counts_sums_and_single_calls_of_a_real_program_agree() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let classes = bank(&jdk, folder.path());
        let events = traced_bank(&jdk, &classes, folder.path(), &[]);
        let sums = traced_bank(&jdk, &classes, folder.path(), &["--aggregate"]);
        let counts = traced_bank(&jdk, &classes, folder.path(), &["--count"]);
        let single = called(&events, |id| {
            events.calls.iter().filter(|call| call.span == id).count() as u64
        });
        assert!(single.len() > 20, "{single:?}");
        let ended = |trace: &Trace, id| trace.aggregates.get(&id).map_or(0, |sums| sums.count);
        assert_eq!(called(&events, |id| ended(&events, id)), single);
        assert_eq!(called(&sums, |id| ended(&sums, id)), single);
        assert!(sums.calls.is_empty());
        assert_eq!(
            called(&counts, |id| counts.counts.get(&id).copied().unwrap_or(0)),
            single
        );
    }
}

#[test]
fn a_running_jvm_is_traced_twice_and_left_without_an_agent() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let program = Program::compile(&jdk, 3, folder.path());
        let mut running = obeying(&jdk, &program, None);
        let pid = running.pid().to_string();
        for round in ["1", "2"] {
            let output = folder.path().join(round);
            let run = classhook(&[
                "trace",
                &pid,
                "--methods",
                "Traced.m?",
                "--for",
                "1s",
                "-o",
                &output.to_string_lossy(),
            ]);
            run.assert_success();
            let trace = trace_of(&output);
            assert!(
                trace.complete && !trace.calls.is_empty(),
                "{}",
                run.report()
            );
            assert!(run.stdout.contains("Traced.m"), "{}", run.report());
            classhook(&["status", &pid])
                .assert_exit(2)
                .assert_stderr("error[H0701]");
        }
        assert_eq!(running.ask("1"), "marked 1", "it works as before");
        let left = running.end();
        assert_eq!(left.code, Some(0), "{}", left.stderr);
    }
}

#[test]
fn an_agent_that_is_there_traces_for_a_while_and_goes_on_with_its_own() {
    let jdk = jdks::newest();
    let folder = scratch();
    let output = folder.path().join("out");
    let program = Program::compile(&jdk, 3, folder.path());
    let mut running = obeying(
        &jdk,
        &program,
        Some(&format!("plugin=coverage,output={}", output.display())),
    );
    let pid = running.pid().to_string();
    for method in ["Traced.m0", "Traced.m1"] {
        let run = classhook(&["trace", &pid, "--methods", method, "--count", "--for", "1s"]);
        run.assert_success();
    }
    let status = classhook(&["status", &pid]);
    status.assert_success();
    assert!(
        status
            .stdout
            .contains("plugin trace: off, 0 classes changed"),
        "{}",
        status.report()
    );
    classhook(&["trace", &pid, "-o", "elsewhere"])
        .assert_exit(2)
        .assert_stderr("error[H0608]");
    assert_eq!(running.ask("1"), "marked 1");
    let left = running.end();
    assert_eq!(left.code, Some(0), "{}", left.stderr);
    let files = javac::files_with_extension(&output, "hook");
    let snapshot = Snapshot::read(&files[0]).expect("a readable snapshot");
    assert!(snapshot.complete && snapshot.classes.iter().any(|class| class.name == "Traced"));
}

/// The program, going on until it is let go.
fn obeying(jdk: &Jdk, program: &Program, agent: Option<&str>) -> Servant {
    let java = java(jdk, program);
    let java = match agent {
        Some(options) => java.agent(Some(options)),
        None => java,
    };
    Servant::of(&java.main("Traced").arguments(&[
        &program.log,
        &"2".into(),
        &"0".into(),
        &"0".into(),
    ]))
}
