//! Spans with a condition: only matching calls are stored.

use std::sync::Arc;

use conditions::{Condition, Program, Root, Watch};

use super::*;
use crate::events::{CaptureSource, Lost, Value};
use crate::spans::calls::capture_read_from;

impl Bench {
    /// Creates a runtime with one span and this watch; its method has two parameters.
    pub(super) fn watched(
        when: &str,
        show: Option<&str>,
        limits: (Option<u64>, Option<u32>),
    ) -> Self {
        let bench = Self::new(&[]);
        bench.ask(when, show, limits);
        bench
    }

    fn ask(&self, when: &str, show: Option<&str>, limits: (Option<u64>, Option<u32>)) {
        let when = (!when.is_empty()).then(|| Condition::parse(when).unwrap());
        let watch = Watch {
            when,
            calls: limits.0,
            per_second: limits.1,
            ..Watch::default()
        };
        let watch = match show {
            Some(show) => watch.showing(show).unwrap(),
            None => watch,
        };
        let program = Arc::new(Program::of(&watch));
        let shown = program.slots().iter();
        let span = SpanInfo {
            method: "f".to_owned(),
            mode: SpanMode::Events,
            when: watch
                .when
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default(),
            shown: shown.map(|slot| slot.path.to_string()).collect(),
            ..SpanInfo::default()
        };
        assert_eq!(self.table.register_watched(&span, Some(&program), 2), Ok(0));
    }
}

/// Captures a value from which the program reads; `read` returns the value at a path, by its text.
fn root<'v>(jvm: &Fake, spec: CaptureSpec, read: impl Fn(&str) -> JvmValue<'v>) {
    capture_read_from(jvm, jvm.thread, 0, spec, |_, path, _, keep| {
        keep(path.map_or(JvmValue::Null, |path| read(&path.to_string())));
    });
}

fn starts(trace: &Trace) -> Vec<u64> {
    trace.calls.iter().map(|call| call.start).collect()
}

/// An open call is among the single calls if nothing can exclude it at its end.
#[test]
fn open_calls_are_listed_if_their_end_will_be_stored() {
    for (when, limits, given) in [
        ("", (None, None), true),
        ("duration >= 50ns", (None, None), true),
        ("duration >= 5s", (None, None), false),
        ("threw", (None, None), false),
        ("", (Some(9), None), false),
    ] {
        let bench = Bench::watched(when, Some("arg[0]"), limits);
        let table = bench.table;
        bench.thread(5, |jvm| {
            enter(jvm, 5, 0);
            let open = jvm.runtime.open_calls(table, 0, 6_000_000, true);
            assert_eq!(open.len(), usize::from(given), "{when} {limits:?}");
        });
    }
}

#[test]
fn unmatched_calls_are_counted_and_in_the_sums() {
    let mut bench = Bench::watched("duration >= 20ns || threw", None, (None, None));
    bench.thread(5, |jvm| {
        enter(jvm, 5, 0); // 5,000,010 to 5,000,020
        exit(jvm, 5, 0);
        enter(jvm, 5, 0); // 5,000,030 to 5,000,050, because another call is within it
        enter(jvm, 5, 0);
        fail(jvm, 5, 0, || Some(jvm.runtime.class("a/Thrown")));
        exit(jvm, 5, 0);
    });
    let trace = bench.drain();
    assert_eq!(starts(&trace), [5_000_030, 5_000_040]);
    assert_eq!(
        trace.calls[1].outcome,
        Outcome::Threw(Some("a/Thrown".into()))
    );
    let lost = Lost {
        filtered: 1,
        ..Lost::default()
    };
    assert_eq!((trace.lost, trace.lost.is_none()), (lost, true));
    assert_eq!(trace.aggregates[&0].count, 3);
    assert_eq!(trace.spans[&0].when, "duration >= 20ns || threw");
}

#[test]
fn values_are_read_at_entry_and_end_and_are_in_the_file() {
    let when =
        "arg[0].name == \"x\" && this.size > 1 && args.length == 2 && thread.endsWith(\"5\")";
    let mut bench = Bench::watched(when, Some("arg[0], this.size, stack(9)"), (None, None));
    let call = |jvm: &Fake, name: &str, size: u64| {
        let name: Vec<u16> = name.encode_utf16().collect();
        let argument = CaptureSpec::read_from(b'L', Root::Argument(0), 80, true, true);
        root(jvm, argument, |path| match path {
            "arg[0]" => JvmValue::Object(jvm.runtime.class("a/Order"), 9),
            _ => JvmValue::Text(&name, name.len() as u32),
        });
        enter(jvm, jvm.thread, 0);
        let this = CaptureSpec::read_from(b'L', Root::This, 80, true, false);
        root(jvm, this, |_| JvmValue::Number(b'I', size));
        exit(jvm, jvm.thread, 0);
    };
    bench.thread(5, |jvm| {
        call(jvm, "x", 2);
        call(jvm, "y", 2);
        call(jvm, "x", 1);
    });
    bench.thread(6, |jvm| call(jvm, "x", 2));
    let trace = bench.drain();
    assert_eq!(trace.lost.filtered, 3);
    let [call] = &trace.calls[..] else {
        panic!("{:?}", trace.calls);
    };
    let shown: Vec<(CaptureSource, String)> = call
        .captures
        .iter()
        .map(|capture| (capture.source, capture.value.to_string()))
        .collect();
    let expected = [
        (CaptureSource::Argument(0), "null"),
        (CaptureSource::Shown(0), "\"x\""),
        (CaptureSource::Shown(2), "a.Order@9"),
        (CaptureSource::Shown(1), "2"),
        (CaptureSource::Stack, "a.Inner.f:7 < a.Outer.g"),
    ];
    assert_eq!(
        shown,
        expected.map(|(source, text)| (source, text.to_owned()))
    );
    assert_eq!(
        trace.spans[&0].shown,
        ["arg[0].name", "this.size", "arg[0]"]
    );
}

#[test]
fn classes_are_compared_by_their_names() {
    let mut bench = Bench::watched("thrown == \"a.Thrown$1\"", None, (None, None));
    let thrown = CaptureSpec::read_from(b'L', Root::Thrown, 80, true, false);
    bench.thread(5, |jvm| {
        for class in ["a/Thrown$1", "a/Other"] {
            enter(jvm, 5, 0);
            root(jvm, thrown, |_| JvmValue::Class(jvm.runtime.class(class)));
            fail(jvm, 5, 0, || None);
        }
        enter(jvm, 5, 0);
        exit(jvm, 5, 0);
    });
    let trace = bench.drain();
    assert_eq!(trace.calls.len(), 1);
    let value = &trace.calls[0].captures[0].value;
    assert_eq!(value, &Value::Class("a/Thrown$1".into()));
    assert_eq!((trace.lost.filtered, trace.lost.undecided), (2, 0));
}

#[test]
fn absent_value_is_reported() {
    let mut bench = Bench::watched("arg[1] == 5 || duration > 1s", None, (None, None));
    bench.thread(5, |jvm| {
        for value in [JvmValue::Number(b'I', 5), JvmValue::Unreadable] {
            let spec = CaptureSpec::read_from(b'I', Root::Argument(1), 80, true, false);
            root(jvm, spec, |_| value);
            enter(jvm, 5, 0);
            exit(jvm, 5, 0);
        }
    });
    let trace = bench.drain();
    assert_eq!(trace.calls.len(), 1);
    assert_eq!((trace.lost.filtered, trace.lost.undecided), (1, 1));
}

#[test]
fn calls_above_the_limit_are_counted_and_the_next_trace_starts_anew() {
    let mut bench = Bench::watched("depth == 0", None, (Some(2), None));
    let five = |jvm: &Fake| {
        (0..5).for_each(|_| {
            enter(jvm, 5, 0);
            exit(jvm, 5, 0);
        });
    };
    bench.thread(5, five);
    let trace = bench.drain();
    assert_eq!((trace.calls.len(), trace.lost.beyond_limit), (2, 3));
    bench.table.begin_again();
    bench.runtime.begin_again(4_000_000);
    bench.ask("depth == 0", None, (Some(2), None));
    bench.thread(5, five);
    bench.record(0);
    let trace = bench.drain();
    assert_eq!((trace.calls.len(), trace.lost.beyond_limit), (2 + 2, 3));
}

/// A method that keeps running from an earlier trace is no caller in a later one.
#[test]
fn depth_counts_only_calls_of_this_trace() {
    let mut bench = Bench::watched("depth == 0", None, (None, None));
    let (runtime, table) = (bench.runtime, bench.table);
    let jvm = Fake::new(runtime, 5, 0);
    enter(&jvm, 5, 0);
    table.begin_again();
    let base = jvm.ticks();
    runtime.begin_again(base);
    bench.ask("depth == 0", None, (None, None));
    enter(&jvm, 5, 0);
    enter(&jvm, 5, 0);
    exit(&jvm, 5, 0);
    exit(&jvm, 5, 0);
    exit(&jvm, 5, 0);
    bench.record(base);
    let trace = bench.drain();
    assert_eq!((trace.calls.len(), trace.lost.filtered), (1, 1));
}

#[test]
fn span_with_a_removed_condition_stores_every_call() {
    let mut bench = Bench::watched("threw", None, (None, None));
    let one = |jvm: &Fake| {
        enter(jvm, 5, 0);
        exit(jvm, 5, 0);
    };
    bench.thread(5, one);
    let span = SpanInfo {
        method: "f".to_owned(),
        mode: SpanMode::Events,
        ..SpanInfo::default()
    };
    bench.table.set_mode(SpanMode::Off, |_| true);
    bench.thread(5, one);
    assert_eq!(bench.table.register(&span), Ok(0));
    bench.thread(5, one);
    let trace = bench.drain();
    assert_eq!((trace.calls.len(), trace.lost.filtered), (1, 1));
    assert_eq!(trace.spans[&0].when, "");
}
