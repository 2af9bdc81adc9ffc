//! Traces equal the events: generated programs keep a log of their own, and the trace equals it event by event.

use crate::support::traced;
use crate::support::traced::{Line, Program, java, logged, recorded, sorted, trace_of};
use e2e_tests::java::Java;
use e2e_tests::servant::Servant;
use e2e_tests::{jdks, scratch, workspace};
use std::collections::HashMap;

/// Compiles the program of each seed and compares log and trace.
fn compare(feature: u32, seeds: std::ops::Range<u64>) {
    let jdk = jdks::release(feature).expect("the JDK that the tests need");
    let virtual_threads = if jdk.feature >= 21 { 4 } else { 0 };
    let mut all = 0;
    for seed in seeds {
        let folder = scratch();
        let program = Program::compile(&jdk, seed, folder.path());
        let output = folder.path().join("out");
        let run = java(&jdk, &program)
            .agent(Some(&traced::options(&output)))
            .main("Traced")
            .arguments(&[
                &program.log,
                &"3".into(),
                &virtual_threads.to_string().into(),
                &"40".into(),
            ])
            .run();
        run.assert_success();
        let trace = trace_of(&output);
        assert!(
            trace.lost.is_none() && trace.complete,
            "seed {seed}: {:?}",
            trace.lost
        );
        let (expected, found) = (sorted(logged(&program.log)), sorted(recorded(&trace)));
        let calls: usize = expected.iter().map(Vec::len).sum();
        all += calls;
        assert_eq!(
            found.len(),
            expected.len(),
            "seed {seed}: threads with calls"
        );
        for (expected, found) in expected.iter().zip(&found) {
            let same = expected
                .iter()
                .zip(found)
                .take_while(|(one, other)| one == other)
                .count();
            let next = |lines: &[Line]| {
                lines
                    .get(same.saturating_sub(3)..(same + 2).min(lines.len()))
                    .map(<[Line]>::to_vec)
            };
            assert!(
                same == expected.len() && same == found.len(),
                "seed {seed}: event {same} of {} and {}: expected {:#?}, found {:#?}",
                expected.len(),
                found.len(),
                next(expected),
                next(found)
            );
        }
    }
    assert!(all > 10_000, "poor programs: {all} events of all seeds");
}

#[test]
fn trace_equals_the_log_on_jdk_17() {
    compare(17, 1..9);
}

#[test]
fn trace_equals_the_log_on_jdk_25_with_virtual_threads() {
    compare(25, 1..9);
}

/// Traces a running program in many short sessions. Marks in the log show the calls that must be in the trace.
fn switched(feature: u32) {
    let jdk = jdks::release(feature).expect("the JDK that the tests need");
    let virtual_threads = if jdk.feature >= 21 { 3 } else { 0 };
    let folder = scratch();
    let output = folder.path().join("out");
    let program = Program::compile(&jdk, 3, folder.path());
    let mut running = Servant::of(
        &java(&jdk, &program)
            .agent(Some(&format!(
                "plugin=coverage,select=none.*,output={}",
                output.display()
            )))
            .main("Traced")
            .arguments(&[
                &program.log,
                &"3".into(),
                &virtual_threads.to_string().into(),
                &"0".into(),
            ]),
    );
    let pid = running.pid().to_string();
    let classhook = |words: &[&str]| {
        let run = Java::program(workspace::classhook()).arguments(words).run();
        run.assert_success();
    };
    let mut mark = 0;
    for _ in 0..4 {
        classhook(&[
            "enable",
            &pid,
            "trace",
            "--plugin-settings",
            traced::SETTINGS,
        ]);
        for _ in 0..2 {
            mark += 1; // odd: tracing all the time; even: switching
            assert_eq!(running.ask(&mark.to_string()), format!("marked {mark}"));
        }
        classhook(&["disable", &pid, "trace"]);
    }
    let left = running.end();
    assert_eq!(left.code, Some(0), "{}", left.stderr);
    let trace = trace_of(&output);
    assert!(trace.lost.is_none() && trace.complete, "{:?}", trace.lost);
    compare_switched(&logged(&program.log), &recorded(&trace));
}

/// Asserts that every traced call is in the log with the same values, and that none is missing from a period of
/// tracing.
fn compare_switched(log: &[Vec<Line>], trace: &[Vec<Line>]) {
    let key = |line: &Line| (line.call, line.kind == 'E');
    let traced: HashMap<(i64, bool), &Line> = trace
        .iter()
        .flatten()
        .map(|line| (key(line), line))
        .collect();
    assert_eq!(
        traced.len(),
        trace.iter().map(Vec::len).sum::<usize>(),
        "a call was traced twice"
    );
    let mut true_ones = 0;
    let mut certain = 0;
    for thread in log {
        let begun: HashMap<i64, &Line> = thread
            .iter()
            .filter(|line| line.kind == 'E')
            .map(|line| (line.call, line))
            .collect();
        for line in thread {
            let unmarked = Line {
                mark: None,
                ..line.clone()
            };
            if let Some(found) = traced.get(&key(line)) {
                assert_eq!(**found, unmarked);
                true_ones += 1;
            }
            let entry = begun[&line.call];
            let within = line.kind != 'E'
                && line.mark == entry.mark
                && line.mark.is_some_and(|mark| mark % 2 == 1);
            if within {
                certain += 1;
                assert!(
                    traced.contains_key(&(line.call, false)),
                    "not traced: {line:?}"
                );
                assert!(
                    traced.contains_key(&(line.call, true)),
                    "not traced: {entry:?}"
                );
            }
        }
    }
    assert_eq!(
        true_ones,
        traced.len(),
        "what was traced and never happened"
    );
    assert!(
        certain > 1_000,
        "only {certain} calls lie within a time of tracing"
    );
    let all: usize = log.iter().map(Vec::len).sum();
    assert!(true_ones < all, "it was never off");
}

#[test]
fn trace_that_is_switched_on_and_off_equals_the_log_while_it_is_on() {
    for feature in [17, 25] {
        switched(feature);
    }
}
