//! Compares the fast path with the general path.

use super::*;
use crate::spans::stack::MAX_DEPTH;
use proptest::prelude::*;

/// The next action of a thread.
#[derive(Debug, Clone, Copy)]
enum Step {
    Enter(u32),
    /// The innermost call ends.
    Exit,
    Fail,
    /// A call ends, and the ends of its inner calls may be missing.
    ExitOf(u32),
    Capture(u32),
    Switch(u32, SpanMode),
    /// Sums and calls are discarded.
    Forget,
}

/// Spans; two of them have the same bit as the first two.
const SPANS: [u32; 5] = [0, 1, 2, 64, 65];
const MODES: [SpanMode; 3] = [SpanMode::Off, SpanMode::Aggregate, SpanMode::Events];

fn step() -> impl Strategy<Value = Step> {
    let span = || prop::sample::select(&SPANS[..]);
    prop_oneof![
        8 => span().prop_map(Step::Enter),
        6 => Just(Step::Exit),
        1 => Just(Step::Fail),
        1 => span().prop_map(Step::ExitOf),
        3 => span().prop_map(Step::Capture),
        1 => (span(), prop::sample::select(&MODES[..])).prop_map(|(span, mode)| Step::Switch(span, mode)),
        1 => Just(Step::Forget),
    ]
}

/// Returns calls, sums and losses of one thread with these actions.
fn recorded(steps: &[Step], has_counter: bool) -> String {
    let all: Vec<SpanMode> = (0..66).map(|span| MODES[1 + span % 2]).collect();
    let mut bench = Bench::new(&all);
    let (runtime, table) = (bench.runtime, bench.table);
    bench.thread(1, |_| {
        let jvm = Fake {
            has_counter,
            ..Fake::new(runtime, 1, 100)
        };
        let mut open = Vec::new();
        for step in steps {
            match *step {
                Step::Enter(span) => {
                    enter(&jvm, 1, span);
                    open.push(span);
                }
                Step::Exit => open.pop().into_iter().for_each(|span| exit(&jvm, 1, span)),
                Step::Fail => {
                    let class = || Some(runtime.class("a/E"));
                    open.pop()
                        .into_iter()
                        .for_each(|span| fail(&jvm, 1, span, class));
                }
                Step::ExitOf(span) => {
                    exit(&jvm, 1, span);
                    let at = open.iter().rposition(|known| *known == span);
                    open.truncate(at.unwrap_or(open.len()));
                }
                Step::Capture(span) => {
                    let (first, last) = (CaptureSource::Argument(0), CaptureSource::Argument(1));
                    let spec = |source, first| CaptureSpec::new(b'I', source, 80, first);
                    number(&jvm, 1, span, spec(first, true), 7);
                    number(&jvm, 1, span, spec(last, false), 8);
                }
                Step::Switch(span, mode) => {
                    table.set_mode(mode, |known| known.id == span);
                }
                Step::Forget => runtime.begin_again(jvm.now.get() + 1),
            }
        }
    });
    let trace = bench.drain();
    let sums = &trace.aggregates;
    format!("{:?} {sums:?} {:?}", trace.calls, trace.lost)
}

proptest! {
    #[test]
    fn calls_are_recorded_quickly_as_they_are_in_every_case(steps in prop::collection::vec(step(), 0..300)) {
        prop_assert_eq!(recorded(&steps, true), recorded(&steps, false));
    }
}

#[test]
fn fast_path_and_general_path_record_the_same_calls() {
    for depth in [1, 15, 16, 17, 40, MAX_DEPTH as usize + 2] {
        let enters = std::iter::repeat_n([0, 1, 2], depth).flatten().take(depth);
        let mut steps: Vec<Step> = enters.map(Step::Enter).collect();
        steps.extend(std::iter::repeat_n(Step::Exit, depth));
        assert_eq!(recorded(&steps, true), recorded(&steps, false), "{depth}");
    }
}
