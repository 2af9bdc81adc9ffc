//! Memory of reports of long event files.

mod support {
    pub mod command;
}

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use probes::Meta;
use probes::events::{
    Aggregate, Call, Capture, CaptureSource, EventInfo, EventWriter, Moment, Outcome, SpanInfo,
    SpanMode, TASKS, TableRow, ThreadInfo, Value, bucket_of,
};
use support::command::Ran;
use trace::numbers::thousands;

/// The length of an event file, and the memory of a command that reads it.
#[derive(Clone, Copy)]
struct Size {
    /// Calls of `work` in the file.
    calls: u64,
    /// Memory that the command may allocate, in KiB.
    data: u64,
}

/// The calls of this file would need three times this memory.
const LONG: Size = Size {
    calls: 2_500_000,
    data: 128 << 10,
};
/// An event file of a gigabyte.
const VERY_LONG: Size = Size {
    calls: 100_000_000,
    data: 256 << 10,
};

/// Returns the length for this run. `CLASSHOOK_ROTATION=all` selects the largest.
fn size() -> Size {
    match std::env::var("CLASSHOOK_ROTATION") {
        Ok(rotation) if rotation == "all" => VERY_LONG,
        _ => LONG,
    }
}

/// Writes an event file: `handle` on 50 threads, with ten calls of `work` each, and an event in one of a hundred.
fn long(folder: &Path, calls: u64, meta: &Meta) -> PathBuf {
    let mut writer = EventWriter::create(folder, meta).unwrap();
    for (id, method) in [(0, "handle"), (1, "work")] {
        writer.span(&span(id, method));
    }
    writer.span(&SpanInfo {
        plugin: "log".to_owned(),
        shown: vec!["statement".to_owned()],
        event: Some(EventInfo::default()),
        ..span(2, "work")
    });
    for id in 0..50 {
        writer.thread(&ThreadInfo {
            id,
            name: format!("worker-{id}"),
            is_virtual: false,
        });
    }
    let mut sums = [Aggregate::default(), Aggregate::default()];
    for request in 0..calls / 10 {
        let (thread, begin) = (request % 50, request * 1_000);
        for number in 0..10 {
            let start = begin + 10 + number * 50;
            record(
                &mut writer,
                &mut sums[1],
                call(thread, 1, start, start + 40),
            );
        }
        if request % 10 == 0 {
            let text = Value::Text {
                text: "select".to_owned(),
                length: 6,
            };
            let captures = vec![Capture {
                source: CaptureSource::Shown(0),
                value: text,
            }];
            let moment = Moment {
                thread,
                place: 2,
                nanos: begin + 15,
                captures: captures.into(),
            };
            writer.moment(moment, false);
        }
        record(
            &mut writer,
            &mut sums[0],
            call(thread, 0, begin, begin + 900),
        );
        if request % 1_000 == 0 {
            writer.flush().unwrap();
        }
    }
    let [handle, work] = &sums;
    writer.aggregates([(0, handle), (1, work)]);
    writer.complete().unwrap();
    writer.path().to_owned()
}

fn span(id: u32, method: &str) -> SpanInfo {
    SpanInfo {
        id,
        class: "com/acme/Server".to_owned(),
        method: method.to_owned(),
        descriptor: "()V".to_owned(),
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

fn record(writer: &mut EventWriter, sums: &mut Aggregate, call: Call) {
    let nanos = call.end - call.start;
    sums.count += 1;
    sums.total += nanos;
    sums.own += nanos;
    (sums.min, sums.max) = (nanos, nanos);
    sums.histogram.add(bucket_of(nanos), 1);
    writer.call(&call, false);
}

/// Runs the command with a memory limit in KiB. Without `is_read`, standard output is discarded.
fn bounded(data: u64, words: &[&str], is_read: bool) -> Ran {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit -d {data} && exec \"$@\""), "sh"])
        .arg(env!("CARGO_BIN_EXE_classhook"))
        .args(words)
        .env("RAYON_NUM_THREADS", "2");
    if !is_read {
        command.stdout(Stdio::null());
    }
    command.output().unwrap().into()
}

#[test]
fn reports_of_a_long_event_file_take_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let Size { calls, data } = size();
    let bounded = |words: &[&str], is_read| bounded(data, words, is_read);
    let file = long(folder.path(), calls, &Meta::default());
    let file = file.to_string_lossy();
    let ran = bounded(&["report", &file], true).well();
    let summed = format!("{} calls of 2 traced methods", thousands(calls / 10 * 11));
    assert!(ran.out.contains(&summed), "{}", ran.out);
    for option in ["--json-lines", "--perfetto", "--results-json-lines"] {
        let ran = bounded(&["report", &file, option, "-"], false);
        assert_eq!(ran.code, Some(0), "{option}: {}", ran.error);
    }
    let compact = bounded(&["report", &file, "--json-lines", "-", "--compact"], false);
    assert_eq!(compact.code, Some(0), "{}", compact.error);
    // Each call of `handle` is a slow one.
    let trees = folder.path().join("slow.jsonl");
    let slow = ["report", &file, "--slow", "900ns", "--slow-limit", "2"];
    let lines = ["--slow-json-lines", &trees.to_string_lossy()];
    let slow = bounded(&[&slow[..], &lines].concat(), true);
    assert_eq!(slow.code, Some(0), "{}", slow.error);
    let shown = format!("2 of {} calls that took 900 ns", calls / 10);
    assert!(slow.error.contains(&shown), "{}", slow.error);
    assert_eq!(slow.out.matches("com.acme.Server.handle\n").count(), 2);
    let trees = fs::read_to_string(&trees).unwrap();
    let trees = trees
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let trees: Vec<serde_json::Value> = trees.collect();
    assert_eq!(trees.len(), 2);
    for tree in trees {
        let call = &tree["call"];
        assert_eq!(
            (&call["method"], &call["duration"]),
            (&"handle".into(), &900.into())
        );
        assert_eq!(call["within"].as_array().map(Vec::len), Some(10), "{tree}");
        assert_eq!(call["within"][9]["duration"], 40);
    }
    let [svg, folded, csv] = ["f.svg", "f.txt", "csv"].map(|name| folder.path().join(name));
    let at = |path: &Path| path.to_string_lossy().into_owned();
    let (svg, folded) = (at(&svg), at(&folded));
    let words = ["report", &file, "--flame-graph", &svg, "--folded", &folded];
    bounded(&[&words[..], &["--results-csv", &at(&csv)]].concat(), true).well();
    let (own, below) = (calls / 10 * 500, calls * 40);
    let name = "com.acme.Server";
    let expected = format!("{name}.handle {own}\n{name}.handle;{name}.work {below}\n");
    assert_eq!(fs::read_to_string(&folded).unwrap(), expected);
    let rows = fs::read_to_string(csv.join("log-events.csv")).unwrap();
    assert_eq!(rows.lines().count() as u64, 1 + calls / 100);
    let tables = ["t.csv", "t.json", "t.html"].map(|name| at(&folder.path().join(name)));
    let [csv, json, html] = &tables;
    let words = ["report", &file, "--table-csv", csv, "--table-json", json];
    bounded(&[&words[..], &["--results-html", html]].concat(), true).well();
    assert!(fs::read_to_string(csv).unwrap().contains("com.acme.Server"));
    let against = ["report", &file, "--against", &file, "--folded", "-"];
    let ran = bounded(&[&against[..], &["--flame-graph", &svg]].concat(), true);
    let expected =
        format!("{name}.handle {own} {own}\n{name}.handle;{name}.work {below} {below}\n");
    assert_eq!(ran.out, expected, "{}", ran.error);
    // The same file twice: sums and stacks of several JVMs are merged.
    let both = ["report", &file, &file, "--folded", "-"];
    let ran = bounded(&both, true);
    assert!(
        ran.out.contains(&format!("handle {}\n", 2 * own)),
        "{}",
        ran.out
    );
}

const THREADS: u64 = 1_000_000;

/// Writes an event file with a million threads, and an event in one of a thousand.
fn of_threads(folder: &Path) -> PathBuf {
    let mut writer = EventWriter::create(folder, &Meta::default()).unwrap();
    writer.span(&span(0, "handle"));
    writer.span(&SpanInfo {
        plugin: "log".to_owned(),
        event: Some(EventInfo::default()),
        ..span(1, "handle")
    });
    let mut sums = Aggregate::default();
    for id in 1..=THREADS {
        writer.thread(&ThreadInfo {
            id,
            name: format!("request {id} of a client that waits for its answer"),
            is_virtual: false,
        });
        let call = call(id, 0, id * 1_000, id * 1_000 + 40);
        record(&mut writer, &mut sums, call);
        if id % 1_000 == 0 {
            writer.moment(
                Moment {
                    thread: id,
                    place: 1,
                    nanos: id * 1_000 + 1,
                    captures: Vec::new().into(),
                },
                false,
            );
            writer.flush().unwrap();
        }
    }
    writer.aggregates([(0, &sums)]);
    writer.complete().unwrap();
    writer.path().to_owned()
}

/// A program starts a thread with a name for each request.
#[test]
fn names_of_a_million_threads_take_little_memory_and_the_missing_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let file = of_threads(folder.path());
    let file = file.to_string_lossy();
    let bounded = |words: &[&str]| bounded(LONG.data, &[&["report", &file], words].concat(), true);
    let all = format!("{} calls of 1 traced method", thousands(THREADS));
    for words in [
        &["--results-csv", &at("csv")][..],
        &["--flame-graph", &at("f.svg"), "--folded", &at("f.txt")],
        &["--perfetto", &at("perfetto")],
        &["--json-lines", &at("compact"), "--compact"],
        &["--json-lines", &at("lines")],
    ] {
        let ran = bounded(words);
        assert_eq!(ran.code, Some(3), "{words:?}: {}", ran.error);
        assert!(ran.error.contains("error[H0651]"), "{}", ran.error);
        assert!(ran.error.contains(" thread names: "), "{}", ran.error);
        assert!(ran.out.contains(&all), "{}", ran.out);
        assert!(
            ran.out.contains(" thread names shown as numbers: "),
            "{}",
            ran.out
        );
    }
    let lines = fs::read_to_string(at("lines")).unwrap();
    assert!(
        lines.contains(r#""thread_name":"request 1 of a client"#),
        "the first are kept"
    );
    assert!(lines.contains(&format!(r#""thread_name":"thread-{THREADS}""#)));
    let last = lines.lines().next().unwrap();
    assert!(last.contains(r#""thread_names":"#), "{last}");
}

/// Each thread has one call, of which nothing says whether it has a caller.
#[test]
fn trees_of_a_million_threads_take_little_memory_and_the_missing_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let trees = folder.path().join("trees");
    let lines = ["--slow-json-lines", &trees.to_string_lossy()];
    let file = of_threads(folder.path());
    let file = file.to_string_lossy();
    for (least, found) in [("1us", 0), ("40ns", THREADS)] {
        let slow = ["report", &file, "--slow", least, "--slow-limit", "2"];
        let ran = bounded(LONG.data, &[&slow[..], &lines].concat(), true);
        assert_eq!(ran.code, Some(3), "{least}: {}", ran.error);
        let shown = fs::read_to_string(&trees).unwrap().lines().count() as u64;
        assert_eq!(shown, found.min(2), "{least}: {}", ran.error);
        let all = match ran.error.split_once(" calls that took ") {
            Some((before, _)) => number_at_the_end_of(before),
            None => 0,
        };
        assert_eq!(all, found, "{least}: {}", ran.error);
        // Names of threads are missing, and no call is: no thread has a second one.
        let incomplete = "not all trees of slow calls are complete";
        assert!(!ran.error.contains(incomplete), "{least}: {}", ran.error);
    }
}

/// Writes an event file of these calls: the n-th of `call`, and after its entry the step of a task.
fn of_calls(folder: &Path, calls: u64, call: impl Fn(u64) -> Call, submits: bool) -> PathBuf {
    let mut writer = EventWriter::create(folder, &Meta::default()).unwrap();
    writer.span(&SpanInfo {
        shown: vec!["text".to_owned()],
        ..span(0, "handle")
    });
    task_places(&mut writer);
    for number in 0..calls {
        let call = call(number);
        if submits {
            step(&mut writer, 2, call.thread, call.start, number);
        }
        writer.call(&call, false);
        if number % 1_000 == 0 {
            writer.flush().unwrap();
        }
    }
    // The last thread begins the first task.
    if submits {
        let (thread, now) = (2 * THREADS, 1 << 40);
        step(&mut writer, 3, thread, now, 0);
        writer.call(&self::call(thread, 0, now + 1, now + 2), false);
    }
    writer.complete().unwrap();
    writer.path().to_owned()
}

/// Checks that each output of single calls takes at most 256 MiB, and that what one lacks is reported.
fn assert_bounded(file: &Path, folder: &Path, is_whole: impl Fn(&str) -> bool) {
    let at = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let file = file.to_string_lossy();
    for (name, words) in [
        (
            "stacks",
            &["--flame-graph", &at("f.svg"), "--folded", &at("f")][..],
        ),
        ("perfetto", &["--perfetto", &at("perfetto")]),
        ("compact", &["--json-lines", &at("compact"), "--compact"]),
        ("lines", &["--json-lines", &at("lines")]),
        ("slow", &["--slow", "1ns", "--slow-limit", "2"]),
        ("slow", &["--slow", "1h", "--slow-json-lines", &at("slow")]),
    ] {
        let ran = bounded(VERY_LONG.data, &[&["report", &file], words].concat(), true);
        match is_whole(name) {
            true => assert_eq!(ran.code, Some(0), "{words:?}: {}", ran.error),
            false => {
                assert_eq!(ran.code, Some(3), "{words:?}: {}", ran.error);
                assert!(ran.error.contains("error[H0651]"), "{}", ran.error);
            }
        }
    }
}

/// Each of a million threads has a call that has not ended.
#[test]
fn a_million_calls_that_never_end_take_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let never_ending = |number| Call {
        outcome: Outcome::Open,
        ..call(number + 1, 0, number * 1_000, number * 1_000 + 500)
    };
    let file = of_calls(folder.path(), THREADS, never_ending, false);
    assert_bounded(&file, folder.path(), |name| name != "slow");
}

/// A million virtual threads wait for the same event, each in a call.
#[test]
fn a_million_overlapping_calls_take_little_memory_and_unknown_callers_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let long = |number| call(number + 1, 0, number * 1_000, (1 << 39) + number);
    let file = of_calls(folder.path(), THREADS, long, false);
    assert_bounded(&file, folder.path(), |name| name != "slow");
    let file = of_calls(folder.path(), THREADS, long, true);
    assert_bounded(&file, folder.path(), |_| false);
}

/// Values are most of the file: a gigabyte in the largest run.
#[test]
fn long_values_of_many_calls_take_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let with_text = |number| Call {
        captures: vec![Capture {
            source: CaptureSource::Shown(0),
            value: Value::Text {
                text: format!("{number:01000}"),
                length: 1_000,
            },
        }],
        ..call(number % 50, 0, number * 1_000, number * 1_000 + 40_000)
    };
    let calls = (size().calls / 25).min(THREADS);
    let file = of_calls(folder.path(), calls, with_text, false);
    assert!(fs::metadata(&file).unwrap().len() > calls * 1_000);
    assert_bounded(&file, folder.path(), |_| true);
}

/// A thread has a million calls within each other, each with a value.
#[test]
fn a_million_nested_calls_take_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let nested = |number| {
        let text = format!("the argument of call {number}");
        Call {
            captures: vec![Capture {
                source: CaptureSource::Shown(0),
                value: Value::Text {
                    length: text.len() as u32,
                    text,
                },
            }],
            ..call(1, 0, number, 4 * THREADS - number)
        }
    };
    let file = of_calls(folder.path(), THREADS, nested, false);
    assert_bounded(&file, folder.path(), |_| true);
    let file = of_calls(folder.path(), THREADS, nested, true);
    assert_bounded(&file, folder.path(), |_| false);
}

/// Returns the number, with commas, at the end of a text.
fn number_at_the_end_of(text: &str) -> u64 {
    let digits = text.rsplit(' ').next().unwrap();
    digits.replace(',', "").parse().unwrap()
}

/// A step of the task of this number.
fn step(writer: &mut EventWriter, place: u32, thread: u64, nanos: u64, task: u64) {
    let value = Value::Object {
        class: "a/Task".into(),
        identity: task as u32,
    };
    let captures = vec![Capture {
        source: CaptureSource::Shown(0),
        value,
    }];
    let moment = Moment {
        thread,
        place,
        nanos,
        captures: captures.into(),
    };
    writer.moment(moment, false);
}

/// Writes the places of steps of tasks: 2 to 4 for submissions, begins and ends.
fn task_places(writer: &mut EventWriter) {
    for (id, name) in [(2, "submitted"), (3, "begun"), (4, "ended")] {
        writer.span(&SpanInfo {
            shown: vec!["task".to_owned()],
            row: Some(TableRow {
                table: TASKS.to_owned(),
                cells: vec![name.to_owned()],
                ..TableRow::default()
            }),
            event: Some(EventInfo::default()),
            ..span(id, "run")
        });
    }
}

/// `handle` on one of 50 threads submits a task, and one of 50 other threads calls `work` for it.
#[test]
fn tasks_of_a_long_event_file_are_followed_in_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = EventWriter::create(folder.path(), &Meta::default()).unwrap();
    for (id, method) in [(0, "handle"), (1, "work")] {
        writer.span(&span(id, method));
    }
    task_places(&mut writer);
    let (calls, data) = (size().calls / 5, size().data);
    for number in 0..calls {
        let (thread, begin) = (number % 50, number * 100_000);
        step(&mut writer, 2, thread, begin + 10, number);
        writer.call(&call(thread, 0, begin, begin + 20), false);
        // The task waits until a hundred others were submitted.
        let (thread, begin) = (100 + number % 50, begin + 10_000_000);
        step(&mut writer, 3, thread, begin + 30, number);
        writer.call(&call(thread, 1, begin + 31, begin + 71), false);
        step(&mut writer, 4, thread, begin + 72, number);
        if number % 1_000 == 0 {
            writer.flush().unwrap();
        }
    }
    writer.complete().unwrap();
    let file = writer.path().to_string_lossy().into_owned();
    let bounded = |words: &[&str], is_read| bounded(data, words, is_read);
    let ran = bounded(&["report", &file, "--folded", "-"], true);
    let name = "com.acme.Server";
    let (own, below) = (calls * 20, calls * 40);
    let expected = format!("{name}.handle {own}\n{name}.handle;{name}.work {below}\n");
    assert_eq!((ran.out, ran.code), (expected, Some(0)), "{}", ran.error);
    for option in ["--json-lines", "--perfetto"] {
        let ran = bounded(&["report", &file, option, "-"], false);
        assert_eq!(ran.code, Some(0), "{option}: {}", ran.error);
    }
    let slow = ["report", &file, "--slow", "20ns", "--slow-limit", "1"];
    let slow = bounded(&slow, true);
    assert_eq!(slow.code, Some(0), "{}", slow.error);
    let tree = slow.out.split("\n\n").next().unwrap();
    assert!(
        tree.contains("└ com.acme.Server.work  [on thread-100, "),
        "{tree}"
    );
    assert_eq!(slow.error.matches("calls that took 20 ns").count(), 1);
}

/// Returns the value of an option of the agent from `JAVA_TOOL_OPTIONS`.
fn agent_option(name: &str) -> Option<String> {
    let all = std::env::var("JAVA_TOOL_OPTIONS").ok()?;
    let options = all.split(',');
    let mut values = options.filter_map(|option| option.split_once('='));
    let found = values.find(|(key, _)| key.rsplit('=').next() == Some(name));
    found.map(|(_, value)| value.to_owned())
}

/// Not a test of its own: the program that [`live_outputs_of_a_trace_take_little_memory`] traces, in place of a JVM.
#[test]
fn program_that_records_as_an_agent_does() {
    let Some(run) = agent_option("run") else {
        return;
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let meta = Meta {
        run,
        pid: std::process::id(),
        start_ms: now.as_millis() as u64,
        ..Meta::default()
    };
    let output = std::env::var("TEST_OUTPUT").unwrap();
    fs::create_dir_all(&output).unwrap();
    long(Path::new(&output), size().calls, &meta);
}

/// Starts a receiver that discards all data, and returns its address.
fn receiver() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || take_all(stream.unwrap()));
        }
    });
    url
}

fn take_all(mut output: TcpStream) -> Option<()> {
    let mut input = BufReader::new(output.try_clone().ok()?);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if input.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(number) = line.strip_prefix("content-length:") {
                length = number.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        input.read_exact(&mut body).ok()?;
        let answer =
            "HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n";
        output.write_all(answer.as_bytes()).ok()?;
    }
}

/// The program records faster than calls can be sent.
#[test]
fn live_outputs_of_a_trace_take_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    // Each output has its own memory for pending data.
    let (calls, data) = (size().calls, VERY_LONG.data);
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (output, metrics, lines) = (path("out"), path("metrics"), path("lines"));
    let program = std::env::current_exe().unwrap();
    let url = receiver();
    let words = [
        "trace",
        "-o",
        &output,
        "--prometheus",
        &metrics,
        "--json-lines",
        &lines,
        "--compact",
        "--otlp",
        &url,
        "--otlp-protocol",
        "http/protobuf",
        "--interval",
        "1s",
        "--slow",
        "1s",
        "--",
        &program.to_string_lossy(),
        "--exact",
        "program_that_records_as_an_agent_does",
    ];
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit -d {data} && exec \"$@\""), "sh"])
        .arg(env!("CARGO_BIN_EXE_classhook"))
        .args(words)
        .env("RAYON_NUM_THREADS", "2")
        .env("TEST_OUTPUT", &output);
    let ran: Ran = command.output().unwrap().into();
    // Spans that did not fit are counted.
    assert!([Some(0), Some(3)].contains(&ran.code), "{}", ran.error);
    let summed = format!("{} calls of 2 traced methods", thousands(calls / 10 * 11));
    assert!(ran.out.contains(&summed), "{}{}", ran.out, ran.error);
    let metrics = fs::read_to_string(&metrics).unwrap();
    let expected = format!("method=\"work\",descriptor=\"()V\"}} {calls}\n");
    assert!(metrics.contains(&expected), "{metrics}");
    let lines = BufReader::new(fs::File::open(&lines).unwrap()).lines();
    let count = lines
        .filter(|line| line.as_ref().unwrap().starts_with("{\"c\""))
        .count();
    assert_eq!(count as u64, calls / 10 * 11);
}

/// A recursion as deep as a thread's stack allows, in a file of half a megabyte.
#[test]
fn deep_recursion_takes_little_memory_and_makes_short_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = EventWriter::create(folder.path(), &Meta::default()).unwrap();
    writer.span(&span(0, "handle"));
    let depth = 50_000;
    for number in (0..depth).rev() {
        writer.call(&call(1, 0, number, 3 * depth - number), false);
    }
    writer.complete().unwrap();
    let file = writer.path().to_string_lossy().into_owned();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (svg, folded, json, lines) = (path("f.svg"), path("f.txt"), path("t.json"), path("l"));
    let ran = bounded(
        LONG.data,
        &[
            "report",
            &file,
            "--flame-graph",
            &svg,
            "--folded",
            &folded,
            "--perfetto",
            &json,
            "--json-lines",
            &lines,
        ],
        true,
    );
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    let text = fs::read_to_string(&folded).unwrap();
    assert_eq!(text.lines().count(), 1_025);
    assert!(
        text.contains("(48,976 calls deeper than 1,024 frames, up to 50,000) "),
        "too deep"
    );
    assert!(
        fs::read_to_string(&svg)
            .unwrap()
            .contains("48,976 calls deeper")
    );
    assert_eq!(
        fs::read_to_string(&lines).unwrap().lines().count() as u64,
        1 + 2 * depth
    );
    let tree = bounded(LONG.data, &["report", &file, "--slow", "1ns"], true).well();
    assert!(
        tree.out.contains("… 49,967 more calls, up to "),
        "{}",
        tree.out
    );
    let options = ["report", &file, "--folded", "-", "--stack-depth", "3"];
    let cut = bounded(LONG.data, &options, true);
    assert_eq!(cut.out.lines().count(), 4, "{}", cut.out);
    let folded = bounded(
        LONG.data,
        &["report", &file, "--folded", "-", "--fold-recursion"],
        true,
    );
    assert_eq!(
        folded.out,
        format!("com.acme.Server.handle {}\n", 3 * depth)
    );
    let wrong = bounded(
        LONG.data,
        &["report", &file, "--folded", "-", "--stack-depth", "0"],
        true,
    );
    assert_eq!(wrong.code, Some(2), "{}", wrong.error);
}

/// Two recordings of which the later one is slower in one method.
#[test]
fn later_recording_is_drawn_as_the_difference_to_an_earlier_one() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = |name: &str, work: u64| {
        let folder = folder.path().join(name);
        fs::create_dir(&folder).unwrap();
        let mut writer = EventWriter::create(&folder, &Meta::default()).unwrap();
        writer.span(&span(0, "handle"));
        writer.span(&span(1, "work"));
        writer.call(&call(1, 1, 10, 10 + work), false);
        writer.call(&call(1, 0, 0, 20 + work), false);
        writer.complete().unwrap();
        folder.to_string_lossy().into_owned()
    };
    let (before, after) = (recorded("before", 100), recorded("after", 300));
    let svg = folder.path().join("f.svg").to_string_lossy().into_owned();
    let options = ["report", &after, "--against", &before];
    let ran = bounded(
        LONG.data,
        &[&options[..], &["--folded", "-", "--flame-graph", &svg]].concat(),
        true,
    );
    let (outer, inner) = ("com.acme.Server.handle", "com.acme.Server.work");
    assert_eq!(
        ran.out,
        format!("{outer} 20 20\n{outer};{inner} 100 300\n"),
        "{}",
        ran.error
    );
    let drawn = fs::read_to_string(&svg).unwrap();
    assert!(
        drawn.contains("against") && drawn.contains("red for an increase"),
        "{drawn}"
    );
    let ran = bounded(
        LONG.data,
        &[&options[..], &["--normalize", "--folded", "-"]].concat(),
        true,
    );
    assert_eq!(
        ran.out,
        format!("{outer} 53 20\n{outer};{inner} 266 300\n"),
        "{}",
        ran.error
    );
    bounded(LONG.data, &options, true).refused("H0663", &["--flame-graph"]);
    let nothing = ["report", &after, "--folded", "-", "--against", "/nowhere"];
    bounded(LONG.data, &nothing, true).refused("H0612", &["/nowhere"]);
}
