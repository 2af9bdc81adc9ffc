//! The event file: written and read again.

use probes::events::{
    Aggregate, BoundaryKind, Call, Capture, CaptureSource, EventWriter, Lost, Outcome, SpanInfo,
    SpanMode, ThreadInfo, Trace, Value, bucket_of,
};
use probes::{Meta, SnapshotError};
use proptest::prelude::*;

fn call(thread: u64, start: u64, end: u64, outcome: Outcome) -> Call {
    Call {
        thread,
        span: 3,
        start,
        end,
        outcome,
        captures: Vec::new(),
    }
}

/// Returns the bytes of a file that `fill` writes.
fn file(fill: impl FnOnce(&mut EventWriter)) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = EventWriter::create(directory.path(), &Meta::default()).unwrap();
    fill(&mut writer);
    writer.flush().unwrap();
    std::fs::read(writer.path()).unwrap()
}

#[test]
fn event_files_round_trip() {
    let values = [
        Value::Null,
        Value::Boolean(true),
        Value::Byte(-128),
        Value::Char(0xD800),
        Value::Short(-2),
        Value::Int(i32::MIN),
        Value::Long(i64::MIN),
        Value::Float(-0.0),
        Value::Double(f64::MAX),
        Value::Text {
            text: "grüße".to_owned(),
            length: 500,
        },
        Value::Array {
            class: "[I".into(),
            length: 7,
        },
        Value::Object {
            class: "a/A".into(),
            identity: u32::MAX,
        },
        Value::Missing,
    ];
    let mut rich = call(u64::MAX, 1_000, 2_000, Outcome::Threw(Some("a/E".into())));
    rich.captures = values
        .into_iter()
        .zip(0..)
        .map(|(value, index)| Capture {
            source: if index == 12 {
                CaptureSource::Returned
            } else {
                CaptureSource::Argument(index)
            },
            value,
        })
        .collect();
    let span = SpanInfo {
        id: 3,
        class: "a/A".to_owned(),
        mode: SpanMode::Events,
        ..SpanInfo::default()
    };
    let thread = ThreadInfo {
        id: 1,
        name: "main".to_owned(),
        is_virtual: false,
    };
    let mut sums = Aggregate {
        count: 2,
        errors: 1,
        total: 30,
        own: 20,
        min: 10,
        max: 20,
        ..Aggregate::default()
    };
    sums.histogram.add(bucket_of(10), 1);
    sums.histogram.add(bucket_of(20), 1);
    let lost = Lost {
        full: 4,
        ..Lost::default()
    };
    let plain = call(1, 7, 9, Outcome::Threw(None));
    let bytes = file(|writer| {
        writer.span(&span);
        writer.thread(&thread);
        writer.call(&rich, true);
        writer.call(&plain, false);
        writer.aggregates([(3, &sums)]);
        writer.counts([(5, 1 << 40)]);
        writer.lost(&lost);
        writer.complete().unwrap();
    });
    let trace = Trace::from_bytes(&bytes).unwrap();
    assert_eq!(trace.calls, [plain, rich]);
    assert_eq!(trace.spans[&3], span);
    assert_eq!(trace.threads[&1], thread);
    assert!(trace.threads[&u64::MAX].is_virtual);
    assert_eq!(trace.aggregates[&3], sums);
    assert_eq!(trace.counts[&5], 1 << 40);
    assert_eq!(trace.lost, lost);
    assert!(trace.complete && !trace.truncated);
}

#[test]
fn nested_calls_become_entries_and_exits_in_order() {
    let bytes = file(|writer| {
        let calls = [
            call(1, 20, 30, Outcome::Returned),
            call(1, 40, 50, Outcome::Threw(None)),
            call(2, 1, 2, Outcome::Returned),
            call(1, 10, 60, Outcome::Returned),
            call(1, 5, 70, Outcome::Open),
            call(1, 80, 90, Outcome::Returned),
        ];
        calls.iter().for_each(|call| writer.call(call, false));
    });
    let trace = Trace::from_bytes(&bytes).unwrap();
    let events: Vec<_> = trace
        .events(1)
        .iter()
        .map(|event| (event.nanos, event.kind == BoundaryKind::Enter, event.depth))
        .collect();
    let expected = [
        (5, true, 0),
        (10, true, 1),
        (20, true, 2),
        (30, false, 2),
        (40, true, 2),
        (50, false, 2),
        (60, false, 1),
        (80, true, 0),
        (90, false, 0),
    ];
    assert_eq!(events, expected);
    assert_eq!(trace.events(2).len(), 2);
    assert!(trace.events(3).is_empty());
}

#[test]
fn open_call_that_ends_later_is_one_call() {
    let bytes = file(|writer| {
        let (open, ended) = (
            call(1, 5, 70, Outcome::Open),
            call(1, 5, 90, Outcome::Returned),
        );
        for call in [&open, &open, &ended] {
            writer.call(call, false);
        }
    });
    let trace = Trace::from_bytes(&bytes).unwrap();
    assert_eq!(trace.calls, [call(1, 5, 90, Outcome::Returned)]);
}

#[test]
fn truncated_file_keeps_its_whole_records() {
    let bytes = file(|writer| {
        for start in 0..20 {
            let call = call(1, start * 10, start * 10 + 5, Outcome::Returned);
            writer.call(&call, false);
            writer.flush().unwrap();
        }
    });
    let mut most = 0;
    for length in 0..bytes.len() {
        match Trace::from_bytes(&bytes[..length]) {
            Ok(trace) => {
                assert!(trace.calls.len() >= most);
                most = trace.calls.len();
            }
            Err(error) => assert!(matches!(error, SnapshotError::Empty { .. }), "{error}"),
        }
    }
    assert_eq!(most, 20);
}

#[test]
fn snapshot_is_refused_as_an_event_file() {
    let error = Trace::from_bytes(b"\x8EHOOK\r\n\x1A\x01\0\0\0").unwrap_err();
    assert!(matches!(error, SnapshotError::NotASnapshot { .. }));
}

proptest! {
    #[test]
    fn damaged_file_is_refused_or_read_without_panic(at in 0_usize..400, byte in any::<u8>()) {
        let mut bytes = file(|writer| {
            let mut one = call(1, 5, 9, Outcome::Threw(Some("a/E".into())));
            one.captures.push(Capture { source: CaptureSource::Returned, value: Value::Int(3) });
            writer.call(&one, false);
            writer.aggregates([(1, &Aggregate::default())]);
        });
        let length = bytes.len();
        bytes[at % length] = byte;
        let _ = Trace::from_bytes(&bytes);
    }
}
