//! `classhook watch --at`: visits of lines, with the local variables in scope.

use crate::support::command::{LATE, assert_no_agent, begun, classhook};
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, scratch, workspace};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Compiles the programs of these tests, with local variables in their class files.
pub(super) fn classes() -> &'static Path {
    static CLASSES: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, classes) = CLASSES.get_or_init(|| {
        let folder = scratch();
        let files = ["Lines", "Writes"].map(|name| format!("java/watch/{name}.java"));
        let [lines, writes] = files.map(|file| workspace::test_file(&file));
        let options = ["--release", "8", "-g"];
        let classes = javac::compile(&jdks::newest(), &[&lines, &writes], folder.path(), &options);
        (folder, classes)
    });
    classes
}

/// Returns the number of the source line with this text.
#[track_caller]
pub(super) fn line_of(program: &str, text: &str) -> usize {
    let source = workspace::test_file(&format!("java/watch/{program}.java"));
    let source = std::fs::read_to_string(source).expect("the source");
    let mut lines = source.lines();
    let at = lines.position(|line| line.contains(text));
    at.unwrap_or_else(|| panic!("no line has {text}")) + 1
}

/// Returns the moments in an output: each first line without its time, and the lines below.
pub(super) fn moments(text: &str) -> Vec<Vec<String>> {
    let mut moments: Vec<Vec<String>> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("    "), moments.last_mut()) {
            (Some(below), Some(moment)) => moment.push(below.to_owned()),
            _ if line.as_bytes().get(12) == Some(&b'Z') => {
                moments.push(vec![line[13..].trim_start().to_owned()]);
            }
            _ => {} // output of the program
        }
    }
    moments
}

/// Runs `classhook watch` on a program that it starts.
pub(super) fn watch(jdk: &Jdk, classes: &Path, program: &str, words: &[&str]) -> Run {
    let folder = scratch();
    Java::program(workspace::classhook())
        .variable("CLASSHOOK_AGENT", workspace::agent_library())
        .arguments(&["watch", "-o"])
        .argument(folder.path())
        .arguments(words)
        .argument("--")
        .argument(jdk.tool("java"))
        .arguments(&["-Xverify:all", "-cp"])
        .argument(classes)
        .argument(program)
        .run()
}

/// Returns the place of a line of `Lines.java`.
#[track_caller]
fn at(text: &str) -> String {
    format!("Lines.java:{}", line_of("Lines", text))
}

/// Runs the program. Returns the number of moments at a line and the text of the first.
#[track_caller]
fn first(jdk: &Jdk, text: &str, more: &[&str]) -> (usize, Vec<String>) {
    let run = watch(
        jdk,
        classes(),
        "Lines",
        &[&["--at", &at(text)], more].concat(),
    );
    run.assert_success();
    let mut moments = moments(&run.stdout);
    assert!(!moments.is_empty(), "{}", run.report());
    (moments.len(), moments.remove(0))
}

#[test]
fn local_variables_of_each_type_are_shown_where_a_line_begins() {
    for jdk in jdks::all() {
        let (count, shown) = first(jdk, "// all of them", &["--depth", "0"]);
        let place = format!("main  Lines.total:{}", line_of("Lines", "// all of them"));
        let object = |line: &str| line.split('@').next().unwrap_or_default().to_owned();
        assert_eq!(count, 3, "{jdk}");
        assert_eq!(object(&shown[1]), "this = Lines", "{jdk}");
        assert_eq!(object(&shown[2]), "order = Lines$Order", "{jdk}");
        let others = [
            place.as_str(),
            "weights = int[2]",
            "factor = 2",
            "total = 6.5",
            "small = 7",
            "letter = 'x'",
            "isLarge = true",
            "half = 0.5",
            "nothing = null",
        ];
        assert_eq!([&shown[..1], &shown[3..]].concat(), others, "{jdk}");
    }
}

#[test]
fn expressions_go_on_from_local_variables_and_stacks_are_shown() {
    for jdk in jdks::main_two() {
        let show = "total, order.items[0].price, order.items.size, weights[1], this.name, arg[2], weights[7], stack(2)";
        let (_, shown) = first(&jdk, "// all of them", &["--show", show]);
        let inner = format!("at Lines.total:{}", line_of("Lines", "// all of them"));
        let outer = format!("at Lines.once:{}", line_of("Lines", "new Lines("));
        let expected = [
            "total = 6.5",
            "order.items[0].price = 1.5",
            "order.items.size = 2",
            "weights[1] = 2",
            "this.name = \"n0\"",
            "arg[2] = 2",
            "weights[7] = ?",
            &inner,
            &outer,
        ];
        assert_eq!(shown[1..], expected, "{jdk}");
    }
}

/// The program computes the same results with any operands on the stack at the begin of a line.
#[test]
fn line_may_begin_above_operands_and_objects_that_are_not_initialized() {
    let plain = |jdk: &Jdk| {
        let java = Java::new(jdk).class_path(&[classes()]);
        java.main("Lines").run().assert_success().stdout.clone()
    };
    for jdk in jdks::all() {
        let expected = plain(jdk);
        let sum = expected.lines().last().expect("a sum");
        for (text, count, shown) in [
            ("// above another operand", 3, "base = 3"),
            ("// below an object", 3, "least = 3.0"),
            ("// in a handler", 6, "number = 0"),
            ("// in a nested class", 3, "both = \"tt\""),
            ("// in another class of", 3, "next = 1"),
            ("// within the loop", 6, "total = 0.0"),
        ] {
            let run = watch(jdk, classes(), "Lines", &["--at", &at(text)]);
            run.assert_success();
            let moments = moments(&run.stdout);
            assert_eq!(moments.len(), count, "{text} on {jdk}: {}", run.report());
            assert!(
                moments[0].iter().any(|line| line == shown),
                "{text}: {}",
                run.report()
            );
            assert!(
                run.stdout.lines().any(|line| line == sum),
                "{text}: {}",
                run.report()
            );
        }
    }
}

/// A loop, a copied `finally` block, a lambda: each piece of code of the line is a place.
#[test]
fn each_piece_of_code_of_a_line_is_a_place() {
    for jdk in jdks::main_two() {
        // The begin once, and the step twice.
        assert_eq!(
            first(&jdk, "// twice on one line", &["--show", "order.id"]).0,
            9
        );
        // Both paths through it; the second ends in the handler.
        assert_eq!(first(&jdk, "// copied by the compiler", &[]).0, 6);
        let words = ["--at", &at("// a lambda, and"), "--show", "outer, arg[0]"];
        let run = watch(&jdk, classes(), "Lines", &words);
        run.assert_success();
        let places: Vec<String> = moments(&run.stdout)
            .iter()
            .map(|it| it[0].clone())
            .collect();
        let within = |method: &str| places.iter().filter(|it| it.contains(method)).count();
        assert_eq!(within("Lines.lambda:"), 3, "{}", run.report());
        assert_eq!(within("Lines.lambda$lambda$0:"), 3, "{}", run.report());
    }
}

#[test]
fn variables_of_a_line_are_conditions_and_limits_hold() {
    for jdk in jdks::main_two() {
        let condition = "item.price > 2 && this.name == \"n1\" && index == 1";
        let words = ["--when", condition, "--show", "item.price, total"];
        let (count, shown) = first(&jdk, "// within the loop", &words);
        assert_eq!(
            (count, &shown[1..]),
            (
                1,
                &["item.price = 2.5".to_owned(), "total = 1.5".to_owned()][..]
            )
        );
        let words = ["--at", &at("// within the loop"), "--limit", "2"];
        let run = watch(&jdk, classes(), "Lines", &words);
        run.assert_success().assert_stderr("2 moments shown");
        assert_eq!(moments(&run.stdout).len(), 2);
    }
}

/// `Lines until`, which runs rounds until its input ends.
pub(super) struct Rounds {
    child: Child,
    output: BufReader<ChildStdout>,
    pub pid: String,
}

impl Rounds {
    pub fn start(jdk: &Jdk, classes: &Path, program: &str) -> Self {
        Self::with(jdk, classes, program, &[])
    }

    pub fn with(jdk: &Jdk, classes: &Path, program: &str, options: &[&str]) -> Self {
        let java = Java::new(jdk).options(&LATE).options(options);
        let java = java.class_path(&[classes]);
        let mut child = java.main(program).arguments(&["until"]).spawn_talking();
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("text");
        assert_eq!(line, "ready\n");
        let pid = child.id().to_string();
        Self { child, output, pid }
    }

    #[track_caller]
    pub fn end(mut self) {
        let mut input = self.child.stdin.take().expect("a pipe");
        writeln!(input, "end").expect("it reads");
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("text");
        assert_eq!(self.child.wait().expect("an end").code(), Some(0));
        assert_eq!(rest, "end\n");
    }
}

/// Ends the process when a test fails.
impl Drop for Rounds {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

#[test]
fn line_of_a_running_jvm_is_watched_by_file_method_and_class() {
    for jdk in jdks::main_two() {
        let rounds = Rounds::start(&jdk, classes(), "Lines");
        let number = line_of("Lines", "// within the loop");
        for place in [
            format!("Lines.java:{number}"),
            format!("src/main/java/Lines.java:{number}"),
            format!("Lines.total:{number}"),
            format!("Lines.*:{number}"),
        ] {
            let words = [
                "watch",
                &rounds.pid,
                "--at",
                &place,
                "--limit",
                "2",
                "--json-lines",
            ];
            let run = classhook(&[&words[..], &["--show", "index, item.price"]].concat());
            run.assert_success().assert_stderr("2 moments shown");
            let object: Value = run
                .stdout
                .lines()
                .next()
                .and_then(|line| serde_json::from_str(line).ok())
                .expect("an object");
            assert_eq!(object["event"], "line", "{}", run.report());
            assert_eq!(
                (&object["class"], &object["method"]),
                (&json!("Lines"), &json!("total"))
            );
            assert_eq!(object["line"], json!(number));
            let index = &object["shown"]["index"];
            assert_eq!(
                object["shown"]["item.price"],
                json!(index.as_f64().expect("a number") + 1.5)
            );
            assert_no_agent(&rounds.pid);
        }
        rounds.end();
    }
}

#[test]
fn line_without_code_is_reported_with_the_nearest_lines_with_code() {
    let jdk = jdks::newest();
    let rounds = Rounds::start(&jdk, classes(), "Lines");
    let handler = line_of("Lines", "// in a handler");
    let place = format!("Lines.java:{}", handler + 1); // `} finally {`
    let run = classhook(&["watch", &rounds.pid, "--at", &place, "--for", "300ms"]);
    let nearest = format!(
        "{place} has no code; the nearest lines with code are {handler} and {}",
        handler + 2
    );
    run.assert_exit(2)
        .assert_stderr("warning[H0650]: no line of a loaded class is watched")
        .assert_stderr(&nearest)
        .assert_stderr("error[H0650]: no line was watched");
    let run = classhook(&[
        "watch",
        &rounds.pid,
        "--at",
        "Lnes.java:12",
        "--for",
        "300ms",
    ]);
    run.assert_exit(2).assert_stderr("error[H0650]");
    rounds.end();
    watch(&jdk, classes(), "Lines", &["--at", &place])
        .assert_exit(2)
        .assert_stderr(&format!(
            "{place} has no code here; the nearest lines with code are {handler}"
        ))
        .assert_stderr("error[H0650]: no line was watched");
}

#[test]
fn variable_out_of_scope_is_reported_with_those_in_scope() {
    let jdk = jdks::newest();
    let rounds = Rounds::start(&jdk, classes(), "Lines");
    let words = [
        "watch",
        &rounds.pid,
        "--at",
        &at("// within the loop"),
        "--show",
        "totl",
    ];
    let run = classhook(&words);
    run.assert_exit(2)
        .assert_stderr("error[H0650]: no line can be watched so")
        .assert_stderr("no local variable `totl` is in scope here")
        .assert_stderr("this, order, weights, factor, total, index, item");
    assert_eq!(run.stderr.matches("`totl`").count(), 1, "{}", run.report());
    assert_no_agent(&rounds.pid);
    let words = [
        "watch",
        &rounds.pid,
        "--at",
        &at("// within the loop"),
        "--show",
        "duration > 3",
    ];
    classhook(&words)
        .assert_exit(2)
        .assert_stderr("error[H0115]");
    for wrong in [
        "Lines.java",
        "Lines.java:0",
        "Lines.java:x",
        ":12",
        "Lines.java:70000",
    ] {
        let words = ["watch", &rounds.pid, "--at", wrong];
        let run = classhook(&words);
        run.assert_exit(2).assert_stderr("FILE:LINE");
    }
    classhook(&["watch", &rounds.pid, "Lines.total", "--at", "Lines.java:3"])
        .assert_exit(2)
        .assert_stderr("error[H0655]");
    rounds.end();
}

#[test]
fn class_file_without_variable_names_gives_arguments_and_a_message() {
    let jdk = jdks::newest();
    let folder = scratch();
    let source = workspace::test_file("java/watch/Lines.java");
    let options = ["--release", "11", "-g:none", "-g:lines,source"];
    let classes = javac::compile(&jdk, &[&source], folder.path(), &options);
    let run = watch(
        &jdk,
        &classes,
        "Lines",
        &["--at", &at("// all of them"), "--limit", "1"],
    );
    run.assert_success();
    let shown = moments(&run.stdout).remove(0);
    assert_eq!(
        shown[3..5],
        ["arg[1] = [1, 2]", "arg[2] = 2"],
        "{}",
        run.report()
    );
    assert!(shown[5].contains("compile with -g"), "{}", run.report());
    let words = ["--at", &at("// all of them"), "--show", "total"];
    watch(&jdk, &classes, "Lines", &words)
        .assert_exit(2)
        .assert_stderr("has no names of local variables, so `total` is unknown; compile with -g");
}

/// A class of the file is loaded after the start of the watch.
#[test]
fn line_of_a_class_that_is_loaded_later_is_watched() {
    let jdk = jdks::newest();
    let folder = scratch();
    let class = "public class Later { public static void main(String[] arguments) throws Exception { System.out.println(\"ready\"); System.in.read(); System.out.println(Loaded.twice(21)); } }\nclass Loaded { static int twice(int number) {\nint both = number * 2;\nreturn both;\n} }\n";
    let source = folder.path().join("Later.java");
    std::fs::write(&source, class).expect("writable");
    let classes = javac::compile(&jdk, &[&source], folder.path(), &["--release", "11"]);
    let java = Java::new(&jdk).options(&LATE).class_path(&[&classes]);
    let mut child = java.main("Later").spawn_talking();
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    output.read_line(&mut String::new()).expect("text");
    let pid = child.id().to_string();
    let words = [
        "watch",
        &pid,
        "--at",
        "Later.java:4",
        "--limit",
        "1",
        "--show",
        "both",
    ];
    let (watch, _told) = begun(&words);
    let mut input = child.stdin.take().expect("a pipe");
    writeln!(input, "go").expect("it reads");
    drop(input);
    let shown = watch.wait_with_output().expect("an end");
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(
        shown.contains("Loaded.twice:4") && shown.contains("both = 42"),
        "{shown}"
    );
    let mut rest = String::new();
    output.read_to_string(&mut rest).expect("text");
    assert_eq!(rest, "42\n");
    assert!(child.wait().expect("an end").success());
}
