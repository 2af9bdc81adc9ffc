//! Outputs of `classhook trace` and `classhook report` for a real program.

use super::spans::classes;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{scratch, workspace};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Returns `classhook trace` of calls of `Spans.step`, with an output folder and other options.
fn words(jdk: &Jdk, output: &Path, more: &[&str], calls: u32) -> Vec<String> {
    let mut words = vec!["trace".to_owned(), "-o".to_owned(), text(output)];
    words.extend(["--methods", "Spans.step"].map(str::to_owned));
    words.extend(more.iter().map(|word| (*word).to_owned()));
    words.extend(["--".to_owned(), text(&jdk.tool("java")), "-cp".to_owned()]);
    words.extend([text(classes()), "Spans".to_owned(), "flood".to_owned()]);
    words.push(calls.to_string());
    words
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn classhook(words: &[String]) -> Java {
    Java::program(workspace::classhook()).arguments(words)
}

/// The disk is full from the first megabyte on, and every output says so.
#[test]
fn full_disk_is_in_every_output_and_in_the_exit_code() {
    let jdk = jdks::newest();
    let folder = scratch();
    let small = folder.path().join("small");
    std::fs::create_dir(&small).expect("a folder");
    let kept = folder.path().join("kept");
    // The folder is removed with the namespace.
    let script = "mount -t tmpfs -o size=1m none \"$0\" || exit 99
        kept=$1; shift; \"$@\"; code=$?; cp -r \"$0\" \"$kept\"; exit $code";
    let lines = folder.path().join("lines");
    let more = ["--json-lines", &text(&lines)];
    let command = text(&workspace::classhook());
    let run = Java::program(PathBuf::from("/usr/bin/unshare"))
        .arguments(&["--user", "--map-root-user", "--mount", "/bin/sh", "-c"])
        .arguments(&[script, &text(&small), &text(&kept), &command])
        .arguments(&words(&jdk, &small, &more, 3_000_000))
        .run();
    let say = |run: &Run| {
        run.assert_exit(3).assert_stderr("error[H0651]");
        run.assert_stderr("No space left on device");
        assert!(
            run.stdout.contains("\nincomplete: data of the JVM "),
            "{}",
            run.report()
        );
        assert!(!run.stderr.contains("was killed"), "{}", run.report());
    };
    say(&run);
    run.assert_stderr("the event file is incomplete");
    let last = std::fs::read_to_string(&lines).expect("the lines");
    let last: Value = serde_json::from_str(last.lines().last().expect("a line")).expect("JSON");
    assert!(last["incomplete"].is_string(), "{last}");
    say(&classhook(&["report".to_owned(), text(&kept)]).run());
}

/// Without space for the lines, they alone are missing, and the message about them is true.
#[test]
fn full_disk_of_the_lines_costs_no_other_output() {
    let jdk = jdks::newest();
    let folder = scratch();
    let small = folder.path().join("small");
    std::fs::create_dir(&small).expect("a folder");
    let output = folder.path().join("out");
    let graph = folder.path().join("graph.svg");
    let lines = small.join("lines");
    let mount = "mount -t tmpfs -o size=1m none \"$0\" || exit 99; exec \"$@\"";
    let more = [
        "--json-lines",
        &text(&lines),
        "--flame-graph",
        &text(&graph),
    ];
    let run = Java::program(PathBuf::from("/usr/bin/unshare"))
        .arguments(&["--user", "--map-root-user", "--mount", "/bin/sh", "-c"])
        .arguments(&[mount, &text(&small), &text(&workspace::classhook())])
        .arguments(&words(&jdk, &output, &more, 100_000))
        .run();
    run.assert_exit(3)
        .assert_stderr("error[H0620]")
        .assert_stderr("lines to its end")
        .assert_stderr("No space left on device");
    assert!(
        !run.stderr.contains("nothing was changed"),
        "{}",
        run.report()
    );
    let table = "100,000 calls of 1 traced method";
    assert!(run.stdout.contains(table), "{}", run.report());
    assert!(!run.stdout.contains("small/lines"), "{}", run.report());
    let graph = std::fs::read_to_string(graph).expect("the flame graph");
    assert!(graph.contains("Spans.step"), "{graph}");
}

#[test]
fn standard_output_has_only_the_lines() {
    let jdk = jdks::newest();
    let folder = scratch();
    let output = folder.path().join("out");
    classhook(&words(&jdk, &output, &[], 1_000))
        .run()
        .assert_success();
    let report = |more: &[&str]| {
        let words = ["report", &text(&output), "--json-lines", "-"];
        let words = words.iter().chain(more).map(|word| (*word).to_owned());
        let run = classhook(&words.collect::<Vec<_>>()).run();
        run.assert_success().assert_stderr("Spans.step");
        let lines = run.stdout.lines().map(serde_json::from_str::<Value>);
        let lines: Vec<Value> = lines.map(|line| line.expect("JSON")).collect();
        (lines, run.stdout.len())
    };
    let (events, long) = report(&[]);
    let (calls, short) = report(&["--compact"]);
    assert_eq!(events.len(), 1 + 2 * 1_000);
    assert_eq!(calls.len(), 1 + 2 + 1_000);
    assert!(short * 8 < long, "{short} of {long} bytes");
    let call = calls.last().expect("a call");
    assert_eq!(call["c"].as_array().map(Vec::len), Some(5));
}

#[test]
fn table_is_as_wide_as_wanted_and_whole_as_csv() {
    let jdk = jdks::newest();
    let folder = scratch();
    let output = folder.path().join("out");
    let csv = folder.path().join("table.csv");
    let run = classhook(&words(&jdk, &output, &["--table-csv", &text(&csv)], 1_000)).run();
    run.assert_success();
    assert!(
        run.stdout.contains("p95") && !run.stdout.contains("no room"),
        "{}",
        run.report()
    );
    let csv = std::fs::read_to_string(csv).expect("the table");
    assert!(csv.contains("\nSpans,step,(I)I,1000,0,"), "{csv}");
    let report = classhook(&["report".to_owned(), text(&output)]);
    let narrow = report.variable("COLUMNS", "60").run();
    narrow.assert_success();
    assert!(
        narrow
            .stdout
            .contains("no room for min, p50, p95, p99, max"),
        "{}",
        narrow.report()
    );
    let table = narrow.stdout.lines().take(2);
    assert!(
        table.into_iter().all(|line| line.chars().count() <= 60),
        "{}",
        narrow.report()
    );
}
