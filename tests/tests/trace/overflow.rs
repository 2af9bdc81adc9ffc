//! Calls whose end the JVM cannot report, because no stack is left: each is counted, and none stays open.

use crate::support::traced::trace_of;
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, rotation, scratch, workspace};
use probes::events::{Call, Lost, Trace};
use std::collections::BTreeMap;

/// Number of stack overflows, and their number in a run that takes everything.
const SOME: u32 = 40;
const MANY: u32 = 1_000;

/// Traces the program. Returns the trace, and the program's own numbers of calls of each method.
fn run(jdk: &Jdk, rounds: u32, kind: &str, options: &[&str]) -> (Trace, BTreeMap<String, u64>) {
    let folder = scratch();
    let full = jdks::release(17).expect("the JDK that the tests need");
    let source = workspace::test_file("java/overflow/Overflows.java");
    let classes = javac::compile(&full, &[&source], folder.path(), &["--release", "8"]);
    let output = folder.path().join("out");
    let file = folder.path().join("trace.toml");
    let methods = ["once", "wide", "caught", "request", "step", "thrower"];
    let methods = methods.map(|method| format!("Overflows.{method}"));
    let text = format!(
        "[agent]\noutput = {output:?}\n[[plugin]]\nuse = \"trace\"\ngrant = [\"probes\"]\n\
         [plugin.config]\nmethods = {methods:?}\nmode = \"events\"\ncapture = [\"arguments\", \"thrown\"]\n"
    );
    std::fs::write(&file, text).expect("written");
    let run = Java::new(jdk)
        .class_path(&[&classes])
        .options(options)
        .agent(Some(&format!("config={}", file.display())))
        .main("Overflows")
        .arguments(&[&rounds.to_string(), kind])
        .run();
    run.assert_success();
    let counts = run.stdout.lines().filter_map(|line| line.split_once(' '));
    let count =
        |(method, count): (&str, &str)| (method.to_owned(), count.parse().expect("a number"));
    (trace_of(&output), counts.map(count).collect())
}

/// Asserts that every call is in the sums and among the single calls. Only arguments were lost, since memory does not
/// suffice for those of all open calls.
#[track_caller]
fn assert_counted(trace: &Trace, expected: &BTreeMap<String, u64>) {
    let captures = Lost {
        captures: trace.lost.captures,
        ..Lost::default()
    };
    assert!(trace.complete && trace.lost == captures, "{:?}", trace.lost);
    let method = |span: u32| trace.spans[&span].method.clone();
    let sums = trace.aggregates.iter();
    let sums: BTreeMap<String, u64> = sums.map(|(span, sum)| (method(*span), sum.count)).collect();
    assert_eq!(sums, *expected);
    let mut singles = BTreeMap::new();
    for call in &trace.calls {
        *singles.entry(method(call.span)).or_default() += 1;
    }
    assert_eq!(singles, *expected);
}

/// Asserts that calls of each thread are nested; a request is outermost, and has two steps.
#[track_caller]
fn assert_nested(trace: &Trace) {
    let method = |call: &Call| trace.spans[&call.span].method.as_str();
    let (mut requests, mut steps) = (0, 0);
    for thread in trace.threads.keys() {
        let mut open: Vec<&Call> = Vec::new();
        for call in trace.calls_of(*thread) {
            while open.last().is_some_and(|around| around.end < call.start) {
                open.pop();
            }
            if let Some(around) = open.last() {
                assert!(call.end <= around.end, "{call:?} in {around:?}");
                steps += u32::from(method(around) == "request");
            }
            if method(call) == "request" {
                assert!(open.is_empty(), "a request at depth {}", open.len());
                requests += 1;
            }
            open.push(call);
        }
    }
    assert!(
        requests > 0 && steps == 2 * requests,
        "{steps} of {requests}"
    );
}

fn overflows(jdk: &Jdk, kind: &str, options: &[&str]) {
    let rounds = if rotation::everything() { MANY } else { SOME };
    let (trace, expected) = run(jdk, rounds, kind, options);
    assert!(expected["once"] > u64::from(rounds) * 100, "{expected:?}");
    assert_counted(&trace, &expected);
    assert_nested(&trace);
}

#[test]
fn random_stack_overflows_on_jdk_17_lose_no_call() {
    overflows(&jdks::release(17).expect("the JDK"), "platform", &[]);
}

#[test]
fn random_stack_overflows_on_jdk_25_lose_no_call() {
    overflows(&jdks::release(25).expect("the JDK"), "platform", &[]);
}

#[test]
fn random_stack_overflows_of_virtual_threads_lose_no_call() {
    overflows(&jdks::release(25).expect("the JDK"), "virtual", &[]);
}

#[test]
fn random_stack_overflows_in_interpreted_code_lose_no_call() {
    for jdk in jdks::main_in_turn("overflow") {
        overflows(&jdk, "platform", &["-Xint"]);
    }
}
