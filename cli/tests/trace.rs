//! Traces of event files from the writer that the agent uses.

mod support {
    pub mod command;
}

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use probes::Meta;
use probes::events::{
    Aggregate, Call, Column, EventWriter, Outcome, SpanInfo, SpanMode, TableRow, ThreadInfo,
    bucket_of,
};
use support::command::run;

/// Writes an event file of two methods: `com.acme.Server.handle` calls `com.acme.Store.find`.
fn events(folder: &Path, mode: SpanMode) -> PathBuf {
    let meta = Meta {
        pid: 4711,
        command: "java -jar shop.jar".to_owned(),
        plugins: vec!["trace@0.1.0".to_owned()],
        ..Meta::default()
    };
    let mut writer = EventWriter::create(folder, &meta).unwrap();
    let names = [("com/acme/Server", "handle"), ("com/acme/Store", "find")];
    for (id, (class, method)) in (0..).zip(names) {
        writer.span(&SpanInfo {
            id,
            class: class.to_owned(),
            method: method.to_owned(),
            descriptor: "()V".to_owned(),
            mode,
            ..SpanInfo::default()
        });
        let nanos = 8_000 >> id;
        let mut sums = Aggregate {
            count: 1,
            total: nanos,
            own: 4_000,
            min: nanos,
            max: nanos,
            ..Aggregate::default()
        };
        sums.histogram.add(bucket_of(nanos), 1);
        writer.aggregates([(id, &sums)]);
        if mode == SpanMode::Events {
            let start = 1_000 + u64::from(id);
            let call = Call {
                thread: 1,
                span: id,
                start,
                end: start + nanos,
                outcome: Outcome::Returned,
                captures: Vec::new(),
            };
            writer.call(&call, false);
        }
    }
    writer.thread(&ThreadInfo {
        id: 1,
        name: "main".to_owned(),
        is_virtual: false,
    });
    writer.complete().unwrap();
    writer.path().to_owned()
}

fn words<const N: usize>(words: [&dyn AsRef<std::ffi::OsStr>; N]) -> Vec<OsString> {
    words.iter().map(|word| word.as_ref().to_owned()).collect()
}

#[test]
fn event_file_is_reported_as_a_table_and_in_each_selected_file() {
    let folder = tempfile::tempdir().unwrap();
    events(folder.path(), SpanMode::Events);
    let at = |name: &str| folder.path().join("made").join(name);
    let ran = run(words([
        &"report",
        &folder.path(),
        &"--flame-graph",
        &at("f.svg"),
        &"--folded",
        &at("f.txt"),
        &"--perfetto",
        &at("p.json"),
        &"--json-lines",
        &at("l.jsonl"),
    ]));
    ran.prints(&[
        "com.acme.Server.handle",
        "4.000 µs",
        "2 calls of 2 traced methods",
        "f.svg",
    ]);
    let read = |name: &str| fs::read_to_string(at(name)).unwrap();
    assert!(read("f.svg").contains("java -jar shop.jar"));
    assert_eq!(
        read("f.txt"),
        "com.acme.Server.handle 4000\ncom.acme.Server.handle;com.acme.Store.find 4000\n"
    );
    assert!(read("p.json").contains("\"name\":\"main\""));
    assert_eq!(read("l.jsonl").lines().count(), 5);
}

#[test]
fn table_goes_to_standard_error_if_an_output_is_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let file = events(folder.path(), SpanMode::Events);
    for (option, begin) in [
        ("--folded", "com.acme.Server.handle 4000\n"),
        ("--table-csv", "class,method,"),
        ("--json-lines", "{\"event\":\"jvm\""),
    ] {
        let ran = run(words([&"report", &file, &option, &"-"]));
        assert_eq!(ran.code, Some(0), "{}", ran.error);
        assert!(ran.out.starts_with(begin), "{}", ran.out);
        assert!(!ran.out.contains("traced methods"), "{}", ran.out);
        ran.says(&["2 calls of 2 traced methods"]);
    }
    let two = words([&"report", &file, &"--folded", &"-", &"--table-csv", &"-"]);
    run(two).refused("H0670", &["--folded and --table-csv", "standard output"]);
}

#[test]
fn trace_is_limited_to_selected_classes() {
    let folder = tempfile::tempdir().unwrap();
    let file = events(folder.path(), SpanMode::Events);
    let ran = run(words([&"report", &file, &"--select", &"com.acme.S*e"]));
    ran.prints(&["com.acme.Store.find", "1 call of 1 traced method"]);
    let none = run(words([&"report", &file, &"--select", &"com.acme.Stores"]));
    none.refused("H0671", &["com.acme.Stores", "com.acme.Store"]);
}

/// Old event files contain only the names of classes.
#[test]
fn selector_that_needs_more_than_an_event_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = events(folder.path(), SpanMode::Events);
    for (selector, cause) in [
        ("<:com.acme.Base", "no annotations and supertypes"),
        ("!@com.acme.Generated", "no annotations and supertypes"),
        (
            "location:app.jar",
            "event files have no locations of classes",
        ),
    ] {
        let ran = run(words([&"report", &file, &"--select", &selector]));
        ran.refused("H0606", &[cause]);
        assert!(ran.out.is_empty(), "{}", ran.out);
    }
}

#[test]
fn sums_without_calls_make_a_table_and_no_flame_graph() {
    let folder = tempfile::tempdir().unwrap();
    let file = events(folder.path(), SpanMode::Aggregate);
    run(words([&"report", &file])).prints(&["com.acme.Store.find"]);
    let graph = folder.path().join("f.svg");
    let ran = run(words([&"report", &file, &"--flame-graph", &graph]));
    ran.refused("H0636", &["f.svg needs single calls", "--aggregate"]);
    assert!(ran.out.contains("com.acme.Store.find"), "{}", ran.out);
    assert!(!graph.exists());
}

#[test]
fn table_is_printed_even_if_a_file_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = events(folder.path(), SpanMode::Events);
    let below_a_file = file.join("f.svg");
    let folded = folder.path().join("folded");
    let ran = run(words([
        &"report",
        &file,
        &"--flame-graph",
        &below_a_file,
        &"--folded",
        &folded,
    ]));
    assert_eq!(ran.code, Some(3), "{}", ran.error);
    ran.says(&["error[H0620]", "f.svg"]);
    for part in ["com.acme.Store.find", "folded"] {
        assert!(ran.out.contains(part), "{}", ran.out);
    }
    assert!(folded.exists(), "one file costs no other");
}

/// Writes an event file with a row of a plugin's table and without a method.
fn with_a_row(folder: &Path) {
    let meta = Meta {
        plugins: vec!["timer@0.1.0".to_owned()],
        ..Meta::default()
    };
    let mut writer = EventWriter::create(folder, &meta).unwrap();
    writer.span(&SpanInfo {
        plugin: "timer".to_owned(),
        mode: SpanMode::Count,
        row: Some(TableRow {
            table: "calls".to_owned(),
            columns: vec![Column {
                name: "callee".to_owned(),
                kind: "method".to_owned(),
            }],
            cells: vec!["a.B.f".to_owned()],
        }),
        ..SpanInfo::default()
    });
    writer.counts([(0, 3)]);
    writer.complete().unwrap();
}

#[test]
fn tables_of_plugins_are_printed_and_written() {
    let folder = tempfile::tempdir().unwrap();
    with_a_row(folder.path());
    let csv = folder.path().join("csv");
    let report = words([&"report", &folder.path(), &"--results-csv", &csv]);
    let ran = run(report);
    ran.prints(&[
        "timer: calls\n",
        "callee  count\n",
        "a.B.f       3\n",
        "timer-calls.csv",
    ]);
    let written = fs::read_to_string(csv.join("timer-calls.csv")).unwrap();
    assert_eq!(written, "callee,count\na.B.f,3\n");
    let ran = run(words([
        &"report",
        &folder.path(),
        &"--results-json-lines",
        &"-",
    ]));
    let line = r#"{"count":3,"key":{"callee":"a.B.f"},"plugin":"timer","table":"calls"}"#;
    assert!(ran.out.starts_with(line), "{}", ran.out);
    ran.says(&["timer: calls"]);
    assert!(!folder.path().join("-").exists());
    let page = folder.path().join("tables.html");
    let ran = run(words([&"report", &folder.path(), &"--results-html", &page]));
    ran.prints(&["timer: calls\n", "tables.html"]);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("<tr><td>a.B.f<td class=right>3\n"), "{page}");
}

#[test]
fn missing_tables_are_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = events(folder.path(), SpanMode::Aggregate);
    let csv = folder.path().join("csv");
    let ran = run(words([&"report", &file, &"--results-csv", &csv]));
    ran.refused("H0688", &["--table-csv"]);
    assert!(!csv.exists());
}

#[test]
fn methods_without_calls_make_no_flame_graph() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = EventWriter::create(folder.path(), &Meta::default()).unwrap();
    writer.span(&SpanInfo {
        class: "com/acme/Store".to_owned(),
        method: "find".to_owned(),
        mode: SpanMode::Events,
        ..SpanInfo::default()
    });
    writer.complete().unwrap();
    let graph = folder.path().join("f.svg");
    let ran = run(words([&"report", &folder.path(), &"--flame-graph", &graph]));
    ran.refused("H0636", &["none was recorded", "methods that are called"]);
    assert!(ran.out.contains("no recorded call"), "{}", ran.out);
}

#[test]
fn wrong_options_of_a_trace_are_reported_before_the_start() {
    let trace = |options: &[&str]| {
        let all = ["trace"]
            .iter()
            .chain(options)
            .chain(&["--", "java", "-version"]);
        run(all.map(OsString::from).collect::<Vec<_>>())
    };
    trace(&["--methods", "a.***"]).refused("H0111", &["a.***", "more than two"]);
    for option in ["--text", "--limit"] {
        trace(&[option, "5000"]).refused("H0111", &["1 to 1024"]);
    }
    trace(&["--plugin-settings", "[]"]).refused("H0105", &["not a JSON object"]);
    for mode in ["--aggregate", "--count"] {
        let ran = trace(&[mode, "--flame-graph", "f.svg"]);
        ran.refused("H0636", &["f.svg needs single calls"]);
        assert!(
            !ran.error.contains("penJDK"),
            "java was started: {}",
            ran.error
        );
    }
    let ran = run([
        "coverage",
        "--classes",
        "nosuch.jar",
        "--",
        "java",
        "-version",
    ]);
    ran.refused("H0612", &["nosuch.jar"]);
    assert!(
        !ran.error.contains("penJDK"),
        "java was started: {}",
        ran.error
    );
}
