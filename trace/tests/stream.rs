//! Lines written during a trace.

use std::collections::BTreeMap;

use probes::Meta;
use probes::events::{Call, Lost, Outcome, SpanInfo, ThreadInfo, Trace};
use trace::stream::Stream;

fn known() -> Trace {
    let span = SpanInfo {
        id: 7,
        class: "com/acme/Store".to_owned(),
        method: "find".to_owned(),
        descriptor: "()V".to_owned(),
        ..SpanInfo::default()
    };
    let thread = ThreadInfo {
        id: 1,
        name: "main".to_owned(),
        is_virtual: false,
    };
    Trace {
        meta: Meta {
            pid: 4711,
            start_ms: 1_700_000_000_000,
            command: "java -jar shop.jar".to_owned(),
            jvm: "JVM 25".to_owned(),
            ..Meta::default()
        },
        spans: BTreeMap::from([(7, span)]),
        threads: BTreeMap::from([(1, thread)]),
        lost: Lost {
            full: 3,
            ..Lost::default()
        },
        ..Trace::default()
    }
}

fn call(thread: u64, start: u64, end: u64, outcome: Outcome) -> Call {
    Call {
        thread,
        span: 7,
        start,
        end,
        outcome,
        captures: Vec::new(),
    }
}

/// Writes a call, a call that is seen open twice and then ends, and a call on a virtual thread.
fn lines(compact: bool) -> String {
    let mut trace = known();
    let mut stream = Stream::new(compact);
    let mut out = Vec::new();
    stream.begin(&trace, &mut out).unwrap();
    let thrown = || Outcome::Threw(Some("java/io/IOException".into()));
    for (call, is_virtual) in [
        (call(1, 20, 30, Outcome::Returned), false),
        (call(1, 10, 40, Outcome::Open), false),
        (call(1, 10, 50, Outcome::Open), false),
        (call(30, 5, 6, Outcome::Returned), true),
        (call(1, 10, 60, thrown()), false),
    ] {
        stream.call(&trace, &call, is_virtual, &mut out).unwrap();
    }
    stream.reset(&trace, &mut out).unwrap();
    trace.complete = true;
    stream.end(&trace, &mut out).unwrap();
    assert_eq!(stream.calls(), 3);
    String::from_utf8(out).unwrap()
}

#[test]
fn entries_and_ends_are_written_when_calls_end() {
    insta::assert_snapshot!(lines(false));
}

#[test]
fn compact_line_is_written_when_a_call_ends() {
    insta::assert_snapshot!(lines(true));
}
