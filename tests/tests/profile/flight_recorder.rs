//! Recordings in the format of JDK Flight Recorder, read by the JDK's own `jfr`.

use crate::support::command::classhook;
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, scratch, workspace};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Numbers of events by kind, thread, class and stack.
type Counts = BTreeMap<(String, String, String, Vec<(String, i64)>), u64>;

fn jfr(jdk: &Jdk, words: &[&str], file: &Path) -> String {
    let jfr = Java::program(jdk.tool("jfr")).arguments(words);
    let run = jfr.argument(file).run();
    run.assert_success();
    run.stdout
}

/// Records `java …` with these kinds. Returns the rows of our own output, and the recording.
fn recorded(folder: &Path, kinds: &[&str], command: &[&str]) -> Vec<Value> {
    let [rows, file] = ["rows.jsonl", "all.jfr"].map(|name| folder.join(name));
    let [lines, recording] = [&rows, &file].map(|path| path.to_string_lossy());
    let files = ["--json-lines", &*lines, "--jfr", &*recording, "--"];
    let run = classhook(&[&["profile"][..], kinds, &files, command].concat());
    run.assert_success();
    assert!(
        !run.stdout.contains("in the JFR recording"),
        "{}",
        run.report()
    );
    let text = std::fs::read_to_string(&rows).expect("the file");
    let row = |line| serde_json::from_str(line).expect("a JSON object");
    text.lines().map(row).collect()
}

fn told(folder: &Path) -> String {
    let compiler = jdks::release(17).unwrap_or_else(jdks::newest);
    let source = workspace::test_file("java/profile/Told.java");
    let classes = javac::compile(&compiler, &[&source], folder, &["--release", "11"]);
    classes.to_string_lossy().into_owned()
}

/// Splits `com.acme.Store.find(Store.java:17)` into method and line.
fn place(text: &str) -> (String, i64) {
    let (method, place) = text.rsplit_once('(').expect("a place");
    let line = place.trim_end_matches(')').rsplit_once(':');
    let line = line.and_then(|(_, line)| line.parse().ok());
    (method.to_owned(), line.unwrap_or(-1))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().replace('/', ".")
}

/// Returns the counts of our own rows.
fn ours(rows: &[Value]) -> Counts {
    let mut counts = Counts::new();
    for row in rows {
        let (kind, key) = match row["kind"].as_str().expect("a kind") {
            "cpu" | "wall" => ("jdk.ExecutionSample", "samples"),
            "allocation" => ("jdk.ObjectAllocationSample", "samples"),
            "contended" => ("jdk.JavaMonitorEnter", "count"),
            "wait" => ("jdk.JavaMonitorWait", "count"),
            "parked" => ("jdk.ThreadPark", "count"),
            "exception" => ("jdk.JavaExceptionThrow", "count"),
            _ => continue,
        };
        let stack = row["stack"].as_array().expect("a stack").iter();
        let stack = stack.map(|frame| place(frame.as_str().expect("a frame")));
        let class = text(&row["class"]);
        let key_of = (
            kind.to_owned(),
            text(&row["thread"]),
            class,
            stack.collect(),
        );
        let count = row[key].as_u64().expect("a number");
        if count > 0 {
            *counts.entry(key_of).or_default() += count;
        }
    }
    counts
}

/// Returns the name of a class in a recording, in the form of our rows.
fn class_name(value: &Value) -> String {
    let name = text(&value["name"]);
    let element = name.trim_start_matches('[');
    let dimensions = name.len() - element.len();
    let element = match (dimensions, element) {
        (0, name) => name,
        (_, "Z") => "boolean",
        (_, "B") => "byte",
        (_, "C") => "char",
        (_, "S") => "short",
        (_, "I") => "int",
        (_, "J") => "long",
        (_, "F") => "float",
        (_, "D") => "double",
        (_, class) => class.trim_start_matches('L').trim_end_matches(';'),
    };
    element.to_owned() + &"[]".repeat(dimensions)
}

/// Returns the counts of a recording's events.
fn theirs(events: &[Value]) -> Counts {
    let mut counts = Counts::new();
    for event in events {
        let kind = event["type"].as_str().expect("a type");
        let values = &event["values"];
        let classes = ["objectClass", "monitorClass", "parkedClass", "thrownClass"];
        let class = classes.iter().find(|key| !values[**key].is_null());
        let class = class.map_or_else(String::new, |key| class_name(&values[*key]));
        let thread = match kind {
            "jdk.ExecutionSample" => &values["sampledThread"],
            _ => &values["eventThread"],
        };
        let frames = values["stackTrace"]["frames"].as_array();
        let frames = frames.into_iter().flatten().map(|frame| {
            let method = &frame["method"];
            let name = text(&method["type"]["name"]) + "." + &text(&method["name"]);
            (name, frame["lineNumber"].as_i64().expect("a line"))
        });
        let thread = text(&thread["javaName"]);
        let key = (kind.to_owned(), thread, class, frames.collect());
        *counts.entry(key).or_default() += 1;
    }
    counts
}

/// Asserts that each stack and count of a recording is that of our own rows, as this JDK reads it.
fn compare(reader: &Jdk, rows: &[Value], file: &Path) {
    let kinds = "jdk.ExecutionSample,jdk.ObjectAllocationSample,jdk.JavaMonitorEnter,jdk.JavaMonitorWait,jdk.ThreadPark,jdk.JavaExceptionThrow";
    let words = [
        "print",
        "--json",
        "--stack-depth",
        "2048",
        "--events",
        kinds,
    ];
    let printed: Value = serde_json::from_str(&jfr(reader, &words, file)).expect("JSON");
    let events = printed["recording"]["events"].as_array().expect("events");
    let (ours, theirs) = (ours(rows), theirs(events));
    assert!(!ours.is_empty());
    assert_eq!(ours, theirs, "as {reader} reads it");
    let summary = jfr(reader, &["summary"], file);
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for ((kind, ..), count) in &ours {
        *kinds.entry(kind).or_default() += count;
    }
    let collections = rows.iter().filter(|row| row["kind"] == "collection");
    kinds.insert("jdk.GarbageCollection", collections.count() as u64);
    for (kind, count) in kinds {
        let mut lines = summary.lines().map(str::split_whitespace);
        let line = lines.find_map(|mut words| (words.next() == Some(kind)).then(|| words.next()));
        let found = line.flatten().and_then(|count| count.parse::<u64>().ok());
        assert_eq!(found, Some(count), "{kind} as {reader} reads it: {summary}");
    }
}

/// Returns the JDKs whose `jfr` reads recordings.
fn readers() -> Vec<Jdk> {
    jdks::main_two()
}

#[test]
fn stacks_and_counts_of_a_flight_recording_equal_those_of_our_own_rows() {
    let jdks = jdks::main_three().into_iter().chain(jdks::release(11));
    for jdk in jdks {
        let folder = scratch();
        let (java, classes) = (jdk.tool("java"), told(folder.path()));
        let java = java.to_string_lossy();
        let kinds = [
            "--cpu",
            "samples",
            "--interval",
            "5ms",
            "--alloc",
            "sites",
            "--monitor",
        ];
        let kinds = [&kinds[..], &["--exceptions", "--gc"]].concat();
        let rows = recorded(folder.path(), &kinds, &[&java, "-cp", &classes, "Told"]);
        let file = folder.path().join("all.jfr");
        for reader in readers() {
            compare(&reader, &rows, &file);
            let words = ["print", "--json", "--events", "jdk.ObjectAllocationSample"];
            let printed: Value = serde_json::from_str(&jfr(&reader, &words, &file)).expect("JSON");
            let events = printed["recording"]["events"].as_array().expect("events");
            let weights = events.iter().map(|event| &event["values"]["weight"]);
            let theirs: f64 = weights.map(|it| it.as_f64().expect("bytes")).sum();
            let allocated = rows.iter().filter(|row| row["kind"] == "allocation");
            let bytes = allocated.map(|row| row["bytes"].as_f64().expect("bytes").round());
            let ours: f64 = bytes.sum();
            assert!((ours - theirs).abs() < 0.5, "{ours} and {theirs} on {jdk}");
            let words = [
                "print",
                "--events",
                "jdk.JVMInformation,jdk.JavaMonitorEnter",
            ];
            let printed = jfr(&reader, &words, &file);
            assert!(printed.contains("monitorClass = Told$Gate"), "{printed}");
            assert!(
                printed.contains("Told.enter(Told$Gate) line: "),
                "{printed}"
            );
            assert!(printed.contains("startTime = "), "{printed}");
        }
    }
}

/// Wall-clock samples have the states of threads, also on JDK 8.
#[test]
fn samples_by_the_wall_clock_are_events_with_the_state_of_the_thread() {
    let jdks = jdks::main_two().into_iter().chain(jdks::eight());
    for jdk in jdks {
        let folder = scratch();
        let compiler = jdks::release(17).unwrap_or_else(jdks::newest);
        let source = workspace::test_file("java/profile/Parked.java");
        let release = if jdk.feature == 8 { "8" } else { "11" };
        let options = ["--release", release];
        let classes = javac::compile(&compiler, &[&source], folder.path(), &options);
        let (java, classes) = (jdk.tool("java"), classes.to_string_lossy().into_owned());
        let java = java.to_string_lossy();
        let command = [&*java, "-cp", &classes, "Parked"];
        let rows = recorded(folder.path(), &["--wall", "--interval", "2ms"], &command);
        let file = folder.path().join("all.jfr");
        for reader in readers() {
            compare(&reader, &rows, &file);
            let words = ["print", "--events", "jdk.ExecutionSample"];
            let printed = jfr(&reader, &words, &file);
            // The last sample takes all threads if that is cheap.
            let state = if jdk.feature == 8 {
                "STATE_"
            } else {
                "STATE_PARKED"
            };
            let state = format!("state = \"{state}");
            assert!(printed.contains(&state), "{jdk}: {printed}");
        }
    }
}

/// Each JVM of a command has a chunk. A recording that is converted later has no times, and the output says so.
#[test]
fn recordings_of_several_jvms_are_chunks_of_one_file() {
    let (jdk, folder) = (jdks::newest(), scratch());
    let (java, classes) = (jdk.tool("java"), told(folder.path()));
    let line = format!(
        "{0} -cp {classes} Told && {0} -cp {classes} Told",
        java.display()
    );
    let kept = folder.path().join("kept");
    let output = kept.to_string_lossy();
    let kinds = ["--monitor", "--gc", "--output", &output];
    let rows = recorded(folder.path(), &kinds, &["sh", "-c", &line]);
    let file = folder.path().join("all.jfr");
    compare(&jdk, &rows, &file);
    let summary = jfr(&jdk, &["summary"], &file);
    assert!(summary.contains("Chunks: 2"), "{summary}");
    let again = folder.path().join("again.jfr");
    let again = again.to_string_lossy();
    let files = javac::files_with_extension(&kept, "jvm-events");
    let recording = files[0].to_string_lossy();
    let run = classhook(&["profile", &recording, "--jfr", &again]);
    run.assert_success();
    assert!(
        !run.stdout.contains("times were not kept"),
        "{}",
        run.report()
    );
    let without_times = folder.path().join("without-times");
    let output = without_times.to_string_lossy();
    let command = [&*java.to_string_lossy(), "-cp", &*classes, "Told"].map(str::to_owned);
    let command = command.each_ref().map(String::as_str);
    let words = ["profile", "--monitor", "-o", &*output, "--"];
    classhook(&[&words[..], &command].concat()).assert_success();
    let files = javac::files_with_extension(&without_times, "jvm-events");
    let recording = files[0].to_string_lossy();
    let lines = folder.path().join("again.jsonl");
    let written = ["--jfr", &*again, "--json-lines", &*lines.to_string_lossy()].map(str::to_owned);
    let written = written.each_ref().map(String::as_str);
    let run = classhook(&[&["profile", &*recording][..], &written].concat());
    run.assert_success();
    assert!(
        run.stdout.contains("without recorded times"),
        "{}",
        run.report()
    );
    let text = std::fs::read_to_string(&lines).expect("the file");
    let row = |line| serde_json::from_str(line).expect("a JSON object");
    let rows: Vec<Value> = text.lines().map(row).collect();
    compare(&jdk, &rows, Path::new(&*again));
    let run = classhook(&[
        "profile",
        "--jni-refs",
        "--jfr",
        &again,
        "--",
        &java.to_string_lossy(),
        "-version",
    ]);
    run.assert_exit(3)
        .assert_stderr("error[H0610]")
        .assert_stderr("no recorded event is an event of JFR");
}
