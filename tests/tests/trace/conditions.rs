//! Single calls that match a condition, and the values read for it. The calls of the program follow from their numbers
//! (`tests/java/watch/Shop.java`).

use crate::support::agent::noise;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, scratch, workspace};
use probes::events::{Call, CaptureSource, Outcome, Trace, Value};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Compiles the classes of `tests/java/watch`.
pub(super) fn classes() -> &'static Path {
    static CLASSES: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, classes) = CLASSES.get_or_init(|| {
        let folder = scratch();
        let files = ["Shop", "Basket"].map(|name| format!("java/watch/{name}.java"));
        let [shop, basket] = files.map(|file| workspace::test_file(&file));
        let options = ["--release", "11", "-g"];
        let classes = javac::compile(&jdks::newest(), &[&shop, &basket], folder.path(), &options);
        (folder, classes)
    });
    classes
}

/// Runs a case of the program with these options for the calls of a method.
#[track_caller]
fn record(jdk: &Jdk, method: &str, asked: &[(&str, &str)], arguments: &[&str]) -> Trace {
    let folder = scratch();
    let asked = asked.iter().map(|(key, value)| {
        let value = value.replace('\\', "\\\\").replace(',', "\\,");
        format!(",{key}={value}")
    });
    let options = format!(
        "plugin=trace,output={},on-error=strict,settings={{\"methods\":[\"Shop$Store.{method}\"]}}{}",
        folder.path().display(),
        asked.collect::<String>()
    );
    let run = Java::new(jdk)
        .all_compilers()
        .options(&["-Xverify:all", "-Xcheck:jni"])
        .class_path(&[classes()])
        .agent(Some(&options))
        .main("Shop")
        .arguments(arguments)
        .run();
    run.assert_success();
    assert!(noise(&run).is_empty(), "{}", run.report());
    let files = javac::files_with_extension(folder.path(), "events");
    Trace::read(files.first().expect("an event file")).expect("a readable one")
}

/// Returns the value of a call with this text in the condition or the list.
#[track_caller]
fn shown<'t>(trace: &'t Trace, call: &'t Call, name: &str) -> &'t Value {
    let span = &trace.spans[&call.span];
    let slot = span.shown.iter().position(|shown| shown == name);
    let slot = slot.unwrap_or_else(|| panic!("{name} is not among {:?}", span.shown)) as u8;
    let mut captures = call.captures.iter();
    let found = captures.find(|capture| capture.source == CaptureSource::Shown(slot));
    &found
        .unwrap_or_else(|| panic!("no {name} in {call:?}"))
        .value
}

/// Returns `arg[1]` of each recorded call, in their order.
fn numbers(trace: &Trace) -> Vec<i32> {
    let number = |call| match shown(trace, call, "arg[1]") {
        Value::Int(number) => *number,
        other => panic!("{other}"),
    };
    trace.calls.iter().map(number).collect()
}

/// Returns whether an index throws, as in the program's source.
fn throws(index: &i32) -> bool {
    index % 10 == 3
}

#[test]
fn calls_that_match_are_kept_and_the_others_counted() {
    for jdk in jdks::main_two() {
        let when = "arg[0] == \"key-7\" && arg[1] >= 10 || threw";
        let trace = record(&jdk, "find", &[("when", when)], &["calls", "200"]);
        let expected: Vec<i32> = (0..200)
            .filter(|index| index % 10 == 7 && *index >= 10 || throws(index))
            .collect();
        assert_eq!(numbers(&trace), expected);
        let kept = expected.len() as u64;
        assert_eq!((trace.lost.filtered, trace.lost.undecided), (200 - kept, 0));
        assert!(trace.lost.is_none(), "{:?}", trace.lost);
        let sums: Vec<_> = trace.aggregates.values().collect();
        assert_eq!(
            (sums[0].count, sums[0].errors),
            (200, 20),
            "sums are of all calls"
        );
        let threw = |call: &&Call| matches!(&call.outcome, Outcome::Threw(Some(class)) if &**class == "java/lang/IllegalStateException");
        assert_eq!(trace.calls.iter().filter(threw).count(), 20);
    }
}

#[test]
fn slow_calls_are_kept() {
    for jdk in jdks::main_two() {
        let asked = [("when", "duration >= 50ms"), ("show", "arg[1]")];
        let trace = record(&jdk, "find", &asked, &["calls", "200"]);
        let found = numbers(&trace);
        // Others may have been slow as well.
        assert!(
            [7, 57, 107, 157].iter().all(|index| found.contains(index)),
            "{found:?}"
        );
        assert!(
            trace
                .calls
                .iter()
                .all(|call| call.end - call.start >= 50_000_000)
        );
        assert_eq!(trace.lost.filtered + trace.calls.len() as u64, 200);
    }
}

#[test]
fn fields_elements_and_lengths_are_read_without_calls() {
    for jdk in jdks::main_two() {
        let when = "this.last.lines[1].count == 13 && arg[2].next.lines[0].text == \"first 1012\"";
        let show = "this.size, this.hidden, this.name, this.name.length, arg[2].lines.length, \
                    arg[2].class, arg[2].price, arg[2].boxed, arg[2].open, arg[2].mark, \
                    arg[2].numbers[1], arg[2].lines[2], arg[2].next.next, arg[2].next.next.id, \
                    arg[2].nothing, arg[2].lines[3], returned.note, this.LIMIT, arg[0].length, \
                    arg[2].next.lines[1].text";
        let asked = [("when", when), ("show", show)];
        let trace = record(&jdk, "find", &asked, &["calls", "40"]);
        assert_eq!(trace.calls.len(), 1, "{:?}", trace.lost);
        let found: Vec<(&str, String)> = trace.spans[&trace.calls[0].span]
            .shown
            .iter()
            .map(|name| {
                (
                    name.as_str(),
                    shown(&trace, &trace.calls[0], name).to_string(),
                )
            })
            .collect();
        let expected = [
            ("this.last.lines[1].count", "13"),
            ("arg[2].next.lines[0].text", "\"first 1012\""),
            ("this.size", "13"),
            ("this.hidden", "\"its own\""),
            ("this.name", "\"store \\u{1b}[31m\\n\""),
            ("this.name.length", "12"),
            ("arg[2].lines.length", "3"),
            ("arg[2].class", "Shop$Order"),
            ("arg[2].price", "12.5"),
            ("arg[2].boxed", "24"),
            ("arg[2].open", "true"),
            ("arg[2].mark", "'m'"),
            ("arg[2].numbers[1]", "-12"),
            ("arg[2].lines[2]", "null"),
            ("arg[2].next.next", "null"),
            ("arg[2].next.next.id", "?"),
            ("arg[2].nothing", "?"),
            ("arg[2].lines[3]", "?"),
            ("returned.note", "null"),
            ("this.LIMIT", "?"),
            ("arg[0].length", "5"),
            ("arg[2].next.lines[1].text", "\"second\""),
        ];
        assert_eq!(
            found,
            expected.map(|(name, value)| (name, value.to_owned()))
        );
        assert_eq!(trace.lost.captures, 0);
    }
}

#[test]
fn calls_with_missing_values_are_counted() {
    for jdk in jdks::main_two() {
        let when = "arg[2].next.id > 1035 && !threw";
        let show = ("show", "arg[1]");
        let trace = record(&jdk, "find", &[("when", when), show], &["calls", "40"]);
        assert_eq!(numbers(&trace), [36, 37, 38]);
        // Calls with null have no field.
        assert_eq!((trace.lost.filtered, trace.lost.undecided), (37, 4));
        let nulls = [("when", "arg[2] == null || returned == null"), show];
        let trace = record(&jdk, "find", &nulls, &["calls", "30"]);
        assert_eq!(numbers(&trace), [4, 9, 14, 19, 24, 29]);
        assert_eq!(trace.lost.undecided, 0);
    }
}

#[test]
fn exceptions_have_classes_and_fields() {
    for jdk in jdks::main_two() {
        let when =
            "thrown == \"java.lang.IllegalStateException\" && thrown.detailMessage.endsWith(\"3\")";
        let asked = [
            ("when", when),
            ("show", "arg[1], thrown, thrown.detailMessage, this.size"),
        ];
        let trace = record(&jdk, "find", &asked, &["calls", "30"]);
        assert_eq!(numbers(&trace), [3, 13, 23]);
        let last = &trace.calls[2];
        let value = |name| shown(&trace, last, name).to_string();
        assert_eq!(value("thrown"), "java.lang.IllegalStateException");
        assert_eq!(value("thrown.detailMessage"), "\"index 23\"");
        assert_eq!(value("this.size"), "24");
        assert_eq!(trace.lost.undecided, 0);
    }
}

#[test]
fn recursion_has_a_depth_and_a_stack() {
    for jdk in jdks::main_two() {
        let asked = [
            ("when", "depth >= 47 && arg[0] != 1"),
            ("show", "arg[0], stack(4), returned"),
        ];
        let trace = record(&jdk, "down", &asked, &["down", "50"]);
        let mut found: Vec<String> = trace
            .calls
            .iter()
            .map(|call| {
                format!(
                    "{} {}",
                    shown(&trace, call, "arg[0]"),
                    shown(&trace, call, "returned")
                )
            })
            .collect();
        found.sort();
        assert_eq!(found, ["0 0", "2 2", "3 3"]);
        for call in &trace.calls {
            let stack = call
                .captures
                .iter()
                .find(|it| it.source == CaptureSource::Stack);
            let Some(Value::Stack(frames)) = stack.map(|it| &it.value) else {
                panic!("no stack in {call:?}");
            };
            let named: Vec<(&str, &str)> = frames
                .iter()
                .map(|frame| (&*frame.class, &*frame.method))
                .collect();
            assert_eq!(named, [("Shop$Store", "down"); 4]);
            assert!(
                frames
                    .iter()
                    .all(|frame| frame.line == frames[0].line && frame.line > 0)
            );
        }
        assert_eq!(trace.lost.filtered, 48);
    }
}

#[test]
fn primitive_arguments_are_compared() {
    for jdk in jdks::main_two() {
        let when = "arg[0] == 6 && arg[1] == 3.0 && arg[2] == -6 && arg[3] == true && arg[3] && \
                    arg[4] == 'x' && arg[5].length == 6 && args.length == 6 && returned == 0 \
                    && this.size != 0";
        let asked = [
            ("when", &when[..when.len() - "&& this.size != 0".len()]),
            ("show", "arg"),
        ];
        let trace = record(&jdk, "sum", &asked, &["sum", "20"]);
        assert_eq!(trace.calls.len(), 1, "{:?}", trace.lost);
        let arguments: Vec<String> = trace.calls[0]
            .captures
            .iter()
            .filter(|capture| matches!(capture.source, CaptureSource::Argument(_)))
            .map(|capture| capture.value.to_string())
            .collect();
        assert_eq!(arguments, ["6", "3.0", "-6", "true", "'x'", "int[6]"]);
        // A static method has no `this`.
        let trace = record(&jdk, "sum", &[("when", when)], &["sum", "20"]);
        assert_eq!(
            (trace.calls.len(), trace.lost.filtered, trace.lost.undecided),
            (0, 20, 1)
        );
    }
}

#[test]
fn virtual_threads_have_their_own_calls_and_stacks() {
    for jdk in jdks::main_two() {
        let asked = [
            ("when", "arg[1] == 8 && this.size == 9"),
            ("show", "stack(3), arg[2].id"),
        ];
        let trace = record(&jdk, "find", &asked, &["threads", "300"]);
        assert_eq!(trace.calls.len(), 300, "{:?}", trace.lost);
        assert_eq!(trace.lost.filtered, 2_700);
        assert!(trace.lost.is_none(), "{:?}", trace.lost);
        let is_virtual = |call: &Call| trace.threads[&call.thread].is_virtual;
        assert!(
            trace
                .calls
                .iter()
                .all(|call| is_virtual(call) == (jdk.feature >= 21))
        );
        for call in &trace.calls {
            let stack = call
                .captures
                .iter()
                .find(|it| it.source == CaptureSource::Stack);
            let Some(Value::Stack(frames)) = stack.map(|it| &it.value) else {
                panic!("no stack in {call:?}");
            };
            let named: Vec<&str> = frames.iter().map(|frame| &*frame.method).collect();
            assert_eq!(named[..2], ["find", "calls"]);
            assert!(named[2].starts_with("lambda$threads$"), "{named:?}");
        }
    }
}

#[test]
fn calls_are_limited() {
    for jdk in jdks::main_two() {
        let asked = [("when", "arg[1] >= 5"), ("calls", "3")];
        let trace = record(&jdk, "find", &asked, &["calls", "50"]);
        assert_eq!(numbers(&trace), [5, 6, 7]);
        assert_eq!((trace.lost.filtered, trace.lost.beyond_limit), (5, 42));
    }
}

/// Runs `classhook trace` on a case of the program.
fn traced(jdk: &Jdk, folder: &Path, words: &[&str]) -> Run {
    let words = [&["trace", "--methods", "Shop$Store.find"], words].concat();
    beside(&words, jdk, folder, "40")
}

/// Runs a command of `classhook` that starts the program with this number of calls.
pub(super) fn beside(words: &[&str], jdk: &Jdk, folder: &Path, calls: &str) -> Run {
    Java::program(workspace::classhook())
        .arguments(words)
        .argument("-o")
        .argument(folder)
        .argument("--")
        .argument(jdk.tool("java"))
        .argument("-cp")
        .argument(classes())
        .arguments(&["Shop", "calls", calls])
        .run()
}

#[test]
fn command_reports_the_calls_that_it_left_out() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let words = [
            "--when",
            "arg[1] == 13 || arg[2].id == 7",
            "--show",
            "arg[1], this.size",
        ];
        let file = folder.path().join("calls.jsonl");
        let path = file.to_string_lossy();
        let lines = ["--min-duration", "1ns", "--json-lines", &path];
        let run = traced(&jdk, folder.path(), &[&words[..], &lines[..]].concat());
        run.assert_success();
        for part in [
            "40 calls of 1 traced method",
            "left out: 38 calls not matching the condition",
            "4 of them lacked a value of the condition",
        ] {
            assert!(run.stdout.contains(part), "{}", run.report());
        }
        let text = std::fs::read_to_string(&file).expect("the file");
        let ends = text.lines().filter_map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            line.get("shown").cloned()
        });
        let expected = [
            serde_json::json!({"arg[1]": 7, "arg[2].id": 7, "this.size": 8}),
            serde_json::json!({"arg[1]": 13, "arg[2].id": 13, "this.size": 14}),
        ];
        assert_eq!(ends.collect::<Vec<_>>(), expected);
    }
}

#[test]
fn wrong_conditions_are_refused_with_their_place_before_anything_starts() {
    let jdk = jdks::newest();
    let folder = scratch();
    let output = folder.path().join("out");
    let refused = |words: &[&str], code: &str, place: &str| {
        let run = traced(&jdk, &output, words);
        run.assert_exit(2);
        run.assert_stderr(code);
        if !place.is_empty() {
            let lines: Vec<&str> = run.stderr.lines().collect();
            let carets = lines.iter().position(|line| line.contains('^'));
            let carets = carets.unwrap_or_else(|| panic!("{}", run.report()));
            let at = lines[carets].find('^').expect("a caret");
            assert!(
                lines[carets - 1][at..].starts_with(place),
                "{}",
                run.report()
            );
        }
        assert!(!output.exists());
    };
    refused(&["--when", "duration > 100 && threw"], "H0115", "100");
    refused(
        &["--when", "arg[0] % 2 == 0", "--min-duration", "1ms"],
        "H0115",
        "%",
    );
    refused(&["--show", "this.size, 5"], "H0115", "5");
    refused(
        &["--min-duration", "5"],
        "expected a number with ns, us, ms, s, m or h",
        "",
    );
    refused(&["--aggregate", "--when", "threw"], "--aggregate", "");
    refused(&["--when", ""], "a value is required for '--when", "");
    refused(&["--show", ""], "a value is required for '--show", "");
    refused(&["--interval", "0.5s"], "expected at least 1s", "");
}
