//! Kotlin's suspend functions: a call includes its suspensions, and is one call on any number of threads.

use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::Servant;
use e2e_tests::{artifacts, programs, scratch, workspace};
use probes::events::{Call, CaptureSource, Outcome, Trace, Value};
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use crate::support::traced::trace_of;

/// Returns the program's class path.
fn class_path(folder: &Path) -> Vec<PathBuf> {
    let source = workspace::test_file("java/trace/Suspending.kt");
    let classes = folder.join("classes");
    let libraries = ["kotlinx-coroutines"];
    programs::kotlinc(&jdks::newest(), &[source], &[], &libraries, &classes);
    let libraries = ["kotlin-stdlib", "kotlinx-coroutines"].map(artifacts::path);
    [vec![classes], libraries.to_vec()].concat()
}

fn program(jdk: &Jdk, folder: &Path, arguments: &[&str]) -> Java {
    Java::new(jdk)
        .all_compilers()
        .options(&["-Xverify:all", "-Xcheck:jni"])
        .class_path(&class_path(folder))
        .main("traced.SuspendingKt")
        .argument(folder.join("log"))
        .arguments(arguments)
}

/// A call in the program's own log.
#[derive(Debug)]
struct Logged {
    name: String,
    /// Number of the caller, or 0.
    caller: i32,
    within: u64,
    around: u64,
    how: String,
}

/// Returns the log by the numbers of calls.
fn logged(folder: &Path) -> BTreeMap<i32, Logged> {
    let text = std::fs::read_to_string(folder.join("log")).expect("the program wrote its log");
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [call, name, caller, within, around, how] = words[..] else {
            panic!("expected six words in the log, found {line:?}");
        };
        let logged = Logged {
            name: name.to_owned(),
            caller: caller.parse().expect("a number"),
            within: within.parse().expect("a number"),
            around: around.parse().expect("a number"),
            how: how.to_owned(),
        };
        (call.parse().expect("a number"), logged)
    };
    text.lines().map(line).collect()
}

/// Returns the calls of a trace by method and first argument.
fn recorded(trace: &Trace) -> HashMap<(&str, i32), &Call> {
    let mut calls = HashMap::new();
    for call in &trace.calls {
        let number = call
            .captures
            .iter()
            .find_map(|capture| match capture.value {
                Value::Int(number) if capture.source == CaptureSource::Argument(0) => Some(number),
                _ => None,
            });
        let name = trace.spans[&call.span].method.as_str();
        let number = number.unwrap_or(-1);
        let twice = calls.insert((name, number), call);
        assert!(
            twice.is_none() || call.outcome == Outcome::Open,
            "two calls of {name} with {number}: {call:?} {twice:?}"
        );
    }
    calls
}

/// Functions without a log, which would need a continuation of its own.
const UNLOGGED: [&str; 2] = ["passesAgain", "failsLater"];

/// Compares the recording with the program's own log.
fn compare(trace: &Trace, log: &BTreeMap<i32, Logged>) {
    assert!(trace.lost.is_none() && trace.complete, "{:?}", trace.lost);
    let calls = recorded(trace);
    for (number, logged) in log {
        let name = logged.name.as_str();
        let found = calls.get(&(name, *number));
        let found = found.unwrap_or_else(|| panic!("no call {number}: {logged:?}"));
        let expected = match logged.how.as_str() {
            "returned" => Outcome::Returned,
            thrown => Outcome::Threw(Some(thrown.replace('.', "/").into())),
        };
        assert_eq!(found.outcome, expected, "call {number}: {logged:?}");
        // Both use the same clock, with different numbers of nanoseconds a tick.
        let (lasted, slack) = (found.end - found.start, 2_000);
        assert!(
            lasted + lasted / 100 + slack >= logged.within
                && lasted <= logged.around + logged.around / 100 + slack,
            "call {number} lasted {lasted}: {logged:?}"
        );
        if logged.caller != 0 {
            let caller = &log[&logged.caller];
            let caller = calls[&(caller.name.as_str(), logged.caller)];
            assert_eq!(
                around(trace, found).map(|call| (call.span, call.start)),
                Some((caller.span, caller.start)),
                "the caller of {number}: {logged:?}"
            );
        }
    }
    let unlogged = calls.keys().filter(|(name, _)| UNLOGGED.contains(name));
    let ended = calls
        .iter()
        .filter(|((name, _), call)| *name != "<init>" && call.outcome != Outcome::Open);
    let ended: Vec<_> = ended.map(|(key, _)| key).collect();
    assert_eq!(ended.len(), log.len() + unlogged.count(), "{ended:?}");
    let open = calls
        .iter()
        .filter(|(_, call)| call.outcome == Outcome::Open);
    let open: Vec<&str> = open.map(|((name, _), _)| *name).collect();
    assert!(open.iter().all(|name| *name == "never"), "{open:?}");
}

/// Returns the innermost enclosing call on the same thread.
fn around<'t>(trace: &'t Trace, call: &Call) -> Option<&'t Call> {
    let same = trace.calls.iter().filter(|other| {
        other.thread == call.thread && other.start < call.start && other.end > call.end
    });
    same.max_by_key(|other| other.start)
}

const METHODS: [&str; 4] = [
    "--methods",
    "traced.Suspending.*",
    "--capture",
    "arguments,returned,thrown",
];

/// Runs `classhook trace` on the program, with all outputs.
fn traced(jdk: &Jdk, folder: &Path, coroutines: &str, more: &[&str]) -> Run {
    Java::program(workspace::classhook())
        .argument("trace")
        .arguments(more)
        .argument("--output")
        .argument(folder.join("out"))
        .argument("--")
        .arguments(&program(jdk, folder, &[coroutines]).words())
        .run()
}

fn every_call(jdk: &Jdk) {
    let folder = scratch();
    let out = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let files = [
        "--table-json",
        &out("table"),
        "--folded",
        &out("folded"),
        "--perfetto",
        &out("perfetto"),
        "--json-lines",
        &out("lines"),
    ]
    .map(str::to_owned);
    let more: Vec<&str> = METHODS
        .into_iter()
        .chain(files.iter().map(String::as_str))
        .collect();
    traced(jdk, folder.path(), "20", &more).assert_success();
    let log = logged(folder.path());
    let trace = trace_of(&folder.path().join("out"));
    compare(&trace, &log);
    let read = |name: &str| std::fs::read_to_string(out(name)).expect("an output");
    let table: Json = serde_json::from_str(&read("table")).expect("JSON");
    let mut logged: BTreeMap<&str, u64> = BTreeMap::new();
    for call in log.values() {
        *logged.entry(&call.name).or_default() += 1;
    }
    let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
    for row in table["methods"].as_array().expect("rows") {
        let name = row["method"].as_str().expect("a name");
        counted.insert(name, row["calls"].as_u64().expect("a number"));
    }
    for (name, calls) in &logged {
        assert_eq!(counted.get(name), Some(calls), "{name}: {table}");
    }
    assert_eq!(table["open"], 1, "{table}");
    let stack = "coroutine"; // threads are no frames
    let folded = read("folded");
    assert!(
        !folded.contains(stack) && folded.contains("Suspending.moves;"),
        "{folded}"
    );
    let inner = folded.lines().any(|line| {
        line.contains("Suspending.moves;")
            && line.contains("Suspending.steps;")
            && line.contains("Suspending.plain ")
    });
    assert!(inner, "{folded}");
    let perfetto = read("perfetto");
    assert!(perfetto.contains("\"coroutine-1\""), "tracks have names");
    let lines: Vec<Json> = read("lines")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let ends = lines
        .iter()
        .filter(|line| line["event"] == "return" || line["event"] == "throw");
    let names: Vec<&str> = ends.filter_map(|line| line["method"].as_str()).collect();
    for (name, calls) in &logged {
        let found = names.iter().filter(|found| found == &name).count();
        assert_eq!(found as u64, *calls, "{name} in the lines");
    }
}

#[test]
fn calls_of_suspend_functions_equal_the_log_on_jdk_17() {
    every_call(&jdks::release(17).expect("the JDK that the tests need"));
}

#[test]
fn calls_of_suspend_functions_equal_the_log_on_jdk_25() {
    every_call(&jdks::release(25).expect("the JDK that the tests need"));
}

/// Kotlin's library is loaded by then, and stays unchanged.
#[test]
fn calls_are_whole_in_a_jvm_that_runs_already() {
    for feature in [17, 25] {
        let jdk = jdks::release(feature).expect("the JDK that the tests need");
        let folder = scratch();
        let mut running = Servant::of(&program(&jdk, folder.path(), &["10", "waits"]));
        let pid = running.pid().to_string();
        let agent = Java::program(workspace::classhook())
            .arguments(&["attach", &pid, "--plugin", "trace", "--output"])
            .argument(folder.path().join("out"))
            .arguments(&["--select", "traced.**", "--plugin-settings"])
            .argument(r#"{"methods":["traced.Suspending.*"],"capture":["arguments","thrown"]}"#)
            .run();
        agent.assert_success();
        assert_eq!(running.ask("go"), "done");
        Java::program(workspace::classhook())
            .arguments(&["off", &pid])
            .run()
            .assert_success();
        running.end();
        compare(
            &trace_of(&folder.path().join("out")),
            &logged(folder.path()),
        );
    }
}

/// Sums without single calls, and counts, count calls and not entries.
#[test]
fn sums_and_counts_are_of_calls() {
    let jdk = jdks::newest();
    for mode in ["--aggregate", "--count"] {
        let folder = scratch();
        let table = folder.path().join("table").to_string_lossy().into_owned();
        let more = [mode, "--methods", "traced.**", "--table-json", &table];
        traced(&jdk, folder.path(), "10", &more).assert_success();
        let log = logged(folder.path());
        let text = std::fs::read_to_string(&table).expect("the table");
        let table: Json = serde_json::from_str(&text).expect("JSON");
        for row in table["methods"].as_array().expect("rows") {
            let (class, name) = (
                row["class"].as_str(),
                row["method"].as_str().expect("a name"),
            );
            if class == Some("traced.Suspending") && !UNLOGGED.contains(&name) && name != "never" {
                let expected = log.values().filter(|call| call.name == name).count();
                let expected = if name == "<init>" { 1 } else { expected };
                assert_eq!(
                    row["calls"].as_u64(),
                    Some(expected as u64),
                    "{mode} {name}: {row}"
                );
            }
            let is_resumption = name == "invokeSuspend"
                && class.is_some_and(|class| class.starts_with("traced.Suspending$steps$"));
            assert!(!is_resumption, "{row}");
        }
    }
}

/// A condition is evaluated at the end of the call, with the arguments of its first entry and the depth on its track.
#[test]
fn conditions_are_of_whole_calls() {
    let jdk = jdks::newest();
    let folder = scratch();
    let run = Java::program(workspace::classhook())
        .arguments(&["watch", "traced.Suspending.*", "--json-lines"])
        .arguments(&["--limit", "100000", "--show", "arg[0]"])
        .arguments(&["--when", "depth == 0 && arg[0] > 0", "--"])
        .arguments(&program(&jdk, folder.path(), &["10"]).words())
        .run();
    run.assert_success();
    let lines = run.stdout.lines();
    let lines = lines.map(|line| serde_json::from_str::<Json>(line).expect("JSON"));
    let shown: Vec<(String, i64)> = lines
        .map(|line| {
            let name = line["method"].as_str().expect("a name").to_owned();
            (name, line["shown"]["arg[0]"].as_i64().expect("a number"))
        })
        .collect();
    let log = logged(folder.path());
    let outermost = log.iter().filter(|(_, call)| call.caller == 0);
    let outermost = outermost.map(|(number, call)| (call.name.clone(), i64::from(*number)));
    let (mut expected, mut found): (Vec<_>, _) = (outermost.collect(), shown);
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}
