//! Events: values that a plugin chooses, at each visit of a place. The values of the program follow from their numbers
//! (`tests/java/events/Events.java`).

use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::workspace::classhook;
use e2e_tests::{javac, scratch, workspace};
use probes::events::{Moment, SpanInfo, Trace, Value};
use std::path::{Path, PathBuf};

/// Writes a `classhook.toml` for `tests/plugins/requests`, which requests every possible value.
fn settings(folder: &Path) -> PathBuf {
    let component = workspace::target("bundled/tests/requests.wasm");
    assert!(component.is_file(), "run `cargo xtask plugins`");
    let file = folder.join("classhook.toml");
    let text = format!(
        "[agent]\noutput = {folder:?}\non-error = \"strict\"\n\n[[plugin]]\nuse = {component:?}\n\
         grant = [\"helpers\", \"probes\", \"raw\", \"rewrite\", \"structure\"]\nselect = [\"Events\"]\n\n\
         [plugin.config]\nrequest = \"events\"\n"
    );
    std::fs::write(&file, text).expect("the test's folder is writable");
    file
}

fn record(jdk: &Jdk, folder: &Path) -> Trace {
    let source = workspace::test_file("java/events/Events.java");
    let options = ["--release", "11", "-g"];
    let classes = javac::compile(&jdks::newest(), &[&source], folder, &options);
    let options = format!("config={}", settings(folder).display());
    let run = Java::new(jdk)
        .options(&["-Xverify:all", "-Xcheck:jni"])
        .class_path(&[&classes])
        .agent(Some(&options))
        .main("Events")
        .run();
    run.assert_success();
    assert_eq!(run.stdout, "79800\n179700\nrefused\n/ by zero\n");
    let files = javac::files_with_extension(folder, "events");
    Trace::read(files.first().expect("an event file")).expect("a readable one")
}

/// Returns the events of a method that have a value of this name, in the order of time.
fn events<'t>(trace: &'t Trace, method: &str, value: &str) -> Vec<(&'t SpanInfo, &'t Moment)> {
    let wanted =
        |place: &SpanInfo| place.method == method && place.shown.iter().any(|name| name == value);
    let moments = trace.moments.iter();
    let mut found: Vec<_> = moments
        .map(|moment| (&trace.places[&moment.place], moment))
        .filter(|(place, _)| wanted(place))
        .collect();
    found.sort_by_key(|(_, moment)| moment.nanos);
    found
}

fn texts(moment: &Moment) -> Vec<String> {
    let values = moment.captures.iter();
    values.map(|capture| capture.value.to_string()).collect()
}

#[test]
fn every_value_of_every_event_is_recorded_and_events_beyond_the_limit_are_counted() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let trace = record(&jdk, folder.path());
        assert!(trace.lost.is_none(), "{:?}", trace.lost);
        assert!(trace.calls.is_empty() && trace.aggregates.is_empty());
        every_call_is_there(&trace);
        variables_are_those_of_the_moment(&trace);
        values_have_their_types(&trace);
        limit_is_kept(&trace);
        reports_show_events(folder.path());
    }
}

fn every_call_is_there(trace: &Trace) {
    let calls = events(trace, "calls", "operand1");
    assert_eq!(calls.len(), 1_000);
    let threads: Vec<&str> = (calls.iter())
        .map(|(_, moment)| trace.threads[&moment.thread].name.as_str())
        .collect();
    assert!(threads[..400].iter().all(|name| *name == "other"));
    assert!(threads[400..].iter().all(|name| *name == "main"));
    let mut total = 0;
    for (number, (place, moment)) in (0..600).zip(&calls[400..]) {
        total += number;
        let shown = ["operand0", "operand1", "operand2", "closes", "given"];
        assert_eq!(place.shown, shown);
        let values = texts(moment);
        assert!(values[0].starts_with("Events@"), "{values:?}");
        let expected = [
            number.to_string(),
            format!("\"number {number}\""),
            "true".to_owned(),
            total.to_string(),
        ];
        assert_eq!(values[1..], expected);
    }
    assert_eq!(events(trace, "add", "returned").len(), 1_000);
}

/// Asserts local variables in front of each call: by name, and by slot.
fn variables_are_those_of_the_moment(trace: &Trace) {
    let calls = events(trace, "calls", "before");
    assert_eq!(calls.len(), 1_000);
    let mut total = 0;
    for (number, (place, moment)) in (0..600).zip(&calls[400..]) {
        assert_eq!(place.shown, ["number", "before", "object"]);
        let values = texts(moment);
        assert_eq!(values[..2], [number.to_string(), total.to_string()]);
        assert!(values[2].starts_with("Events@"), "{values:?}");
        total += number;
    }
    // Each slot was requested as each type in front of each instruction, and the verifier accepted the granted ones.
    let tried = |method| events(trace, method, "tried").into_iter();
    let by: Vec<String> = tried("stopped").flat_map(|(_, it)| texts(it)).collect();
    assert_eq!(by, ["1", "1", "1", "1", "0", "0", "0"]);
    assert!(tried("numbers").count() > 7 && tried("main").count() > 10);
}

fn values_have_their_types(trace: &Trace) {
    let [(place, numbers)] = events(trace, "numbers", "argument6")[..] else {
        panic!("expected one event");
    };
    assert!(place.line > 0, "{place:?}");
    let expected = ["\"numbers\"", "-1", "'c'", "-2", "true", "3", "1.5", "2.5"];
    assert_eq!(texts(numbers), expected);
    let returned = events(trace, "numbers", "returned");
    assert_eq!(texts(returned[0].1), ["104.0"]);
    for (method, class) in [
        ("refuse", "java/lang/IllegalStateException"),
        ("stopped", "java/lang/ArithmeticException"),
    ] {
        let [(_, thrown)] = events(trace, method, "thrown")[..] else {
            panic!("expected one event of {method}");
        };
        let is_class = |value: &Value| matches!(value, Value::Object { class: found, .. } if **found == *class);
        assert!(is_class(&thrown.captures[0].value), "{thrown:?}");
        assert_eq!(thrown.captures[1].value, Value::Long(7));
    }
    assert_eq!(texts(events(trace, "refuse", "argument0")[0].1)[1], "null");
}

/// Asserts the limit of 100 entries of `add` in each second of the clock. Any 201 entries take at least three seconds.
fn limit_is_kept(trace: &Trace) {
    let entries = events(trace, "add", "argument1");
    let at = |index: usize| entries[index].1.nanos;
    let mut beyond = (200..entries.len()).map(|last| at(last) - at(last - 200));
    assert!(beyond.all(|nanos| nanos > 1_000_000_000));
    assert_eq!(entries.len() as u64 + trace.lost.over_rate, 1_000);
    let (place, first) = entries[0];
    assert_eq!(trace.reached[&place.id], 1_000);
    // At most ten bytes of a text are recorded.
    assert_eq!(texts(first)[3], "\"number 0\"");
    assert_eq!(
        place.event.as_ref().and_then(|event| event.per_second),
        Some(100)
    );
}

fn reports_show_events(folder: &Path) {
    let report = |words: &[&str]| {
        let run = Java::program(classhook())
            .folder(folder)
            .arguments(&["report", ".", "--top", "2"])
            .arguments(words)
            .run();
        run.assert_success();
        run.stdout
    };
    let shown = report(&["--results-csv", "tables", "--perfetto", "time.json"]);
    assert!(shown.contains("requests: events"), "{shown}");
    assert!(
        shown.contains(" of 1,000 events: at most 100 a second of one place are kept\n"),
        "{shown}"
    );
    let time = std::fs::read_to_string(folder.join("time.json")).expect("written");
    let time: serde_json::Value = serde_json::from_str(&time).expect("JSON");
    let all = time["traceEvents"].as_array().expect("a list").iter();
    let instants: Vec<_> = all.filter(|event| event["ph"] == "i").collect();
    let last = |name: &str| {
        let mut found = instants.iter().rev();
        found
            .find(|event| event["args"]["operand1"] == name)
            .copied()
    };
    let last = last("599").expect("the last call");
    assert_eq!(last["args"]["given"], "179700");
    let lines = report(&["--json-lines", "-"]);
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let count = |lines: &mut dyn Iterator<Item = serde_json::Value>| {
        lines
            .filter(|line| line["event"] == "event" && line["values"]["given"].is_number())
            .count()
    };
    // The other rows are calls of `numbers` and `stopped`; the latter returns nothing.
    assert_eq!(count(&mut lines.into_iter()), 1_001);
}
