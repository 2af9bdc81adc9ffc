//! Many calls: the trace has each, as long as the calls fit in memory or can be written in time.

use super::spans::{OUTPUT, record};
use e2e_tests::jdks;
use probes::events::{Outcome, Trace};

/// Asserts that each call is among the single calls and in the sums.
#[track_caller]
fn assert_whole(trace: &Trace, calls: u64) {
    assert!(trace.complete && trace.lost.is_none(), "{:?}", trace.lost);
    assert_eq!(trace.calls.len() as u64, calls);
    let sums = trace.aggregates.values().next().expect("sums");
    assert_eq!((sums.count, sums.errors), (calls, 0));
    assert!(sums.own <= sums.total && sums.min <= sums.max);
    let mut outcomes = trace.calls.iter().map(|call| &call.outcome);
    assert!(outcomes.all(|outcome| *outcome == Outcome::Returned));
}

/// They fit in the memory for calls that are not written yet.
#[test]
fn two_million_calls_at_once_lose_none() {
    let jdk = jdks::newest();
    const CALLS: u64 = 2_000_000;
    let arguments = ["flood", &CALLS.to_string()];
    let trace = record(&jdk, "events", &["Spans.step"], "Spans", &arguments);
    assert_whole(&trace, CALLS);
}

/// They do not fit in that memory, so they are written meanwhile. The program waits for the file after each million, so
/// that a slow machine keeps up.
#[test]
fn six_million_calls_that_are_written_meanwhile_lose_none() {
    for jdk in jdks::main_in_turn("load") {
        let arguments = ["written", "6", "500000", OUTPUT];
        let trace = record(&jdk, "events", &["Spans.step"], "Spans", &arguments);
        assert_whole(&trace, 6_000_000);
    }
}

#[test]
fn platform_threads_and_many_virtual_ones_lose_no_call() {
    for jdk in jdks::all().iter().filter(|jdk| jdk.feature >= 21) {
        let methods = ["VirtualSpans.step"];
        for [platform, virtual_ones, calls] in [["4", "50", "20000"], ["4", "1000", "1000"]] {
            let arguments = [platform, virtual_ones, calls];
            let trace = record(jdk, "events", &methods, "VirtualSpans", &arguments);
            let number = |text: &str| text.parse::<u64>().expect("a number");
            let threads = number(platform) + number(virtual_ones);
            assert_whole(&trace, threads * number(calls));
            let made_calls = |thread: &&u64| !trace.calls_of(**thread).is_empty();
            let found = trace.threads.keys().filter(made_calls).count();
            assert_eq!(found as u64, threads, "on {jdk}");
        }
    }
}
