//! Text outputs of a manually created trace.

mod support {
    pub mod recorded;
}

use std::collections::BTreeMap;

use probes::Incomplete;
use probes::events::{
    Aggregate, Call, Capture, CaptureSource, EventInfo, Lost, Moment, Outcome, SpanInfo, SpanMode,
    ThreadInfo, Trace, Value, bucket_of,
};
use support::recorded::recorded;
use trace::flame::Labels;
use trace::names::Names;
use trace::recording::Recording;
use trace::stacks::{Side, Stacks};
use trace::summary::{Order, Summary};
use trace::table::Layout;
use trace::{compact, flame, json_lines, perfetto, records, table};

fn span(id: u32, class: &str, method: &str, descriptor: &str) -> SpanInfo {
    SpanInfo {
        id,
        class: class.to_owned(),
        method: method.to_owned(),
        descriptor: descriptor.to_owned(),
        mode: SpanMode::Events,
        ..SpanInfo::default()
    }
}

fn call(thread: u64, span: u32, start: u64, end: u64) -> Call {
    Call {
        thread,
        span,
        start,
        end,
        outcome: Outcome::Returned,
        captures: Vec::new(),
    }
}

/// Returns the sums that the agent computes from these calls and their given self times.
fn sums(calls: &[(&Call, u64)]) -> Aggregate {
    let mut sums = Aggregate::default();
    for (call, own) in calls {
        let nanos = call.end - call.start;
        let mut one = Aggregate {
            count: 1,
            errors: u64::from(matches!(call.outcome, Outcome::Threw(_))),
            total: nanos,
            own: *own,
            min: nanos,
            max: nanos,
            ..Aggregate::default()
        };
        one.histogram.add(bucket_of(nanos), 1);
        sums.merge(&one);
    }
    sums
}

/// `handle` calls `find` twice, and the second call fails; a virtual thread is still in `find(int)`.
fn shop() -> Trace {
    let mut handle = call(1, 0, 1_000, 9_001_000);
    handle.captures = vec![
        Capture {
            source: CaptureSource::Argument(0),
            value: Value::Text {
                text: "GET /\"cart\"".to_owned(),
                length: 11,
            },
        },
        Capture {
            source: CaptureSource::Returned,
            value: Value::Int(200),
        },
    ];
    let found = call(1, 1, 2_000, 2_002_000);
    let mut missed = call(1, 1, 3_000_000, 8_000_000);
    missed.outcome = Outcome::Threw(Some("java/util/NoSuchElementException".into()));
    let mut open = call(30, 2, 5_000, 6_000_000);
    open.outcome = Outcome::Open;
    let spans = [
        span(0, "com/acme/shop/Server", "handle", "(Ljava/lang/String;)I"),
        span(1, "com/acme/shop/Store", "find", "(Ljava/lang/String;[I)V"),
        span(2, "com/acme/shop/Store", "find", "(I)V"),
        span(3, "com/acme/shop/Store", "<init>", "()V"),
        span(4, "com/acme/shop/Item", "<init>", "()V"),
    ];
    let thread = |id, name: &str, is_virtual| ThreadInfo {
        id,
        name: name.to_owned(),
        is_virtual,
    };
    let mut trace = Trace {
        spans: spans.into_iter().map(|span| (span.id, span)).collect(),
        threads: BTreeMap::from([(1, thread(1, "main", false)), (30, thread(30, "", true))]),
        aggregates: BTreeMap::from([
            (0, sums(&[(&handle, 2_000_000)])),
            (1, sums(&[(&found, 2_000_000), (&missed, 5_000_000)])),
        ]),
        counts: BTreeMap::from([(4, 12_345)]),
        calls: vec![handle, found, missed, open],
        complete: true,
        ..Trace::default()
    };
    trace.meta.pid = 4711;
    trace.meta.start_ms = 1_700_000_000_000;
    trace.meta.command = "java -jar shop.jar".to_owned();
    trace.finish();
    trace
}

/// Returns the output for these traces.
fn written(
    traces: &[Trace],
    write: impl Fn(&[Recording], &mut Vec<u8>) -> std::io::Result<()>,
) -> String {
    let (_folder, recordings) = recorded(traces);
    let mut bytes = Vec::new();
    write(&recordings, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Returns the tree of all calls of these traces.
fn stacks_of(traces: &[Trace]) -> Stacks {
    let (_folder, recordings) = recorded(traces);
    let names = Names::of(traces);
    let mut stacks = Stacks::default();
    for recording in &recordings {
        stacks.add_calls(recording, &names, Side::After).unwrap();
    }
    stacks
}

/// Returns the folded stacks of these traces.
fn folded(traces: &[Trace]) -> String {
    let mut bytes = Vec::new();
    stacks_of(traces).write_folded(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn shown(traces: &[Trace], order: Order, layout: &Layout) -> String {
    let mut bytes = Vec::new();
    table::write(&Summary::of(traces, order), layout, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn table_has_a_row_for_each_called_method() {
    let layout = Layout {
        width: Some(140),
        ..Layout::default()
    };
    insta::assert_snapshot!(shown(&[shop()], Order::Own, &layout));
}

/// Numbers of nine or more digits are complete and surrounded by blanks.
#[test]
fn long_numbers_stay_separated() {
    let mut busy = shop();
    for sums in busy.aggregates.values_mut() {
        sums.count = 12_345_678_901;
        sums.errors = 1_234_567_890;
    }
    for width in [None, Some(140), Some(100), Some(72)] {
        let layout = Layout {
            width,
            ..Layout::default()
        };
        let text = shown(&[busy.clone()], Order::Own, &layout);
        let mut rows = text
            .lines()
            .filter(|line| line.contains("12,345,678,901 "))
            .peekable();
        assert!(rows.peek().is_some(), "{text}");
        for row in rows {
            assert!(row.contains("  12,345,678,901  "), "{text}");
            let has_errors = text
                .lines()
                .next()
                .is_some_and(|line| line.contains("errors"));
            assert!(!has_errors || row.ends_with("  1,234,567,890"), "{text}");
        }
    }
}

#[test]
fn narrow_table_names_omitted_columns_and_keeps_class_and_method() {
    let layout = Layout {
        width: Some(72),
        colours: true,
        rows: 2,
    };
    let mut losing = shop();
    losing.lost = Lost {
        full: 1,
        unwritten: 3,
        captures: 2_000,
        ..Lost::default()
    };
    insta::assert_snapshot!(shown(&[losing], Order::Calls, &layout));
}

/// Without a terminal no column is left out, no name is shortened, and long numbers stay separated.
#[test]
fn table_of_any_width_has_every_column_and_complete_names() {
    let mut long = shop();
    let package = "com/acme/".repeat(20);
    long.spans
        .insert(9, span(9, &format!("{package}Named"), "called", "()V"));
    long.aggregates.insert(
        9,
        Aggregate {
            count: 123_456_789,
            errors: 123_456_789,
            total: 1,
            ..Aggregate::default()
        },
    );
    let text = shown(&[long], Order::Calls, &Layout::default());
    let row = text.lines().nth(1).unwrap_or_default();
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(
        words[0],
        format!("{}Named.called", package.replace('/', "."))
    );
    assert_eq!(
        (words[1], words.last()),
        ("123,456,789", Some(&"123,456,789"))
    );
    for column in ["self", "total", "min", "p50", "p95", "p99", "max", "errors"] {
        assert!(
            text.lines()
                .next()
                .is_some_and(|line| line.contains(column)),
            "{text}"
        );
    }
}

#[test]
fn calls_omitted_for_the_size_limit_are_below_the_table() {
    let mut shorter = shop();
    (shorter.lost.oldest, shorter.lost.over_size) = (12, 1);
    let ends = || shorter.calls.iter().map(|call| call.end / 100_000_000);
    let [first, last] = [ends().min(), ends().max()].map(|tenths| tenths.unwrap() as f64 / 10.0);
    let text = shown(&[shorter.clone()], Order::Own, &Layout::default());
    let rest =
        "s after the trace began, counted here: the event file reached its limit (--max-size)\n";
    for expected in [
        format!("\nleft out: 12 calls of the JVM 4711 that ended before {first:.1} {rest}"),
        format!("\nleft out: 1 call of the JVM 4711 that ended after {last:.1} {rest}"),
    ] {
        assert!(text.contains(&expected), "{expected} in {text}");
    }
    assert!(!text.contains("lost: "), "{text}");
    shorter.calls.clear();
    shorter.finish();
    let text = shown(&[shorter], Order::Own, &Layout::default());
    assert!(
        text.contains("\nleft out: 12 calls of the JVM 4711, counted here"),
        "{text}"
    );
}

#[test]
fn unwritten_data_is_mentioned_in_every_output() {
    let mut cut = shop();
    cut.incomplete = Some(Incomplete {
        since_ms: cut.meta.start_ms + 12_345,
        cause: "No space left on device (os error 28)".to_owned(),
        ..Incomplete::default()
    });
    cut.lost.unwritten = 7;
    let text = shown(&[cut.clone()], Order::Own, &Layout::default());
    let gap = "data of the JVM 4711 is missing from 12.3 s after the start of the trace on: No space left on device (os error 28)";
    assert!(text.contains(&format!("\nincomplete: {gap}\n")), "{text}");
    assert!(text.contains("\nlost: 7 calls counted here"), "{text}");
    let summary = Summary::of(&[cut.clone()], Order::Own);
    let cut = [cut];
    assert!(written(&cut, perfetto::write).contains(gap));
    let json = written(&cut, |_, out| records::write_json(&summary, out));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["incomplete"][0]["after_ms"], 12_345);
    assert_eq!(json["lost"]["unwritten"], 7);
    for text in [
        written(&cut, json_lines::write),
        written(&cut, compact::write),
    ] {
        let first = text.lines().next().unwrap();
        let jvm: serde_json::Value = serde_json::from_str(first).unwrap();
        assert_eq!(
            (&jvm["incomplete"], &jvm["lost"]["unwritten"]),
            (&gap.into(), &7.into())
        );
    }
}

#[test]
fn rows_for_programs_are_complete_and_in_nanoseconds() {
    let summary = Summary::of(&[shop()], Order::Own);
    let (mut csv, mut json) = (Vec::new(), Vec::new());
    records::write_csv(&summary, &mut csv).unwrap();
    records::write_json(&summary, &mut json).unwrap();
    insta::assert_snapshot!("rows_as_csv", String::from_utf8(csv).unwrap());
    insta::assert_snapshot!("rows_as_json", String::from_utf8(json).unwrap());
}

#[test]
fn compact_lines_are_calls_with_numbers_for_names() {
    insta::assert_snapshot!(written(&[shop()], compact::write));
}

#[test]
fn method_of_two_jvms_has_one_row() {
    let text = shown(&[shop(), shop()], Order::Total, &Layout::default());
    let first = text.lines().nth(1).unwrap_or_default();
    let words: Vec<&str> = first.split_whitespace().collect();
    assert_eq!(
        words[..6],
        [
            "com.acme.shop.Server.handle",
            "2",
            "4.000",
            "ms",
            "18.00",
            "ms"
        ]
    );
    assert!(
        text.contains("\n24,696 calls of 5 traced methods, 3 of them called\n"),
        "{text}"
    );
}

#[test]
fn empty_trace_is_mentioned() {
    let mut quiet = shop();
    (quiet.aggregates, quiet.counts) = (BTreeMap::new(), BTreeMap::new());
    quiet.calls.retain(|call| call.outcome == Outcome::Open);
    quiet.finish();
    let text = shown(&[quiet], Order::Own, &Layout::default());
    let open = "1 call still open at the end, not counted here";
    assert_eq!(
        text,
        format!("no recorded call of 5 traced methods\n{open}\n")
    );
}

#[test]
fn calls_missing_in_the_sums_are_mentioned() {
    let mut killed = shop();
    killed.counts = BTreeMap::new();
    let rows = |trace: &Trace| shown(std::slice::from_ref(trace), Order::Own, &Layout::default());
    assert!(!rows(&killed).contains("after the last sums"));
    killed.aggregates = BTreeMap::new();
    let text = rows(&killed);
    let ended = killed.calls.len() - 1; // one is open
    assert!(
        text.starts_with("no sums yet of 5 traced methods\n"),
        "{text}"
    );
    let told = format!("{ended} calls recorded after the last sums, not counted here");
    assert!(text.contains(&told), "{text}");
}

#[test]
fn stacks_have_the_self_time_of_the_innermost_method() {
    let expected = "com.acme.shop.Server.handle 2000000\n\
                    com.acme.shop.Server.handle;com.acme.shop.Store.find(String, int[]) 7000000\n\
                    com.acme.shop.Store.find(int) 5995000\n";
    assert_eq!(folded(&[shop()]), expected);
    assert!(stacks_of(&[]).is_empty());
}

#[test]
fn recursion_adds_frames() {
    let mut trace = shop();
    trace.calls = vec![
        call(1, 0, 0, 100),
        call(1, 0, 10, 60),
        call(1, 0, 20, 30),
        call(1, 0, 200, 210),
    ];
    let name = "com.acme.shop.Server.handle";
    let expected = format!("{name} 60\n{name};{name} 40\n{name};{name};{name} 10\n");
    assert_eq!(folded(&[trace]), expected);
}

#[test]
fn the_flame_graph_is_an_svg_with_every_method() {
    let mut svg = Vec::new();
    let labels = Labels::of_calls("shop & co");
    flame::write(&stacks_of(&[shop()]), labels, &mut svg).unwrap();
    let svg = String::from_utf8(svg).unwrap();
    for part in [
        "<svg",
        "shop &amp; co",
        "com.acme.shop.Store.find(int) (5,995,000 ns",
        "</svg>",
    ] {
        assert!(svg.contains(part), "no {part:?} in\n{svg}");
    }
}

#[test]
fn the_time_line_has_named_threads_and_nested_calls() {
    let mut later = shop();
    later.meta.start_ms += 5;
    later.meta.pid = 4712;
    let json = written(&[shop(), later], perfetto::write);
    let whole: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(whole["traceEvents"].as_array().unwrap().len(), 14);
    insta::assert_snapshot!(json);
}

#[test]
fn json_lines_are_events_in_chronological_order() {
    insta::assert_snapshot!(written(&[shop()], json_lines::write));
}

/// Returns the shop with an event within `handle` and one after it, and the output of both.
fn shop_with_events() -> Trace {
    let place = SpanInfo {
        line: 17,
        plugin: "log".to_owned(),
        shown: vec!["statement".to_owned()],
        event: Some(EventInfo::default()),
        ..span(9, "com/acme/shop/Store", "find", "(I)V")
    };
    let moment = |nanos, number| Moment {
        thread: 1,
        place: 9,
        nanos,
        captures: [Capture {
            source: CaptureSource::Shown(0),
            value: Value::Int(number),
        }]
        .into(),
    };
    Trace {
        places: BTreeMap::from([(9, place)]),
        moments: vec![moment(2_500, 1), moment(9_500_000, 2)],
        reached: BTreeMap::from([(9, 2)]),
        ..shop()
    }
}

#[test]
fn events_of_plugins_have_separate_lines_in_chronological_order() {
    let traces = [shop_with_events()];
    for write in [
        |recordings: &[Recording], out: &mut Vec<u8>| json_lines::write(recordings, out),
        |recordings: &[Recording], out: &mut Vec<u8>| compact::write(recordings, out),
    ] {
        let text = written(&traces, write);
        let found: Vec<_> = (text.lines().enumerate())
            .filter(|(_, line)| line.starts_with("{\"event\":\"event\""))
            .collect();
        assert_eq!(found.len(), 2, "{text}");
        let expected = r#"{"event":"event","nanos":2500,"pid":4711,"thread":1,"thread_name":"main","plugin":"log","class":"com.acme.shop.Store","method":"find","descriptor":"(I)V","line":17,"values":{"statement":1}}"#;
        assert_eq!(found[0].1, expected);
        assert_eq!(found[1].0, text.lines().count() - 1, "the last line");
        assert!(found[0].0 > 1 && found[0].0 < found[1].0 - 2, "{text}");
    }
}

#[test]
fn events_of_plugins_are_instants_on_the_time_line() {
    let traces = [shop_with_events()];
    let text = written(&traces, perfetto::write);
    let all: serde_json::Value = serde_json::from_str(&text).unwrap();
    let all = all["traceEvents"].as_array().unwrap();
    let instants: Vec<_> = all.iter().filter(|event| event["ph"] == "i").collect();
    assert_eq!(instants.len(), 2);
    assert_eq!(instants[0]["name"], "com.acme.shop.Store.find:17");
    assert_eq!(instants[0]["args"]["statement"], "1");
    assert_eq!(instants[0]["ts"], 2.5);
    let calls = |traces: &[Trace]| Summary::of(traces, Order::Calls).rows;
    assert_eq!(calls(&traces), calls(&[shop()]));
}
