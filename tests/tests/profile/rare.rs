//! Events of rare kinds, and the state of threads at one instant, in programs that know both.

use super::plugins::{GRANTS, observing, read, sum};
use crate::support::command::classhook;
use e2e_tests::java::Java;
use e2e_tests::jdks;
use e2e_tests::{javac, scratch, workspace};
use serde_json::{Value, json};
use std::path::Path;

fn rows(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).expect("the file");
    let row = |line| serde_json::from_str(line).expect("a JSON object");
    text.lines().map(row).collect()
}

#[test]
fn rare_events_and_answers_equal_the_numbers_of_the_program() {
    for jdk in jdks::main_three() {
        let folder = scratch();
        let source = workspace::test_file("java/profile/Gone.java");
        let classes = javac::compile(
            &jdks::newest(),
            &[&source],
            folder.path(),
            &["--release", "17"],
        );
        let [program, output, file] = [
            jdk.tool("java"),
            folder.path().join("out"),
            folder.path().join("rows.jsonl"),
        ];
        let settings = json!({
            "kinds": ["threads", "catches", "unloads", "frees", "dumps"],
            "classes": ["Gone$*"],
            "bytes": 0,
            "ask": ["monitors", "stack owner", "paths Gone$Kept", "monitor-usage Gone$Gate"],
            "ask_after": "ready",
        })
        .to_string();
        let plugin = observing();
        let texts = [&program, &classes, &output, &file].map(|path| path.to_string_lossy());
        let [program, classes, output, lines] = texts.each_ref().map(AsRef::as_ref);
        let words = ["plugin", "run", &plugin, "--plugin-settings", &settings];
        let files = ["-o", output, "--results-json-lines", lines];
        let java = ["--", program, "-Xcheck:jni", "-cp", classes, "Gone", output];
        let run = classhook(&[&words[..], &files, &GRANTS, &java].concat());
        run.assert_success();
        let rows = read(&file);
        let count = |what, class| sum(&rows, what, class, "", "count");
        let total = |what, class| sum(&rows, what, class, "", "total");
        assert_eq!(count("caught", "Gone$Dropped"), 7, "{jdk}");
        assert_eq!(count("caught", "Gone$Seen"), 5, "{jdk}");
        assert_eq!(
            count("caught", "Gone$Passed"),
            6,
            "by finally as well, {jdk}"
        );
        assert_eq!(count("unloaded", "Gone$Gate"), 4, "{jdk}");
        assert_eq!(
            total("freed", "Gone$Unit"),
            1_000,
            "{jdk}: {}",
            run.report()
        );
        assert_eq!(count("dump asked", ""), 1, "{jdk}: {}", run.report());
        let of = |what: &str, thread: &str| -> &Value {
            let is_it = |row: &&Value| row["what"] == what && row["thread"] == thread;
            let mut found = rows.iter().filter(is_it);
            found
                .next()
                .unwrap_or_else(|| panic!("no {what} of {thread}, {jdk}: {}", run.report()))
        };
        // The number of the monitor, in the answer to the first request or to the last.
        let monitor = |what: &str, thread: &str, answer: u32| {
            let is_it = |row: &&Value| {
                row["what"] == what && row["thread"] == thread && row["line"] == answer
            };
            let row = rows.iter().find(is_it);
            let row = row.unwrap_or_else(|| panic!("no {what}, {jdk}: {}", run.report()));
            assert_eq!(
                (&row["class"], &row["count"]),
                (&json!("Gone$Gate"), &json!(1))
            );
            row["total"].as_u64().expect("a monitor")
        };
        for answer in [0, 3] {
            let owner = monitor("owns", "owner", answer);
            assert_eq!(owner, monitor("enters", "enters", answer), "{jdk}");
            // JDK 25 reports the monitor of a waiting thread only after a notification.
            if jdk.feature < 25 || answer == 3 {
                assert_ne!(owner, monitor("waits", "waits", answer), "{jdk}");
            }
        }
        let method = of("thread", "owner")["method"].as_str();
        assert!(
            method.is_some_and(|it| it.starts_with("java.lang.Thread.sleep")),
            "{method:?}"
        );
        let held = of("held", "");
        let path = held["class"].as_str().expect("a path");
        assert_eq!(
            (path, &held["total"]),
            ("static Gone.kept\nGone$Kept", &json!(1)),
            "{jdk}"
        );
    }
}

#[test]
fn swallowed_exceptions_and_times_are_recorded_within_a_window() {
    let jdk = jdks::newest();
    let folder = scratch();
    let source = workspace::test_file("java/profile/Gone.java");
    let classes = javac::compile(&jdk, &[&source], folder.path(), &["--release", "17"]);
    let [file, line] = ["rows.jsonl", "times.json"].map(|name| folder.path().join(name));
    let program = jdk.tool("java");
    let texts = [&program, &classes, &file, &line].map(|path| path.to_string_lossy());
    let [program, classes, path, time_line] = texts.each_ref().map(AsRef::as_ref);
    let options = ["profile", "--exceptions", "--gc", "--only", "Gone"];
    let files = ["--json-lines", path, "--perfetto", time_line];
    let java = ["--", program, "-cp", classes, "Gone"];
    let run = classhook(&[&options[..], &files, &java].concat());
    run.assert_success();
    let swallowed = "18 throws, 7 of them swallowed";
    assert!(run.stdout.contains(swallowed), "{}", run.report());
    assert!(
        run.stdout.contains("swallowed by Gone.swallow(Gone.java:"),
        "{}",
        run.report()
    );
    let rows = rows(&file);
    for (class, count, swallowed) in [
        ("Gone$Dropped", 7, true),
        ("Gone$Seen", 5, false),
        ("Gone$Passed", 6, false),
    ] {
        let found = rows
            .iter()
            .filter(|row| row["kind"] == "exception" && row["class"] == class);
        let found: Vec<&Value> = found.collect();
        let sum: u64 = found.iter().filter_map(|row| row["count"].as_u64()).sum();
        assert_eq!(sum, count, "{class}: {rows:?}");
        assert!(
            found.iter().all(|row| row["swallowed"] == swallowed),
            "{found:?}"
        );
    }
    let text = std::fs::read_to_string(&line).expect("the file");
    let times: Value = serde_json::from_str(&text).expect("JSON");
    let events = times["traceEvents"].as_array().expect("events");
    let of = |category: &str| {
        events
            .iter()
            .filter(|event| event["cat"] == category)
            .count()
    };
    assert_eq!(of("exception"), 18, "thrown, and again by finally: {text}");
    assert!(of("gc") >= 3, "{text}");
    // A window that begins after the program's end contains no events, and the command says so.
    let late = ["profile", "--exceptions", "--only", "Gone", "--after", "1h"];
    classhook(&[&late[..], &java].concat())
        .assert_exit(2)
        .assert_stderr("H0610");
    classhook(&["profile", "1", "--exceptions", "--after", "1s"])
        .assert_exit(2)
        .assert_stderr("--after needs a command");
}

/// Three threads wait to enter monitors, and one in `Object.wait`, when the program ends.
fn assert_unfinished_waits_are_told(stdout: &str, folder: &Path, jdk: &jdks::Jdk) {
    let heading = "CONTENDED MONITORS: threads waited 3 times to enter one, ";
    let line = stdout.lines().find(|line| line.starts_with(heading));
    let line = line.unwrap_or_else(|| panic!("{jdk}: {stdout}"));
    assert!(line.ends_with("; 3 of them went on at the end"), "{line}");
    let rows = rows(&folder.join("rows.jsonl"));
    let unfinished = |kind: &str, class: &str| -> u64 {
        let is_it = |row: &&Value| row["kind"] == kind && row["class"] == class;
        let found = rows.iter().filter(is_it);
        found
            .map(|row| {
                assert_eq!(row["count"], row["unfinished"], "{row}");
                let enough = row["total_ns"].as_u64() >= Some(20_000_000);
                assert!(enough, "the program goes on for so long: {row}");
                row["unfinished"].as_u64().expect("a number")
            })
            .sum()
    };
    assert_eq!(unfinished("contended", "Locked$Left"), 2, "{jdk}");
    assert_eq!(unfinished("contended", "Locked$Right"), 1, "{jdk}");
    assert_eq!(unfinished("wait", "Locked$Gate"), 1, "{jdk}");
    for (class, holder) in [("Locked$Left", "one"), ("Locked$Right", "other")] {
        let is_it = |row: &&Value| row["kind"] == "contended" && row["class"] == class;
        for row in rows.iter().filter(is_it) {
            assert_eq!(row["holder"], holder, "{jdk}: {row}");
            assert!(row["holder_at"].is_string(), "{jdk}: {row}");
        }
        let held = format!("{class}, held by \"{holder}\" at ");
        assert!(stdout.contains(&held), "{jdk}: {stdout}");
    }
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("the file");
    assert!(
        read("folded").contains("Locked.enter "),
        "{}",
        read("folded")
    );
    let times = read("times.json");
    for name in [
        "waits to enter Locked$Left, to the end",
        "waits in Locked$Gate, to the end",
    ] {
        assert!(times.contains(name), "{jdk}: {times}");
    }
}

#[test]
fn threads_that_wait_for_one_another_are_named() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let source = workspace::test_file("java/profile/Locked.java");
        let classes = javac::compile(&jdk, &[&source], folder.path(), &["--release", "17"]);
        let program = jdk.tool("java");
        let [program, classes] = [&program, &classes].map(|path| path.to_string_lossy());
        let files = ["folded", "rows.jsonl", "times.json"].map(|name| folder.path().join(name));
        let files = files.each_ref().map(|file| file.to_string_lossy());
        let [folded, lines, times] = files.each_ref().map(AsRef::as_ref);
        let outputs = [
            "--folded",
            folded,
            "--json-lines",
            lines,
            "--perfetto",
            times,
        ];
        let java = ["--", &program, "-Xcheck:jni", "-cp", &classes, "Locked"];
        let run = classhook(&[&["profile", "--monitor"][..], &outputs, &java].concat());
        run.assert_success();
        assert!(
            run.stdout.contains("DEADLOCK 1: 2 threads\n"),
            "{jdk}: {}",
            run.report()
        );
        for line in [
            "\"one\" waits to enter a monitor of Locked$Right, which \"other\" owns; trace ",
            "\"other\" waits to enter a monitor of Locked$Left, which \"one\" owns; trace ",
            "  Locked.enter(Locked.java:",
        ] {
            assert!(run.stdout.contains(line), "{jdk}: {line}: {}", run.report());
        }
        assert!(!run.stdout.contains("\"third\" waits"), "{}", run.report());
        assert_unfinished_waits_are_told(&run.stdout, folder.path(), &jdk);
    }
}

#[test]
fn recording_is_on_disk_when_memory_or_threads_are_exhausted() {
    for jdk in jdks::main_two() {
        for what in ["memory", "thread"] {
            let folder = scratch();
            let source = workspace::test_file("java/profile/Exhausted.java");
            let classes = javac::compile(&jdk, &[&source], folder.path(), &["--release", "17"]);
            let [output, copy, config] =
                ["out", "copy", "classhook.toml"].map(|name| folder.path().join(name));
            let grants: Vec<&str> = GRANTS.into_iter().filter(|it| *it != "--grant").collect();
            let text = format!(
                "[agent]\noutput = \"out\"\n[[plugin]]\nuse = \"coverage\"\n\
                 [[plugin]]\nuse = \"trace\"\n[plugin.config]\nmethods = [\"Exhausted.traced\"]\n\
                 [[plugin]]\nuse = {:?}\ngrant = {grants:?}\n[plugin.config]\nkinds = [\"exhaustion\"]\n",
                observing()
            );
            std::fs::write(&config, text).expect("the test's folder is writable");
            let [from, to] = [&output, &copy].map(|path| path.to_string_lossy());
            let run = Java::new(&jdk)
                .options(&["-Xmx64m"])
                .agent(Some(&format!("config={}", config.display())))
                .class_path(&[&classes])
                .main("Exhausted")
                .arguments(&[what, &from, &to])
                .run();
            run.assert_success();
            let classes = classes.to_string_lossy();
            let told = classhook(&["report", &to, "--classes", &classes]);
            let calls = "777 calls of 1 traced method";
            assert!(told.stdout.contains(calls), "{jdk}: {}", told.report());
            let mut lines = told.stdout.lines();
            let last = lines.find(|line| line.starts_with("Exhausted$Last "));
            // Two lines of three, because no code calls the constructor.
            let is_covered = last.is_some_and(|line| line.contains("66%"));
            assert!(is_covered, "{jdk}, {what}: {}", told.report());
        }
    }
}
