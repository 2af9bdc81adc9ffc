//! Values with their content: collections and maps of the JDK, fields of objects, to a depth; and names of parameters.

use super::lines::moments;
use crate::support::command::classhook;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, scratch, workspace};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Compiles `Opened.java` with the names of its parameters.
fn classes() -> &'static Path {
    static CLASSES: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, classes) = CLASSES.get_or_init(|| {
        let folder = scratch();
        let sources = ["Opened", "Printed"];
        let sources = sources.map(|name| workspace::test_file(&format!("java/watch/{name}.java")));
        let options = ["--release", "8", "-g"];
        let [opened, printed] = &sources;
        let classes = javac::compile(&jdks::newest(), &[opened, printed], folder.path(), &options);
        (folder, classes)
    });
    classes
}

/// Runs `classhook watch` on the program's method `show`.
pub(super) fn watch(jdk: &Jdk, words: &[&str], arguments: &[&str]) -> Run {
    let folder = scratch();
    Java::program(workspace::classhook())
        .variable("CLASSHOOK_AGENT", workspace::agent_library())
        .arguments(&["watch", "-o"])
        .argument(folder.path())
        .arguments(&["Opened.show(Ljava/lang/String;Ljava/lang/Object;Ljava/lang/String;)*"])
        .arguments(&["--limit", "100000"])
        .arguments(words)
        .argument("--")
        .argument(jdk.tool("java"))
        .arguments(&["-Xverify:all", "-Xcheck:jni", "-cp"])
        .argument(classes())
        .argument("Opened")
        .arguments(arguments)
        .run()
}

/// Returns the quoted text behind a name.
#[track_caller]
fn text_of(line: &str, name: &str) -> String {
    let value = line
        .strip_prefix(name)
        .and_then(|it| it.strip_prefix(" = "));
    let value = value.unwrap_or_else(|| panic!("no {name}: {line}"));
    let json = value.replace("\\'", "'");
    serde_json::from_str(&json).unwrap_or_else(|_| panic!("no text: {line}"))
}

/// Each kind of value of the JDK has the content that Java's own iteration yields, in every release.
#[test]
fn values_of_the_jdk_are_shown_with_their_content() {
    for jdk in jdks::all() {
        let words = [
            "--show",
            "name, expected, value",
            "--depth",
            "2",
            "--text",
            "1024",
        ];
        let run = watch(jdk, &words, &[]);
        run.assert_success();
        let moments = moments(&run.stdout);
        let least = if jdk.feature == 8 { 110 } else { 120 };
        assert!(moments.len() > least, "{jdk}: {}", run.report());
        for shown in &moments {
            let (name, expected) = (text_of(&shown[1], "name"), text_of(&shown[2], "expected"));
            let value = shown[3].strip_prefix("value = ").expect("a value");
            let sorted = |text: &str| {
                let mut all: Vec<char> = text.chars().collect();
                all.sort_unstable();
                all
            };
            match name.starts_with("unordered") {
                true => assert_eq!(sorted(value), sorted(&expected), "{jdk}: {name}"),
                false => assert_eq!(value, expected, "{jdk}: {name}"),
            }
        }
        assert!(
            !run.stderr.contains("WARNING in native"),
            "{}",
            run.report()
        );
    }
}

/// Numbers, times and their like have the text of their own `toString`, before and after this has been called.
#[test]
fn values_of_the_jdk_are_shown_as_their_to_string_gives_them() {
    for jdk in jdks::all() {
        let words = ["--show", "name, expected, value", "--text", "1024"];
        let run = watch(jdk, &words, &["printed"]);
        run.assert_success();
        let moments = moments(&run.stdout);
        assert!(moments.len() > 1_000, "{jdk}: {}", run.report());
        let value = |moment: &[String]| {
            let value = moment[3].strip_prefix("value =").expect("a value");
            value.trim_start().to_owned()
        };
        for shown in &moments {
            let name = text_of(&shown[1], "name");
            match name.as_str() {
                "own" => assert!(value(shown).starts_with("Price{"), "{shown:?}"),
                _ if shown[2] == "expected = null" => {}
                _ => {
                    let expected = text_of(&shown[2], "expected");
                    assert_eq!(value(shown), expected, "{jdk}: {name}");
                }
            }
        }
        for pair in moments.windows(2) {
            if pair[0][2] == "expected = null" && !pair[0][1].contains("own") {
                assert_eq!(value(&pair[0]), value(&pair[1]), "{jdk}");
            }
        }
        assert!(
            !run.stderr.contains("WARNING in native"),
            "{}",
            run.report()
        );
    }
}

/// Other threads change a value while it is read: nothing crashes, loops or is lost.
#[test]
fn values_that_change_while_they_are_read_are_shown() {
    for jdk in jdks::main_two() {
        let run = watch(&jdk, &["--show", "value", "--depth", "3"], &["300"]);
        run.assert_success().assert_stderr("2,100 calls shown");
        assert!(run.stdout.contains("shown 2100\n"), "{}", run.report());
    }
}

/// Without a list, each argument has its name. Without a depth, an object shows no fields.
#[test]
fn arguments_have_the_names_of_their_parameters_and_depth_has_an_end() {
    let jdk = jdks::newest();
    let first = |words: &[&str]| {
        let run = watch(&jdk, words, &[]);
        run.assert_success();
        moments(&run.stdout).remove(0)
    };
    let shown = first(&[]);
    assert_eq!(
        shown[1..],
        [
            "name = \"ArrayList\"",
            "value = [\"a\", null, 'c', 4]",
            "expected = \"[\\\"a\\\", null, \\'c\\', 4]\"",
        ]
    );
    let shown = first(&["--depth", "0"]);
    assert!(
        shown[2].starts_with("value = java.util.ArrayList@"),
        "{shown:?}"
    );
    let words = [
        "--when",
        "name == \"depth\" && value.next.id == 2",
        "--show",
    ];
    let shown = first(
        &[
            &words[..],
            &["value.next.next.id, value.next.status, depth, thread"],
        ]
        .concat(),
    );
    assert_eq!(
        shown[1..],
        [
            "value.next.next.id = 3",
            "value.next.status = PAID",
            "depth = 0",
            "thread = \"main\"",
        ]
    );
}

/// In JSON lines, values are structures, and parameters have their names beside the arguments.
#[test]
fn values_in_json_are_structures() {
    let jdk = jdks::main_two().remove(0);
    let run = watch(&jdk, &["--json-lines", "--depth", "2"], &[]);
    run.assert_success();
    let lines: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let of = |name: &str| {
        let line = lines.iter().find(|line| line["arguments"]["0"] == *name);
        line.unwrap_or_else(|| panic!("no {name}"))["arguments"]["1"].clone()
    };
    assert_eq!(lines[0]["parameters"], json!(["name", "value", "expected"]));
    let list =
        json!({"class": "java.util.ArrayList", "length": 4, "elements": ["a", null, "c", 4]});
    assert_eq!(of("ArrayList"), list);
    let map = json!({"class": "java.util.Collections$SingletonMap", "length": 1, "entries": [["k", "v"]]});
    assert_eq!(of("singletonMap"), map);
    let many = of("many");
    assert_eq!(many["length"], 1_000);
    assert_eq!(many["elements"].as_array().map(Vec::len), Some(20));
    let mut order = of("object");
    let identity = order["identity"].take();
    assert!(identity.is_string());
    let fields =
        json!({"id": 7, "status": "PAID", "kind": "Opened$Order", "next": null, "origin": "base"});
    let expected = json!({"class": "Opened$Order", "identity": null, "fields": fields});
    assert_eq!(order, expected);
    assert_eq!(
        of("array"),
        json!({"array": "int[]", "length": 2, "elements": [1, -2]})
    );
}

/// `classhook trace` opens values as well. Reports of its file have them, and the parameters.
#[test]
fn traces_and_reports_have_opened_values_and_names() {
    let jdk = jdks::newest();
    let folder = scratch();
    let lines = folder.path().join("calls.jsonl");
    let run = Java::program(workspace::classhook())
        .variable("CLASSHOOK_AGENT", workspace::agent_library())
        .arguments(&[
            "trace",
            "--methods",
            "Opened.show",
            "--show",
            "value",
            "--depth",
            "1",
            "-o",
        ])
        .argument(folder.path())
        .argument("--")
        .argument(jdk.tool("java"))
        .argument("-cp")
        .argument(classes())
        .argument("Opened")
        .run();
    run.assert_success();
    let path = folder.path().to_string_lossy();
    let report = classhook(&["report", &path, "--json-lines", &lines.to_string_lossy()]);
    report.assert_success();
    let text = std::fs::read_to_string(&lines).expect("lines");
    let mut found = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let array = json!({"array": "int[]", "length": 2, "elements": [1, -2]});
    assert!(found.any(|line| line["shown"]["value"] == array), "{text}");
}

#[test]
fn depth_without_a_value_is_refused_before_anything_starts() {
    let words = [
        "trace",
        "--methods",
        "a.B.*",
        "--depth",
        "2",
        "--",
        "no-such-program",
    ];
    let run = crate::support::command::classhook(&words);
    run.assert_exit(2).assert_stderr("error[H0663]");
    run.assert_stderr("--show");
}
