use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Barrier, Mutex};

use super::*;
use crate::Meta;
use crate::events::{
    CaptureSource, EventWriter, Outcome, SpanInfo, SpanMode, ThreadInfo, Trace, Value,
};
use crate::spans::segments::Limits;
use crate::spans::{Drained, MethodName, NewThread, Runtime, SpanTable, ThreadCell, frame_word};

thread_local! {
    static THREAD: ThreadCell = const { ThreadCell::new(None) };
    static ASKS: Cell<bool> = const { Cell::new(false) };
}

/// A JVM whose threads and clock the test controls.
struct Fake {
    runtime: &'static Runtime,
    thread: u64,
    now: Cell<u64>,
    has_counter: bool,
    /// Number of ticks between two readings of the clock.
    step: u64,
    pointer: Cell<u64>,
    /// Number of exceptions that have left calls.
    unwound: Cell<u64>,
    /// The spans of the methods with a frame.
    running: RefCell<Vec<u32>>,
    /// Number of queries for these frames.
    looks: Cell<usize>,
}

/// Below this stack pointer, little stack is left.
const SCARCE_BELOW: u64 = 1_000;

impl Fake {
    fn new(runtime: &'static Runtime, thread: u64, now: u64) -> Self {
        Self {
            runtime,
            thread,
            now: Cell::new(now),
            has_counter: true,
            step: 10,
            pointer: Cell::new(1 << 20),
            unwound: Cell::new(0),
            running: RefCell::default(),
            looks: Cell::new(0),
        }
    }
}

impl Jvm for Fake {
    fn ticks(&self) -> u64 {
        self.now.set(self.now.get() + self.step);
        self.now.get()
    }

    fn has_counter(&self) -> bool {
        self.has_counter
    }

    fn counter(&self) -> u64 {
        self.ticks()
    }

    fn fetch(&self, _: &AtomicU64) {}

    fn join(&self) -> Option<NewThread> {
        Some(NewThread {
            runtime: self.runtime,
            thread: ThreadInfo {
                id: self.thread,
                name: format!("thread {}", self.thread),
                is_virtual: false,
            },
            owner: self.thread,
            scarce_below: SCARCE_BELOW,
            clear: || THREAD.with(|place| place.set(None)),
        })
    }

    fn with_cell<R>(&self, body: impl FnOnce(&ThreadCell) -> R) -> R {
        THREAD.with(body)
    }

    fn with_query_flag<R>(&self, body: impl FnOnce(&Cell<bool>) -> R) -> R {
        ASKS.with(body)
    }

    fn stack_pointer(&self) -> u64 {
        self.pointer.get()
    }

    fn unwound(&self) -> u64 {
        self.unwound.get()
    }

    fn running(&self) -> Option<HashMap<MethodName, u64>> {
        self.looks.set(self.looks.get() + 1);
        let mut running = HashMap::new();
        for span in self.running.borrow().iter() {
            let method = self.runtime.shared.table.method(*span)?;
            *running.entry(method).or_default() += 1;
        }
        Some(running)
    }

    fn frames(&self, frames: &mut [u64]) -> usize {
        let names = ["a/Inner", "f", "a/Outer", "g"].map(|name| self.runtime.class(name));
        let all = [
            frame_word(names[0], names[1], 7),
            frame_word(names[2], names[3], 0),
        ];
        let count = frames.len().min(all.len());
        frames[..count].copy_from_slice(&all[..count]);
        count
    }
}

struct Bench {
    table: &'static SpanTable,
    runtime: &'static Runtime,
    writer: EventWriter,
    _folder: tempfile::TempDir,
}

impl Bench {
    /// Creates a runtime with a span for each mode; the index is the span number.
    fn new(modes: &[SpanMode]) -> Self {
        Self::with_limits(modes, Limits::default())
    }

    fn with_limits(modes: &[SpanMode], limits: Limits) -> Self {
        Self::with_clock(modes, limits, 1 << 32)
    }

    fn with_clock(modes: &[SpanMode], limits: Limits, nanos_per_tick: u64) -> Self {
        let table: &'static SpanTable = Box::leak(Box::default());
        for (mode, number) in modes.iter().zip(0..) {
            let span = SpanInfo {
                method: format!("f{number}"),
                mode: *mode,
                ..SpanInfo::default()
            };
            assert_eq!(table.register(&span), Ok(number));
        }
        let folder = tempfile::tempdir().unwrap();
        Self {
            table,
            runtime: Box::leak(Box::new(Runtime::with_limits(
                table,
                nanos_per_tick,
                limits,
            ))),
            writer: EventWriter::create(folder.path(), &Meta::default()).unwrap(),
            _folder: folder,
        }
    }

    /// Runs `body` as a native thread of its own.
    fn thread(&self, id: u64, body: impl FnOnce(&Fake) + Send) {
        let runtime = self.runtime;
        std::thread::scope(|scope| {
            let thread = scope.spawn(move || {
                body(&Fake::new(runtime, id, id * 1_000_000));
            });
            thread.join().unwrap(); // marks its log as ended
        });
    }

    /// Writes everything for a trace that begins at the tick `base`.
    fn record(&mut self, base: u64) {
        while self.runtime.drain(self.table, &mut self.writer, base) == Drained::Part {}
        let sums = self.runtime.changed_sums(self.table);
        self.writer
            .aggregates(sums.iter().map(|(span, sum)| (*span, sum)));
    }

    fn drain(&mut self) -> Trace {
        self.record(0);
        self.writer.flush().unwrap();
        Trace::read(self.writer.path()).unwrap()
    }
}

mod fast_path;
mod lost_ends;
mod moments;
mod suspend_functions;
mod watched;

const BOTH: [SpanMode; 2] = [SpanMode::Events, SpanMode::Aggregate];

#[test]
fn nested_calls_are_recorded_with_self_times_errors_and_captures() {
    let mut bench = Bench::new(&BOTH);
    bench.thread(5, |jvm| {
        let spec = |source, first| CaptureSpec::new(b'I', source, 80, first);
        let number = || JvmValue::Number(b'I', 42);
        capture(jvm, 5, 0, spec(CaptureSource::Argument(1), true), number);
        enter(jvm, 5, 0); // at 10
        capture(jvm, 5, 1, spec(CaptureSource::Argument(0), true), || {
            unreachable!("not kept")
        });
        enter(jvm, 5, 1); // at 20
        fail(jvm, 5, 1, || unreachable!("not kept")); // at 30
        capture(jvm, 5, 0, spec(CaptureSource::Returned, true), number);
        exit(jvm, 5, 0); // at 40
        enter(jvm, 5, 0); // at 50
        fail(jvm, 5, 0, || Some(jvm.runtime.class("a/E"))); // at 60
    });
    let trace = bench.drain();
    let base = 5_000_000;
    let found: Vec<_> = trace
        .calls
        .iter()
        .map(|call| (call.span, call.start - base, call.end - base, &call.outcome))
        .collect();
    let threw = Outcome::Threw(Some("a/E".into()));
    assert_eq!(
        found,
        [(0, 10, 40, &Outcome::Returned), (0, 50, 60, &threw)]
    );
    let source: Vec<_> = trace.calls[0]
        .captures
        .iter()
        .map(|capture| capture.source)
        .collect();
    assert_eq!(
        source,
        [CaptureSource::Argument(1), CaptureSource::Returned]
    );
    assert!(
        trace.calls[0]
            .captures
            .iter()
            .all(|capture| capture.value == Value::Int(42))
    );
    let sum = |span: u32| {
        let sum = &trace.aggregates[&span];
        (sum.count, sum.errors, sum.total, sum.own, sum.min, sum.max)
    };
    assert_eq!(sum(0), (2, 1, 40, 30, 10, 30));
    assert_eq!(sum(1), (1, 1, 10, 10, 10, 10));
    assert_eq!(trace.threads[&5].name, "thread 5");
    assert!(trace.lost.is_none());
}

/// Ticks are unsigned, and a clock that goes back produces no negative duration.
#[test]
fn durations_are_right_across_clock_overflow_and_never_negative() {
    const HALF: u64 = 1 << 63;
    let mut bench = Bench::new(&BOTH);
    bench.thread(5, |jvm| {
        jvm.now.set(HALF - 15);
        enter(jvm, 5, 0); // at HALF - 5
        enter(jvm, 5, 1); // at HALF + 5
        exit(jvm, 5, 1); // at HALF + 15
        exit(jvm, 5, 0); // at HALF + 25
        enter(jvm, 5, 1); // at HALF + 35
        jvm.now.set(7);
        exit(jvm, 5, 1); // a tick later
    });
    let trace = bench.drain();
    assert_eq!(trace.calls[0].end - trace.calls[0].start, 30);
    let sum = &trace.aggregates[&1];
    assert_eq!((sum.count, sum.total, sum.min, sum.max), (2, 11, 1, 10));
}

/// A call and its caller begin at the same reading of a slow clock.
#[test]
fn calls_with_the_same_clock_reading_are_distinct() {
    let modes = [SpanMode::Events, SpanMode::Events];
    // Three ticks to the nanosecond.
    let mut bench = Bench::with_clock(&modes, Limits::default(), (1 << 32) / 3);
    bench.thread(5, |jvm| {
        let jvm = &Fake {
            step: 0,
            ..Fake::new(jvm.runtime, 5, 1_000)
        };
        for _ in 0..3 {
            enter(jvm, 5, 0);
            enter(jvm, 5, 1);
            exit(jvm, 5, 1);
            exit(jvm, 5, 0);
        }
    });
    let trace = bench.drain();
    assert_eq!(trace.calls.len(), 6);
    let times: Vec<u64> = trace.events(5).iter().map(|event| event.nanos).collect();
    assert!(times.is_sorted_by(|one, next| one < next), "{times:?}");
}

#[test]
fn mode_switch_during_calls_keeps_entries_and_exits_paired() {
    let mut bench = Bench::new(&BOTH);
    let table = bench.table;
    bench.thread(1, |jvm| {
        enter(jvm, 1, 0);
        table.set_mode(SpanMode::Off, |_| true);
        enter(jvm, 1, 0);
        table.set_mode(SpanMode::Events, |_| true);
        enter(jvm, 1, 0);
        exit(jvm, 1, 0);
        exit(jvm, 1, 0);
        exit(jvm, 1, 0);
    });
    let trace = bench.drain();
    let times: Vec<_> = trace
        .calls
        .iter()
        .map(|call| call.end - call.start)
        .collect();
    assert_eq!(times, [30, 10]); // the outermost and the innermost; the middle one was entered while off
    assert_eq!(trace.aggregates[&0].count, 2);
}

#[test]
fn full_memory_drops_whole_calls_and_counts_them() {
    let limits = Limits {
        segments: 100,
        full: 90,
        ..Limits::default()
    };
    let mut bench = Bench::with_limits(&BOTH, limits);
    const CALLS: u64 = 200_000;
    bench.thread(1, |jvm| {
        for _ in 0..CALLS / 2 {
            enter(jvm, 1, 0);
            enter(jvm, 1, 0);
            exit(jvm, 1, 0);
            exit(jvm, 1, 0);
        }
    });
    let trace = bench.drain();
    assert!(trace.lost.full > 0);
    assert_eq!(trace.calls.len() as u64 + trace.lost.full, CALLS);
    assert_eq!(trace.aggregates[&0].count, CALLS);
    assert!(
        trace
            .calls
            .iter()
            .all(|call| [10, 30].contains(&(call.end - call.start)))
    );
}

/// Losses in one trace or before a reset do not count for the next one.
#[test]
fn losses_count_from_the_start_of_the_trace() {
    let limits = Limits {
        segments: 4,
        full: 2,
        ..Limits::default()
    };
    let mut bench = Bench::with_limits(&BOTH, limits);
    let flood = |jvm: &Fake| {
        for _ in 0..5_000 {
            enter(jvm, 1, 0);
            exit(jvm, 1, 0);
        }
    };
    let all = |trace: &Trace| {
        assert!(trace.lost.full > 0);
        trace.calls.len() as u64 + trace.lost.full
    };
    bench.thread(1, flood);
    assert_eq!(all(&bench.drain()), 5_000);
    bench.thread(1, flood);
    assert_eq!(all(&bench.drain()), 10_000);
    bench.runtime.reset(&mut bench.writer);
    assert!(bench.drain().lost.is_none());
    bench.thread(1, flood);
    assert_eq!(all(&bench.drain()), 5_000);

    let folder = tempfile::tempdir().unwrap();
    bench.writer = EventWriter::create(folder.path(), &Meta::default()).unwrap();
    bench.runtime.begin_again(0);
    let quiet = bench.drain();
    assert!(quiet.lost.is_none() && quiet.threads.is_empty());
    bench.thread(1, flood);
    assert_eq!(all(&bench.drain()), 5_000);
}

#[test]
fn total_of_recursive_calls_is_that_of_the_outermost() {
    let mut bench = Bench::new(&BOTH);
    bench.thread(1, |jvm| {
        enter(jvm, 1, 0); // at 10
        enter(jvm, 1, 1); // at 20
        enter(jvm, 1, 0); // at 30
        exit(jvm, 1, 0); // at 40
        exit(jvm, 1, 1); // at 50
        exit(jvm, 1, 0); // at 60
        enter(jvm, 1, 0);
        exit(jvm, 1, 0);
    });
    let trace = bench.drain();
    let sum = &trace.aggregates[&0];
    assert_eq!((sum.count, sum.total, sum.own), (3, 50 + 10, 20 + 10 + 10));
    assert_eq!((sum.min, sum.max), (10, 50));
    assert_eq!(trace.aggregates[&1].total, 30);
}

#[test]
fn call_that_changes_its_native_thread_is_one_call() {
    let mut bench = Bench::new(&BOTH);
    let (runtime, step) = (bench.runtime, Barrier::new(2));
    let carrier = |id: u64, now: u64| Fake::new(runtime, id, now);
    const VIRTUAL_THREAD: u64 = 77;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let jvm = carrier(1, 1_000);
            enter(&jvm, VIRTUAL_THREAD, 0);
            enter(&jvm, VIRTUAL_THREAD, 1);
            step.wait();
            step.wait();
            enter(&jvm, 1, 1); // the carrier itself, and then another virtual thread
            exit(&jvm, 1, 1);
            enter(&jvm, 78, 0);
            exit(&jvm, 78, 0);
        });
        scope.spawn(|| {
            let jvm = carrier(2, 2_000);
            step.wait();
            exit(&jvm, VIRTUAL_THREAD, 1);
            exit(&jvm, VIRTUAL_THREAD, 0);
            step.wait();
        });
    });
    assert_eq!(runtime.shared.virtual_stacks.used().count(), 0);
    let trace = bench.drain();
    let found: Vec<_> = trace
        .calls
        .iter()
        .map(|call| (call.thread, call.start, call.end))
        .collect();
    assert_eq!(found, [(77, 1_010, 2_020), (78, 1_050, 1_060)]);
    assert!(trace.threads[&77].is_virtual && !trace.threads[&1].is_virtual);
    assert_eq!(trace.aggregates[&1].count, 2);
}

#[test]
fn calls_of_an_ended_thread_are_read_and_its_log_is_reused() {
    let mut bench = Bench::new(&BOTH);
    for id in 1..=20 {
        bench.thread(id, |jvm| {
            enter(jvm, id, 0);
            exit(jvm, id, 0);
        });
        bench.drain();
    }
    let trace = bench.drain();
    assert_eq!(trace.calls.len(), 20);
    assert_eq!(trace.threads.len(), 20);
    assert_eq!(trace.aggregates[&0].count, 20);
    assert_eq!(bench.runtime.threads.all().len(), 1);
}

#[test]
fn drain_beside_busy_threads_counts_every_loss() {
    let mut bench = Bench::new(&BOTH);
    const CALLS: u64 = 60_000;
    let runtime = bench.runtime;
    let trace = std::thread::scope(|scope| {
        let busy: Vec<_> = (1..=3)
            .map(|id| {
                scope.spawn(move || {
                    let jvm = Fake::new(runtime, id, 0);
                    for _ in 0..CALLS {
                        enter(&jvm, id, 0);
                        exit(&jvm, id, 0);
                    }
                })
            })
            .collect();
        while busy.iter().any(|thread| !thread.is_finished()) {
            bench.record(0);
        }
        busy.into_iter().for_each(|thread| thread.join().unwrap());
        bench.drain()
    });
    assert_eq!(trace.calls.len() as u64 + trace.lost.full, 3 * CALLS);
    assert_eq!(trace.aggregates[&0].count, 3 * CALLS);
    for id in 1..=3 {
        let calls = trace.calls_of(id);
        assert!(calls.is_sorted_by(|one, next| one.end < next.start));
    }
}

#[test]
fn open_calls_are_reported_and_end_later() {
    let mut bench = Bench::new(&BOTH);
    let (runtime, table) = (bench.runtime, bench.table);
    let writer = &mut bench.writer;
    let open = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let jvm = Fake::new(runtime, 1, 0);
            enter(&jvm, 1, 0);
            enter(&jvm, 1, 1);
            for now in [100, 200, 300] {
                // At first they may be about to end, and in the end nothing is new.
                let open = runtime.open_calls(table, 0, now, false);
                assert_eq!(open.len(), usize::from(now == 200));
                open.iter()
                    .for_each(|(call, is_virtual)| writer.call(call, *is_virtual));
            }
            writer.flush().unwrap();
            *open.lock().unwrap() = Trace::read(writer.path()).unwrap().calls;
            exit(&jvm, 1, 1);
            exit(&jvm, 1, 0);
        });
    });
    let open = open.into_inner().unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!(
        (open[0].start, open[0].end, &open[0].outcome),
        (10, 200, &Outcome::Open)
    );
    let trace = bench.drain();
    assert_eq!((trace.calls.len(), trace.calls[0].end), (1, 40));
}

#[test]
fn reset_forgets_calls_and_sums() {
    let mut bench = Bench::new(&BOTH);
    let once = |jvm: &Fake| {
        enter(jvm, 1, 0);
        exit(jvm, 1, 0);
    };
    bench.thread(1, once);
    bench.drain();
    bench.runtime.reset(&mut bench.writer);
    assert!(bench.drain().aggregates.is_empty());
    bench.thread(1, |jvm| (0..3).for_each(|_| once(jvm)));
    let trace = bench.drain();
    assert_eq!((trace.calls.len(), trace.aggregates[&0].count), (3, 3));
}

#[test]
fn a_call_of_an_earlier_recording_is_in_no_later_one() {
    let mut bench = Bench::new(&[SpanMode::Events, SpanMode::Events]);
    let (runtime, table) = (bench.runtime, bench.table);
    let jvm = Fake::new(runtime, 1, 0);
    enter(&jvm, 1, 0);
    enter(&jvm, 1, 1);
    table.begin_again();
    let base = jvm.ticks();
    runtime.begin_again(base);
    let asked = SpanInfo {
        method: "f0".to_owned(),
        mode: SpanMode::Events,
        ..SpanInfo::default()
    };
    assert_eq!(table.register(&asked), Ok(0));
    exit(&jvm, 1, 1); // no longer requested
    enter(&jvm, 1, 0);
    exit(&jvm, 1, 0);
    exit(&jvm, 1, 0); // entered before
    bench.record(base);
    bench.writer.flush().unwrap();
    let trace = Trace::read(bench.writer.path()).unwrap();
    assert_eq!(trace.spans.keys().copied().collect::<Vec<_>>(), [0]);
    assert_eq!(trace.calls.len(), 1);
    let counts = trace
        .aggregates
        .iter()
        .map(|(span, sum)| (*span, sum.count));
    assert_eq!(counts.collect::<Vec<_>>(), [(0, 1)]);
}
