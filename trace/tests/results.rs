//! Event tables from event files.

mod support {
    pub mod recorded;
}

use std::collections::BTreeMap;
use std::io::{self, Write};

use probes::events::{
    Capture, CaptureSource, Column, EventInfo, Moment, SpanInfo, TableRow, ThreadInfo, Trace, Value,
};
use serde_json::json;
use support::recorded::recorded;
use trace::results::{self, Table};

/// The tables of traces.
struct Tables(Vec<Table>);

impl Tables {
    fn one(&self) -> &Table {
        let [table] = self.0.as_slice() else {
            panic!("one table, found {}", self.0.len());
        };
        table
    }
}

fn tables(traces: &[Trace]) -> Tables {
    let (_folder, recordings) = recorded(traces);
    Tables(results::of(&recordings).unwrap())
}

/// Returns the written text.
fn text(write: impl Fn(&mut dyn Write) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn trace(row: Option<TableRow>) -> Trace {
    let place = SpanInfo {
        id: 4,
        class: "a/A".to_owned(),
        method: "f".to_owned(),
        line: 7,
        plugin: "log".to_owned(),
        shown: vec!["statement".to_owned(), "this".to_owned()],
        event: Some(EventInfo {
            per_second: Some(100),
            ..EventInfo::default()
        }),
        row,
        ..SpanInfo::default()
    };
    let capture = |slot, value| Capture {
        source: CaptureSource::Shown(slot),
        value,
    };
    let moment = |nanos, sql: &str| Moment {
        thread: 1,
        place: 4,
        nanos,
        captures: [
            capture(
                0,
                Value::Text {
                    text: sql.to_owned(),
                    length: sql.encode_utf16().count() as u32,
                },
            ),
            capture(1, Value::Int(3)),
        ]
        .into(),
    };
    Trace {
        places: BTreeMap::from([(4, place)]),
        threads: BTreeMap::from([(
            1,
            ThreadInfo {
                id: 1,
                name: "main".to_owned(),
                is_virtual: false,
            },
        )]),
        moments: vec![moment(2_000_000, "=b,\u{1b}"), moment(1_000_000, "a")],
        reached: BTreeMap::from([(4, 5)]),
        ..Trace::default()
    }
}

#[test]
fn events_are_rows_in_chronological_order_and_omissions_are_mentioned() {
    let kept = tables(&[trace(None)]);
    let table = kept.one();
    let shown = text(|out| table.write(9, out));
    let lines: Vec<Vec<&str>> = shown
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(lines[0], ["log:", "events"]);
    assert_eq!(
        lines[1],
        ["method", "line", "statement", "this", "thread", "time"]
    );
    assert_eq!(
        lines[2],
        ["a.A.f", "7", "\"a\"", "3", "main", "1.000", "ms"]
    );
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    assert_eq!(
        shown.lines().last(),
        Some("left out: 3 of 5 events: at most 100 a second of one place are kept")
    );
    assert!(text(|out| table.write(1, out)).contains("… and 1 more row\nleft out"));
}

#[test]
fn files_contain_every_event_with_plain_values() {
    let row = TableRow {
        table: "statements".to_owned(),
        columns: vec![Column {
            name: "line".to_owned(),
            kind: "line".to_owned(),
        }],
        cells: vec!["7".to_owned()],
    };
    let kept = tables(&[trace(Some(row))]);
    let table = kept.one();
    let csv = text(|out| table.write_csv(out));
    assert_eq!(
        csv,
        "line,statement,this,thread,time,pid\n7,a,3,main,1000000,0\n7,\"=b,\u{1b}\",3,main,2000000,0\n"
    );
    let lines = text(|out| table.write_json_lines(out));
    let lines: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        lines[0],
        json!({
            "plugin": "log", "table": "statements", "key": {"line": 7}, "pid": 0,
            "nanos": 1_000_000, "thread": "main", "values": {"statement": "a", "this": 3},
        })
    );
    assert_eq!(
        lines[2],
        json!({"plugin": "log", "table": "statements", "events": 5, "left_out": 3})
    );
}

#[test]
fn only_actual_causes_are_named() {
    let mut one = trace(None);
    one.lost.full = 1;
    let both = text(|out| tables(std::slice::from_ref(&one)).one().write(9, out));
    let expected = "at most 100 a second of one place are kept; some were lost or removed with the oldest calls\n";
    assert!(both.ends_with(expected), "{both}");
    one.moments.clear();
    one.reached.clear();
    let none = text(|out| tables(std::slice::from_ref(&one)).one().write(9, out));
    assert_eq!(none, "log: events\nno event happened\n");
}

/// Rows are readable in any order, sorted by JVM and time, and shared by clones.
#[test]
fn rows_are_found_by_number() {
    let mut many = trace(None);
    let moment = many.moments[0].clone();
    many.moments = (0..10_000)
        .map(|number| Moment {
            thread: number % 7,
            nanos: number * 10,
            ..moment.clone()
        })
        .collect();
    let kept = tables(&[many, trace(None)]);
    let Table::Events(table) = kept.one().clone() else {
        panic!("a table of events");
    };
    assert_eq!(table.rows.len(), 10_002);
    let nanos = |number| table.rows.get(number).unwrap().map(|row| row.nanos);
    for number in [9_999, 0, 5_000, 5_001, 4_095, 4_096] {
        assert_eq!(nanos(number), Some(number as u64 * 10));
    }
    assert_eq!(nanos(10_001), Some(2_000_000));
    assert_eq!(nanos(10_002), None);
    let thread = table.rows.get(3).unwrap().map(|row| row.thread.to_string());
    assert_eq!(thread.as_deref(), Some("thread-3"));
}
