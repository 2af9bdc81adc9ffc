//! Events with values.

use super::*;
use crate::events::EventInfo;
use crate::spans::calls::event;

/// A bench with a span (0) and an event with this limit (1).
fn bench(per_second: Option<u32>) -> Bench {
    let bench = Bench::new(&[SpanMode::Events]);
    let place = SpanInfo {
        mode: SpanMode::Events,
        shown: vec!["arg[0]".to_owned(), "this".to_owned()],
        event: Some(EventInfo {
            per_second,
            ..EventInfo::default()
        }),
        ..SpanInfo::default()
    };
    assert_eq!(bench.table.register(&place), Ok(1));
    bench
}

/// The event is reached on `thread`, with two values.
fn reach(jvm: &Fake, thread: u64, value: u64) {
    let spec = |slot, first| CaptureSpec::new(b'I', CaptureSource::Shown(slot), 80, first);
    number(jvm, thread, 1, spec(0, true), value);
    capture(jvm, thread, 1, spec(1, false), || JvmValue::Null);
    event(jvm, thread, 1);
}

#[test]
fn events_have_values_within_calls_and_on_virtual_threads() {
    let mut bench = bench(None);
    bench.thread(5, |jvm| {
        let spec = CaptureSpec::new(b'I', CaptureSource::Argument(0), 80, true);
        number(jvm, 5, 0, spec, 9);
        enter(jvm, 5, 0); // at 10
        reach(jvm, 5, 1); // at 20
        event(jvm, 5, 1); // at 30, without values
        exit(jvm, 5, 0); // at 40
        reach(jvm, 77, 2); // at 50, on a virtual thread
    });
    let trace = bench.drain();
    let moments: Vec<_> = trace
        .moments
        .iter()
        .map(|it| (it.thread, it.nanos - 5_000_000, it.captures.len()))
        .collect();
    assert_eq!(moments, [(5, 20, 2), (5, 30, 0), (77, 50, 2)]);
    let values: Vec<_> = (trace.moments[2].captures.iter())
        .map(|capture| (capture.source, capture.value.clone()))
        .collect();
    assert_eq!(
        values,
        [
            (CaptureSource::Shown(0), Value::Int(2)),
            (CaptureSource::Shown(1), Value::Null)
        ]
    );
    assert_eq!(trace.calls.len(), 1);
    assert_eq!(trace.calls[0].captures.len(), 1);
    assert_eq!(trace.reached[&1], 3);
    assert_eq!(trace.aggregates.keys().collect::<Vec<_>>(), [&0]);
    assert_eq!(trace.places[&1].shown.len(), 2);
    assert!(trace.threads[&77].is_virtual && !trace.spans.contains_key(&1));
}

#[test]
fn events_above_the_limit_per_second_are_counted_and_dropped() {
    let mut bench = bench(Some(2));
    bench.thread(1, |jvm| {
        for second in 1..=3 {
            jvm.now.set(second * 1_000_000_000);
            for value in 0..5 {
                reach(jvm, 1, value);
            }
        }
    });
    let trace = bench.drain();
    assert_eq!((trace.moments.len(), trace.lost.over_rate), (6, 9));
    assert_eq!(trace.reached[&1], 15);
    assert!(
        trace.lost.is_none(),
        "dropped events above the limit are no loss"
    );
}

#[test]
fn events_are_switched_like_spans() {
    let mut bench = bench(None);
    let table = bench.table;
    bench.thread(1, |jvm| {
        reach(jvm, 1, 1);
        table.set_mode(SpanMode::Aggregate, |_| true);
        reach(jvm, 1, 2);
        table.set_mode(SpanMode::Off, |_| true);
        reach(jvm, 1, 3);
    });
    let trace = bench.drain();
    assert_eq!((trace.moments.len(), trace.reached[&1]), (1, 2));
}

#[test]
fn full_memory_drops_whole_events_and_counts_them() {
    let bench = Bench::with_limits(
        &[],
        Limits {
            segments: 4,
            full: 2,
            ..Limits::default()
        },
    );
    let place = SpanInfo {
        mode: SpanMode::Events,
        event: Some(EventInfo::default()),
        ..SpanInfo::default()
    };
    assert_eq!(bench.table.register(&place), Ok(0));
    bench.thread(1, |jvm| (0..20_000).for_each(|_| event(jvm, 1, 0)));
    let mut bench = bench;
    let trace = bench.drain();
    assert!(trace.lost.full > 0);
    assert_eq!(trace.moments.len() as u64 + trace.lost.full, 20_000);
    assert_eq!(trace.reached[&0], 20_000);
}
