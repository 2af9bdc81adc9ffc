//! `classhook watch --field`: the writes of a field, with its value before and after.

use super::lines::{Rounds, classes, line_of, moments, watch};
use crate::support::command::{assert_no_agent, classhook};
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, scratch};
use serde_json::{Value, json};

/// Returns the writes of a round, each as place, old and new value.
fn of_a_round(jdk: &Jdk, field: &str) -> Vec<[String; 3]> {
    let words = ["--field", field, "--show", "old, new"];
    let run = watch(jdk, classes(), "Writes", &words);
    run.assert_success();
    let writes = moments(&run.stdout);
    assert_eq!(writes.len() % 3, 0, "{}", run.report());
    let writes = writes.into_iter().map(|write| {
        let [head, old, new] = <[String; 3]>::try_from(write).expect("three lines");
        let place = head.split("  ").nth(1).expect("a place").to_owned();
        [place, old, new]
    });
    let mut writes: Vec<_> = writes.collect();
    writes.truncate(writes.len() / 3);
    writes
}

fn texts(writes: &[[String; 3]]) -> Vec<[&str; 3]> {
    writes
        .iter()
        .map(|write| [0, 1, 2].map(|at| write[at].as_str()))
        .collect()
}

/// Writes by the class itself, by the names of subclasses, by nested and other classes and lambdas. Other fields with
/// the name are not shown.
#[test]
fn every_writer_of_a_field_is_shown_with_old_and_new_value() {
    for jdk in jdks::all() {
        let at = |method: &str, text: &str| format!("{method}:{}", line_of("Writes", text));
        let base = at("Writes$Base.<init>", "// by the class itself");
        let place = [
            base.clone(),
            at("Writes$Order.close", "// by a subclass, by its"),
            at("Writes$Order$Inner.reopen", "// by a nested class"),
            at("Writes.once", "\"BASE\"; // by a stranger"),
            at("Writes.once", "// by a stranger, by"),
            base,
            at("Writes$Hiding.set", "// by the name of the superclass"),
            at("Writes.lambda$once$0", "// by a lambda"),
        ];
        let values = [
            ["null", "\"NEW\""],
            ["\"NEW\"", "\"CLOSED\""],
            ["\"CLOSED\"", "\"OPEN\""],
            ["\"OPEN\"", "\"BASE\""],
            ["\"BASE\"", "\"ORDER\""],
            ["null", "\"NEW\""],
            ["\"NEW\"", "\"super\""],
            ["\"ORDER\"", "null"],
        ];
        let expected: Vec<[String; 3]> = place
            .into_iter()
            .zip(values)
            .map(|(place, [old, new])| [place, format!("old = {old}"), format!("new = {new}")])
            .collect();
        let writes = of_a_round(jdk, "Writes$Base.status");
        assert_eq!(writes, expected, "{jdk}");
    }
}

#[test]
fn static_and_primitive_fields_are_watched_as_well() {
    for jdk in jdks::main_two() {
        let writes = of_a_round(&jdk, "Writes$Base.count");
        assert_eq!(
            texts(&writes)
                .iter()
                .map(|write| &write[1..])
                .collect::<Vec<_>>(),
            [["old = 0", "new = 1"], ["old = 1", "new = 11"]],
            "{jdk}"
        );
        let writes = of_a_round(&jdk, "Writes$Ba*.pri*");
        assert_eq!(
            texts(&writes)
                .iter()
                .map(|write| &write[1..])
                .collect::<Vec<_>>(),
            [["old = 0.0", "new = 2.5"]],
            "{jdk}"
        );
        // A hiding field belongs to its own class.
        let writes = of_a_round(&jdk, "Writes$Hiding.status");
        assert_eq!(
            texts(&writes)
                .iter()
                .map(|write| &write[1..])
                .collect::<Vec<_>>(),
            [["old = null", "new = \"hidden\""]],
            "{jdk}"
        );
    }
}

/// A write to `null` throws the same exception as before, with the same message.
#[test]
fn program_computes_and_throws_the_same() {
    for jdk in jdks::all() {
        let plain = Java::new(jdk).class_path(&[classes()]).main("Writes").run();
        let last = |text: &str| text.lines().last().expect("a line").to_owned();
        let expected = last(&plain.stdout);
        assert!(
            expected.contains("NullPointerException"),
            "{}",
            plain.report()
        );
        let words = ["--field", "Writes$*.*", "--limit", "1000"];
        let run = watch(jdk, classes(), "Writes", &words);
        run.assert_success();
        // Lines of the watch are in between.
        let is_there = run.stdout.lines().any(|line| line == expected);
        assert!(is_there, "{expected}: {}", run.report());
    }
}

/// A field that is written before `super()` belongs to an object that cannot be read yet.
#[test]
fn write_before_the_object_is_initialized_is_shown_without_values() {
    for jdk in jdks::main_two() {
        let writes = of_a_round(&jdk, "Writes$Order$Inner.this$0");
        let [write] = &writes[..] else {
            panic!("{writes:?}");
        };
        assert!(
            write[0].starts_with("Writes$Order$Inner.<init>:"),
            "{write:?}"
        );
        assert_eq!(write[1..], ["old = ?", "new = ?"]);
    }
    // From JDK 25 on, constructors may do so themselves.
    let jdk = jdks::newest();
    let folder = scratch();
    let source = folder.path().join("Early.java");
    let text = "public class Early {\nfinal int kept;\nEarly(int number) {\nkept = number;\nsuper();\n}\npublic static void main(String[] arguments) { System.out.println(new Early(7).kept); }\n}\n";
    std::fs::write(&source, text).expect("writable");
    let classes = javac::compile(&jdk, &[&source], folder.path(), &["-g"]);
    let run = watch(&jdk, &classes, "Early", &["--field", "Early.kept"]);
    run.assert_success().assert_stderr("1 write shown");
    assert!(
        run.stdout.contains("Early.<init>:4  writes Early.kept"),
        "{}",
        run.report()
    );
    assert!(
        run.stdout.contains("\n7\n") || run.stdout.starts_with("7\n"),
        "{}",
        run.report()
    );
}

/// Only classes with instructions that name such a field are retransformed.
#[test]
fn classes_without_such_a_field_are_not_retransformed() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let log = folder.path().join("redefined.txt");
        let logged = format!("-Xlog:redefine+class*=info:file={}", log.display());
        let rounds = Rounds::with(&jdk, classes(), "Writes", &[&logged]);
        let field = ["--field", "Writes$Base.status", "--limit", "3"];
        let run = classhook(&[&["watch", &rounds.pid][..], &field].concat());
        run.assert_success().assert_stderr("3 writes shown");
        assert_no_agent(&rounds.pid);
        rounds.end();
        let log = std::fs::read_to_string(&log).expect("the log");
        let is_redefined = |class: &str| log.contains(&format!("redefined name={class},"));
        assert!(is_redefined("Writes$Order"), "{jdk}: {log}");
        assert!(!is_redefined("Writes$Counter"), "{jdk}: {log}");
    }
}

#[test]
fn writes_in_a_running_jvm_are_objects_with_field_place_and_stack() {
    for jdk in jdks::main_two() {
        let rounds = Rounds::start(&jdk, classes(), "Writes");
        let condition = "new == \"CLOSED\" && old != null && object.price == 0";
        let words = [
            "watch",
            &rounds.pid,
            "--field",
            "Writes$Base.status",
            "--when",
            condition,
        ];
        let more = [
            "--show",
            "object, object.lines.size, old.length, new, this, stack(2)",
            "--limit",
            "3",
            "--json-lines",
        ];
        let run = classhook(&[&words[..], &more].concat());
        run.assert_success().assert_stderr("3 writes shown");
        let objects: Vec<Value> = run
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).expect("an object"))
            .collect();
        assert_eq!(objects.len(), 3);
        for object in objects {
            assert_eq!(object["event"], "write");
            assert_eq!(object["field"], "Writes$Order.status");
            assert_eq!(object["class"], "Writes$Order");
            let shown = &object["shown"];
            assert_eq!(shown["object"]["class"], "Writes$Order", "{}", run.report());
            assert_eq!(shown["object"], shown["this"]);
            assert_eq!(
                (
                    &shown["object.lines.size"],
                    &shown["old.length"],
                    &shown["new"]
                ),
                (&json!(0), &json!(3), &json!("CLOSED"))
            );
            assert_eq!(object["stack"][1]["method"], "once");
        }
        assert_no_agent(&rounds.pid);
        let words = [
            "watch",
            &rounds.pid,
            "--field",
            "Writes$Base.none",
            "--for",
            "300ms",
        ];
        classhook(&words)
            .assert_exit(2)
            .assert_stderr("error[H0650]: no write of the field was watched");
        let words = [
            "watch",
            &rounds.pid,
            "--field",
            "Writes$Base.status",
            "--show",
            "returned",
        ];
        classhook(&words)
            .assert_exit(2)
            .assert_stderr("error[H0115]")
            .assert_stderr("`old`, `new`, `object`");
        rounds.end();
    }
}
