//! Rows and counts of advice: into the event file, and from there to tables and JSON lines.

use crate::support::advice::{
    OWN, checked, file, instrumented, oldest_and_main_two, run_from, shop,
};
use crate::support::command::{LATE, classhook};
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::Servant;
use e2e_tests::{javac, scratch, workspace};
use serde_json::{Value, json};
use std::path::Path;

/// Runs the program with an advice that records into `folder/rows`.
fn recorded(jdk: &Jdk, folder: &Path, name: &str, more: &[&str]) -> Run {
    Java::program(workspace::classhook())
        .variable("CLASSHOOK_AGENT", workspace::agent_library())
        .folder(folder)
        .arguments(&["run", "--output", "rows", "--advice"])
        .argument(file(name))
        .arguments(more)
        .argument("--")
        .argument(jdk.tool("java"))
        .arguments(&["-Xverify:all", "-Xcheck:jni", "-cp"])
        .argument(shop(folder))
        .argument("Shop")
        .run()
}

fn report(folder: &Path, words: &[&str]) -> String {
    let run = Java::program(workspace::classhook())
        .folder(folder)
        .arguments(&["report", "rows"])
        .arguments(words)
        .run();
    run.assert_success();
    run.stdout
}

/// Returns the values of the rows of a table, in the order of time.
fn rows(folder: &Path, table: &str) -> Vec<Value> {
    let lines = report(folder, &["--json-lines", "-"]);
    let lines = lines
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let of_table = lines.filter(|line| line["table"] == table);
    of_table.map(|line| line["values"].clone()).collect()
}

#[test]
fn advice_records_rows_counts_and_times() {
    for jdk in oldest_and_main_two() {
        let folder = scratch();
        let run = recorded(&jdk, folder.path(), "Recording", &[]);
        run.assert_success();
        assert_eq!(run.stdout.trim(), OWN, "{jdk}: {}", run.report());
        run.assert_stderr("rows` shows the rows");
        // An object that is no row is a mistake of the advice, whose other row is kept.
        run.assert_stderr("expected a record, an object of a class with @Row, or a constant name");
        let caller = "Shop.half(Shop.java:39), Shop.all(Shop.java:63)";
        let halved = json!({ "value": 5.0, "result": 2.5, "caller": caller, "isLarge": true });
        assert_eq!(rows(folder.path(), "Halved"), [halved], "{jdk}");
        let failed = json!({ "thrown": "java.io.IOException: full", "letter": "f", "number": -5 });
        assert_eq!(rows(folder.path(), "Failed"), [failed], "{jdk}");
        let depth =
            |left: i32, text: Value| json!({ "left": left, "text": text, "last": left < 1 });
        let expected = [
            depth(3, json!("3-x")),
            depth(2, json!("2-x")),
            depth(1, json!("1-x")),
            depth(0, Value::Null),
        ];
        assert_eq!(rows(folder.path(), "depth"), expected, "{jdk}");
        let times = json!({ "name": "half", "nanos": 42 });
        assert_eq!(rows(folder.path(), "times"), [times], "{jdk}");
        let table = report(folder.path(), &[]);
        for line in ["entered      4", "halved       1", "two          1"] {
            assert!(table.contains(line), "{jdk}: {line}: {table}");
        }
    }
}

#[test]
fn records_are_rows_whatever_classes_are_selected() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        recorded(
            &jdk,
            folder.path(),
            "RecordingRecords",
            &["--select", "Shop"],
        )
        .assert_success();
        let rows = rows(folder.path(), "Called");
        let [row] = rows.as_slice() else {
            panic!("expected one row, found {rows:?}");
        };
        assert!(
            row["method"]
                .as_str()
                .is_some_and(|it| it.starts_with("Shop.add(")),
            "{row}"
        );
        assert_eq!(
            (&row["a"], &row["ratio"]),
            (&json!(7), &json!(0.5)),
            "{row}"
        );
        assert!(
            row["nanos"].as_u64().is_some_and(|nanos| nanos > 0),
            "{row}"
        );
    }
}

#[test]
fn advice_records_in_a_running_program_until_it_leaves() {
    for jdk in oldest_and_main_two() {
        let folder = scratch();
        let classes = shop(folder.path());
        let java = Java::new(&jdk).options(&["-Xverify:all"]);
        let java = match jdk.feature {
            8 => java,
            _ => java.options(&LATE),
        };
        let mut servant = Servant::of(&java.class_path(&[classes]).main("Shop").argument("wait"));
        let pid = servant.pid().to_string();
        let advice = file("Recording");
        let advice = advice.to_str().expect("text");
        // The second agent finds the helper classes of the first.
        for place in ["rows", "more"] {
            let output = folder.path().join(place);
            let output = output.to_str().expect("text");
            let words = ["attach", &pid, "--output", output, "--advice", advice];
            classhook(&words).assert_success();
            assert_eq!(servant.ask("again"), OWN, "{jdk}");
            assert_eq!(servant.ask("again"), OWN, "{jdk}");
            classhook(&["off", &pid]).assert_success();
            assert_eq!(servant.ask("again"), OWN, "{jdk}");
        }
        std::fs::remove_dir_all(folder.path().join("rows")).expect("removed");
        std::fs::rename(folder.path().join("more"), folder.path().join("rows")).expect("moved");
        assert_eq!(rows(folder.path(), "Halved").len(), 2, "{jdk}");
        assert_eq!(rows(folder.path(), "depth").len(), 8, "{jdk}");
        assert_eq!(servant.end().code, Some(0));
    }
}

#[test]
fn other_plugins_do_not_see_the_class_that_takes_rows_apart() {
    let folder = scratch();
    let jdk = jdks::newest();
    let words = ["--plugin", "coverage", "--select", "**"];
    recorded(&jdk, folder.path(), "Recording", &words).assert_success();
    let shown = report(folder.path(), &["--classes", "classes"]);
    assert!(shown.contains("Shop"), "{shown}");
    assert_eq!(rows(folder.path(), "Halved").len(), 1);
    let snapshot = javac::files_with_extension(&folder.path().join("rows"), "hook");
    let bytes = std::fs::read(snapshot.first().expect("a snapshot")).expect("readable");
    let holds = |text: &[u8]| bytes.windows(text.len()).any(|part| part == text);
    assert!(holds(b"Shop") && !holds(b"ProbedRows"));
}

/// Checks a source with one advice, whose method has this body.
fn check(body: &str) -> Run {
    checked(&format!(
        "@Advice(\"Shop#half\")\nclass A {{\n  @OnExit static void f(@Method String m) {{\n    {body}\n  }}\n}}"
    ))
}

#[test]
fn rows_that_nobody_could_read_are_refused_with_their_line() {
    for (body, told) in [
        (
            "Events.count(m);",
            "the name of Events.count has to be a constant text",
        ),
        (
            "Events.record(\"t\", m, 1);",
            "table and keys of Events.record have to be constant",
        ),
        ("Events.record(\"t\", \"a\");", "with a value for each key"),
        (
            "Events.record(new Object());",
            "Events.record has no class of rows",
        ),
        (
            "Events.record(\"t\", \"a b\", 1);",
            "`a b` names no table or column",
        ),
        (
            "Events.record(\"t\", \"a\", 1); Events.record(\"t\", \"b\", 1);",
            "the table t has the keys a elsewhere, and b here",
        ),
    ] {
        let run = check(body);
        run.assert_exit(2)
            .assert_stderr("error[H0740]: A.java:5: ")
            .assert_stderr(told);
    }
}

#[test]
fn classes_on_disk_record_no_rows_and_the_command_says_so() {
    let folder = scratch();
    let (run, classes) = instrumented(folder.path(), "Recording");
    run.assert_success()
        .assert_stderr("warning[H0745]: the rows of the advice are lost");
    for jdk in oldest_and_main_two() {
        let run = run_from(&jdk, &classes);
        run.assert_success();
        assert_eq!(run.stdout.trim(), OWN, "{jdk}: {}", run.report());
    }
}
