//! Calls of functions that are entered several times, on any thread.

use super::*;
use crate::spans::suspending::{self, SuspendEntry};
use crate::spans::{Continuations, Kept};
use std::collections::HashSet;

/// Continuations are numbers; each resumes the one below it.
#[derive(Default)]
struct Numbers {
    gone: RefCell<HashSet<u64>>,
    kept: Cell<i64>,
}

impl Continuations for Numbers {
    type Object = u64;

    fn hash(&self, object: &u64) -> u32 {
        (*object % 2) as u32 // many share a hash
    }

    /// `1_003` resumes `1_002`, and so on to `1_000`, which is a coroutine.
    fn completion(&self, object: &u64) -> Option<u64> {
        (!object.is_multiple_of(1_000)).then(|| object - 1)
    }

    fn keep(&self, object: &u64) -> Option<Kept> {
        self.kept.set(self.kept.get() + 1);
        Some(Kept(*object as usize))
    }

    fn is(&self, object: &u64, kept: &Kept) -> bool {
        *object as usize == kept.0
    }

    fn is_collected(&self, kept: &Kept) -> bool {
        self.gone.borrow().contains(&(kept.0 as u64))
    }

    fn release(&self, _: Kept) {
        self.kept.set(self.kept.get() - 1);
    }
}

fn begin(jvm: &Fake, span: u32, completion: u64, goes_on: bool) {
    let entry = || {
        Some(SuspendEntry {
            completion,
            goes_on,
        })
    };
    suspending::begin(jvm, &Numbers::default(), jvm.thread, span, entry);
}

fn suspend(jvm: &Fake, span: u32) {
    suspending::suspend(jvm, jvm.thread, span);
}

fn complete(jvm: &Fake, span: u32) {
    suspending::complete(jvm, jvm.thread, span);
}

fn resumed(jvm: &Fake, continuation: u64, failed: bool) {
    let class = || Some(jvm.runtime.class("a/E"));
    suspending::resumed(
        jvm,
        &Numbers::default(),
        jvm.thread,
        &continuation,
        failed,
        class,
    );
}

const THREE: [SpanMode; 3] = [SpanMode::Events; 3];

/// Returns span, track from 1 on, start and end of each call.
fn calls(trace: &Trace) -> Vec<(u32, u64, u64, u64)> {
    let calls = trace.calls.iter();
    calls
        .map(|call| {
            (
                call.span,
                call.thread.saturating_sub(1 << 31),
                call.start,
                call.end,
            )
        })
        .collect()
}

#[test]
fn call_lasts_from_its_first_entry_to_its_completion_on_another_thread() {
    let mut bench = Bench::new(&THREE);
    bench.thread(1, |jvm| {
        begin(jvm, 0, 1_000, false); // at 1_000_010
        begin(jvm, 1, 1_001, false);
        enter(jvm, 1, 2);
        exit(jvm, 1, 2);
        suspend(jvm, 1);
        suspend(jvm, 0);
        enter(jvm, 1, 2); // not of the coroutine
        exit(jvm, 1, 2);
    });
    bench.thread(2, |jvm| {
        begin(jvm, 1, 1_001, true);
        enter(jvm, 2, 2);
        exit(jvm, 2, 2);
        complete(jvm, 1);
        begin(jvm, 0, 1_000, true);
        complete(jvm, 0);
    });
    let trace = bench.drain();
    let found = calls(&trace);
    let spans: Vec<_> = found.iter().map(|call| (call.0, call.1)).collect();
    assert_eq!(spans.iter().filter(|call| **call == (0, 1)).count(), 1);
    assert_eq!(spans.iter().filter(|call| **call == (1, 1)).count(), 1);
    assert_eq!(spans.iter().filter(|call| **call == (2, 1)).count(), 2);
    assert_eq!(spans.iter().filter(|call| **call == (2, 0)).count(), 1);
    let of = |span| {
        *found
            .iter()
            .find(|call| call.0 == span && call.1 == 1)
            .unwrap()
    };
    let (outer, inner) = (of(0), of(1));
    assert!(
        outer.2 < inner.2 && inner.3 < outer.3,
        "{outer:?} {inner:?}"
    );
    assert!(outer.2 < 2_000_000 && outer.3 > 2_000_000, "{outer:?}");
    let sum = |span: u32| &trace.aggregates[&span];
    assert_eq!((sum(0).count, sum(1).count, sum(2).count), (1, 1, 3));
    assert_eq!(sum(0).own, sum(0).total - sum(1).total);
    assert_eq!(sum(1).own, sum(1).total - 20);
    assert!(trace.lost.is_none());
}

#[test]
fn call_that_resumes_before_it_has_returned_is_one_call() {
    let mut bench = Bench::new(&THREE);
    let runtime = bench.runtime;
    bench.thread(1, |jvm| {
        begin(jvm, 0, 1_000, false);
        begin(jvm, 1, 1_001, false);
        let other = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let jvm = &Fake::new(runtime, 2, 2_000_000);
                begin(jvm, 1, 1_001, true);
                complete(jvm, 1);
                begin(jvm, 0, 1_000, true);
                complete(jvm, 0);
            });
            other.join()
        });
        other.unwrap();
        enter(jvm, 1, 2);
        exit(jvm, 1, 2); // on its own thread: the coroutine is elsewhere
        suspend(jvm, 1);
        suspend(jvm, 0);
        enter(jvm, 1, 2);
        exit(jvm, 1, 2);
    });
    let trace = bench.drain();
    let mut spans: Vec<_> = calls(&trace).iter().map(|call| (call.0, call.1)).collect();
    spans.sort_unstable();
    assert_eq!(spans, [(0, 1), (1, 1), (2, 0), (2, 0)]);
    assert!(runtime.shared.coroutines.are_idle());
}

#[test]
fn call_that_passed_its_continuation_on_ends_when_it_resumes() {
    let mut bench = Bench::new(&THREE);
    bench.thread(1, |jvm| {
        begin(jvm, 0, 1_000, false);
        begin(jvm, 1, 1_001, false); // passes on
        begin(jvm, 2, 1_001, false); // is passed it, and passes it on
        suspend(jvm, 2);
        suspend(jvm, 1);
        suspend(jvm, 0);
        resumed(jvm, 1_001, true);
        begin(jvm, 0, 1_000, true);
        complete(jvm, 0);
    });
    let trace = bench.drain();
    let failed = Outcome::Threw(Some("a/E".into()));
    let of = |span| trace.calls.iter().find(|call| call.span == span).unwrap();
    assert_eq!((&of(1).outcome, &of(2).outcome), (&failed, &failed));
    assert_eq!(of(0).outcome, Outcome::Returned);
    assert!(of(0).start < of(1).start && of(1).start < of(2).start);
    assert!(of(2).end < of(1).end && of(1).end < of(0).end);
}

#[test]
fn call_completes_with_the_callee_that_got_its_continuation() {
    let mut bench = Bench::new(&THREE);
    bench.thread(1, |jvm| {
        begin(jvm, 0, 1_000, false); // passes on
        begin(jvm, 1, 1_000, false); // has a continuation of its own
        suspend(jvm, 1);
        suspend(jvm, 0);
        begin(jvm, 1, 1_000, true);
        complete(jvm, 1);
        begin(jvm, 0, 1_000, false); // does not suspend
        begin(jvm, 1, 1_000, false);
        complete(jvm, 1);
        complete(jvm, 0);
    });
    let trace = bench.drain();
    let spans: Vec<_> = calls(&trace).iter().map(|call| (call.0, call.1)).collect();
    let mut sorted = spans.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [(0, 1), (0, 1), (1, 1), (1, 1)]);
}

#[test]
fn nested_coroutine_on_one_thread_has_a_separate_track() {
    let mut bench = Bench::new(&THREE);
    bench.thread(1, |jvm| {
        begin(jvm, 0, 1_000, false);
        begin(jvm, 1, 2_000, false);
        enter(jvm, 1, 2);
        exit(jvm, 1, 2);
        suspend(jvm, 1);
        enter(jvm, 1, 2);
        exit(jvm, 1, 2);
        complete(jvm, 0);
        begin(jvm, 1, 2_000, true);
        fail(jvm, 1, 1, || Some(jvm.runtime.class("a/E")));
    });
    let trace = bench.drain();
    let mut spans: Vec<_> = calls(&trace).iter().map(|call| (call.0, call.1)).collect();
    spans.sort_unstable();
    assert_eq!(spans, [(0, 1), (1, 2), (2, 1), (2, 2)]);
    assert_eq!(trace.aggregates[&1].errors, 1);
}

#[test]
fn uncompleted_call_is_open_and_abandoned_call_takes_no_memory() {
    let mut bench = Bench::new(&THREE);
    let numbers = Numbers::default();
    let runtime = bench.runtime;
    let entry = |completion| {
        move || {
            Some(SuspendEntry {
                completion,
                goes_on: false,
            })
        }
    };
    let jvm = &Fake::new(runtime, 1, 1_000_000);
    for completion in [1_000, 2_000] {
        suspending::begin(jvm, &numbers, 1, 0, entry(completion));
        suspend(jvm, 0);
    }
    let open = runtime.open_calls(bench.table, 0, 3_000_000, true);
    assert_eq!(open.len(), 2);
    assert!(
        open.iter()
            .all(|(call, is_virtual)| *is_virtual && call.outcome == Outcome::Open)
    );
    numbers.gone.borrow_mut().insert(1_000);
    let gone = runtime.abandoned_calls(&numbers, 0, 3_000_000);
    assert_eq!(gone.len(), 1);
    assert_eq!(gone[0].start, open[0].0.start);
    assert_eq!(runtime.open_calls(bench.table, 0, 3_000_000, true).len(), 1);
    runtime.begin_again(4_000_000);
    assert!(runtime.abandoned_calls(&numbers, 0, 3_000_000).is_empty());
    assert_eq!(numbers.kept.get(), 0, "each reference is released");
    THREAD.with(|cell| cell.set(None));
    assert!(bench.drain().calls.is_empty());
}

#[test]
fn arguments_are_captured_at_the_first_entry() {
    let mut bench = Bench::new(&THREE);
    fn number(jvm: &Fake, spec: CaptureSpec, number: u64) {
        super::number(jvm, jvm.thread, 0, spec, number);
    }
    bench.thread(1, |jvm| {
        let argument = CaptureSpec::new(b'I', CaptureSource::Argument(0), 80, true);
        let returned = CaptureSpec::new(b'I', CaptureSource::Returned, 80, true);
        number(jvm, argument, 7);
        begin(jvm, 0, 1_000, false);
        number(jvm, returned, 99); // that it suspends
        suspend(jvm, 0);
        number(jvm, argument, 0);
        begin(jvm, 0, 1_000, true);
        number(jvm, returned, 8);
        complete(jvm, 0);
    });
    let trace = bench.drain();
    let found: Vec<_> = trace.calls[0]
        .captures
        .iter()
        .map(|it| (it.source, it.value.clone()))
        .collect();
    let expected = [
        (CaptureSource::Argument(0), Value::Int(7)),
        (CaptureSource::Returned, Value::Int(8)),
    ];
    assert_eq!(found, expected);
}
