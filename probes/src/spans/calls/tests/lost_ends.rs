//! Calls whose end was never reported.

use super::*;

/// A program on one thread: each action changes its frames, and is reported as the JVM would.
struct Program<'f> {
    jvm: &'f Fake,
    thread: u64,
    /// The frames; the flag is set if the frame has an open call. A frame older than the instrumentation has none.
    frames: Vec<(u32, bool)>,
    /// Exceptions that leave calls on other threads before each step of this one.
    others: u64,
}

/// Stack bytes of a frame.
const FRAME: u64 = 100;
/// The stack pointer without a frame.
const WHOLE: u64 = 3_000;

impl<'f> Program<'f> {
    fn new(jvm: &'f Fake, thread: u64) -> Self {
        Self {
            jvm,
            thread,
            frames: Vec::new(),
            others: 0,
        }
    }

    fn show(&self) {
        let frames = self.frames.iter().map(|(span, _)| *span);
        *self.jvm.running.borrow_mut() = frames.collect();
        let unwound = &self.jvm.unwound;
        unwound.set(unwound.get() + self.others);
        let length = self.frames.len() as u64 * FRAME;
        self.jvm.pointer.set(WHOLE.saturating_sub(length));
    }

    fn enter(&mut self, span: u32) {
        self.frames.push((span, true));
        self.show();
        enter(self.jvm, self.thread, span);
    }

    fn exit(&mut self) {
        self.show();
        if let Some((span, true)) = self.frames.pop() {
            exit(self.jvm, self.thread, span);
        }
    }

    /// An exception leaves the innermost call.
    fn fail(&mut self, is_told: bool) {
        self.show();
        if let Some((span, true)) = self.frames.pop() {
            self.jvm.unwound.set(self.jvm.unwound.get() + 1);
            if is_told {
                fail(self.jvm, self.thread, span, || None);
            }
        }
    }
}

fn counts(trace: &Trace) -> Vec<(u64, u64)> {
    let sums = trace.aggregates.values();
    sums.map(|sum| (sum.count, sum.errors)).collect()
}

#[test]
fn stack_overflow_leaves_no_call_open() {
    let mut bench = Bench::new(&BOTH);
    bench.thread(5, |jvm| {
        let mut program = Program::new(jvm, 5);
        for round in 0..3 {
            (0..30).for_each(|_| program.enter(1));
            (0..30).for_each(|depth| program.fail(depth >= 5 + round));
        }
        program.enter(0);
        program.exit();
    });
    let trace = bench.drain();
    assert_eq!(counts(&trace), [(1, 0), (90, 90)]);
    assert!(trace.lost.is_none());
    assert!(trace.calls.iter().all(|call| call.span == 0));
}

#[test]
fn call_after_an_overflow_without_any_end_has_depth_zero() {
    let mut bench = Bench::watched("depth == 0", None, (None, None));
    let recursive = SpanInfo {
        method: "g".to_owned(),
        mode: SpanMode::Aggregate,
        ..SpanInfo::default()
    };
    assert_eq!(bench.table.register(&recursive), Ok(1));
    bench.thread(5, |jvm| {
        let mut program = Program::new(jvm, 5);
        (0..30).for_each(|_| program.enter(1));
        (0..30).for_each(|_| program.fail(false));
        program.enter(0);
        program.exit();
    });
    let trace = bench.drain();
    assert_eq!(trace.calls.len(), 1);
    assert_eq!(counts(&trace), [(1, 0), (30, 30)]);
}

#[test]
fn unmatched_end_ends_the_calls_within_its_call() {
    let mut bench = Bench::new(&BOTH);
    bench.thread(5, |jvm| {
        let mut program = Program::new(jvm, 5);
        program.enter(1);
        program.enter(0);
        program.enter(0);
        program.frames.truncate(1); // nothing is reported, and no exception was counted
        program.exit();
        program.enter(0);
        program.exit();
    });
    let trace = bench.drain();
    assert_eq!(counts(&trace), [(3, 2), (1, 0)]);
}

#[test]
fn call_with_a_shorter_stack_ends_the_last_open_call() {
    let mut bench = Bench::new(&BOTH);
    bench.thread(5, |jvm| {
        let mut program = Program::new(jvm, 5);
        (0..8).for_each(|_| program.enter(1));
        program.frames.truncate(2);
        program.enter(0);
        program.exit();
        program.exit();
        program.exit();
    });
    let trace = bench.drain();
    assert_eq!(counts(&trace), [(1, 0), (8, 6)]);
}

#[test]
fn frames_older_than_the_instrumentation_end_no_call() {
    let mut bench = Bench::new(&BOTH);
    bench.thread(5, |jvm| {
        let mut program = Program::new(jvm, 5);
        program.frames = vec![(1, false); 3];
        (0..20).for_each(|_| program.enter(1));
        (0..20).for_each(|depth| program.fail(depth >= 4));
        program.frames.clear();
        program.enter(0);
        program.exit();
    });
    let trace = bench.drain();
    assert_eq!(counts(&trace), [(1, 0), (20, 20)]);
}

#[test]
fn exceptions_of_other_threads_rarely_cause_frame_counts_and_leave_no_call_open() {
    let mut bench = Bench::new(&BOTH);
    bench.thread(5, |jvm| {
        let mut program = Program::new(jvm, 5);
        program.others = 3;
        for lost in [20, 0, 2_000] {
            (0..3_000).for_each(|_| program.enter(1));
            (0..3_000).for_each(|depth| program.fail(depth >= lost));
            program.enter(0);
            program.exit();
        }
        let looks = jvm.looks.get();
        assert!(looks < 100, "{looks} looks at 3,000 frames");
    });
    let trace = bench.drain();
    assert_eq!(counts(&trace), [(3, 0), (9_000, 9_000)]);
}

/// A program calls, returns, throws and catches at random; the ends of some calls with little stack get lost.
#[test]
fn random_overflows_lose_no_calls_and_leave_none_open() {
    [0, 1, 5].into_iter().for_each(random_overflows);
}

fn random_overflows(others: u64) {
    let mut bench = Bench::new(&[SpanMode::Aggregate; 4]);
    let mut entered = [0_u64; 4];
    let entered_by_program = &mut entered;
    bench.thread(5, move |jvm| {
        let mut program = Program::new(jvm, 5);
        program.others = others;
        let mut state = 17_u64;
        let mut next = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..1_000 {
            let depth = 22 + next(8);
            while (program.frames.len() as u64) < depth {
                let span = next(3) as u32;
                entered_by_program[span as usize] += 1;
                program.enter(span);
                if next(4) == 0 {
                    program.exit();
                }
            }
            // The stack overflows, and some caller catches the error.
            let (lost, left) = (next(9), next(20));
            for unwound in 0.. {
                if program.frames.len() as u64 <= left {
                    break;
                }
                program.fail(unwound >= lost);
            }
        }
        (0..program.frames.len()).for_each(|_| program.exit());
        entered_by_program[3] += 1;
        program.enter(3);
        program.exit();
        jvm.with_cell(|cell| assert!(cell.get().is_some_and(|here| here.stack.is_idle())));
    });
    let trace = bench.drain();
    let counted: Vec<u64> = counts(&trace).iter().map(|(count, _)| *count).collect();
    assert_eq!(counted, entered);
}
