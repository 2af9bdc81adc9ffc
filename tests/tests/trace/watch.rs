//! `classhook watch`: single calls as they end, in a running JVM and in a command.

use super::conditions::{beside, classes};
use crate::support::command::{LATE, assert_no_agent, await_no_edits, begun, classhook};
use crate::support::leftovers::Leftovers;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::patience::await_that;
use e2e_tests::{scratch, workspace};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout};

/// `Shop until`, which repeats ten calls until its input ends. The one with the index 7 takes 60 ms.
struct Shop {
    child: Child,
    output: BufReader<ChildStdout>,
    pid: String,
}

impl Shop {
    fn start(jdk: &Jdk) -> Self {
        Self::of(&Self::java(jdk))
    }

    fn java(jdk: &Jdk) -> Java {
        let java = Java::new(jdk).options(&LATE).class_path(&[classes()]);
        java.main("Shop").arguments(&["until", "0"])
    }

    fn of(java: &Java) -> Self {
        let mut child = java.spawn_talking();
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("text");
        assert_eq!(line, "ready\n");
        let pid = child.id().to_string();
        Self { child, output, pid }
    }

    /// Runs `classhook watch` on it.
    fn watch(&self, output: &Path, words: &[&str]) -> Run {
        let output = output.to_string_lossy();
        classhook(&[&["watch", &self.pid, "-o", &output], words].concat())
    }

    /// Asserts that it still runs, and ends it.
    #[track_caller]
    fn end(mut self) {
        let mut input = self.child.stdin.take().expect("a pipe");
        writeln!(input, "end").expect("it reads");
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("text");
        assert_eq!(self.child.wait().expect("an end").code(), Some(0));
        let made = rest.lines().next().expect("how many calls it made");
        assert_eq!(rest, format!("{made}\nsize {made}\n"));
    }
}

/// Ends the process when a test fails.
impl Drop for Shop {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

/// Returns the number of the source line with this text.
#[track_caller]
fn line_of(text: &str) -> usize {
    let source = workspace::test_file("java/watch/Shop.java");
    let source = std::fs::read_to_string(source).expect("the source");
    let at = source.lines().position(|line| line.contains(text));
    at.expect("such a line") + 1
}

/// Returns the calls of an output, each with the lines below it.
fn calls(text: &str) -> Vec<Vec<&str>> {
    let mut calls: Vec<Vec<&str>> = Vec::new();
    for line in text.lines() {
        match calls.last_mut() {
            Some(call) if line.starts_with("    ") => call.push(line.trim_start()),
            _ => calls.push(vec![line]),
        }
    }
    calls
}

/// Returns thread, method and the kind of end from a first line, without its times.
#[track_caller]
fn head(line: &str) -> Vec<&str> {
    let parts: Vec<&str> = line.split("  ").collect();
    let time = parts[0];
    assert!(time.len() == 13 && time.ends_with('Z'), "{line}");
    assert!(parts.len() > 3 && parts[3].ends_with('s'), "{line}");
    [&parts[1..3], &parts[4..]].concat()
}

#[test]
fn calls_of_a_running_jvm_are_shown_as_they_end_while_it_goes_on() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let shop = Shop::start(&jdk);
        let words = [
            "Shop$Store.find",
            "--when",
            "duration >= 50ms && arg[0] == \"key-7\"",
            "--show",
            "arg[1], this.name, this.size, arg[2].next.id, returned.id, arg[2].lines[9].text, stack(2)",
            "--limit",
            "2",
        ];
        let run = shop.watch(folder.path(), &words);
        run.assert_success().assert_stderr("2 calls shown");
        let calls = calls(&run.stdout);
        assert_eq!(calls.len(), 2, "{}", run.report());
        let within = format!("at Shop$Store.find:{}", line_of("return order;"));
        let around = format!("at Shop.calls:{}", line_of("store.find("));
        let mut sizes = Vec::new();
        for call in calls {
            assert_eq!(head(call[0]), ["main", "Shop$Store.find"]);
            let size = call[3].strip_prefix("this.size = ");
            let size: u64 = size.expect("a size").parse().expect("a number");
            sizes.push(size);
            let size = format!("this.size = {size}");
            let expected = [
                "arg[1] = 7",
                "this.name = \"store \\u{1b}[31m\\n\"",
                &size,
                "arg[2].next.id = 1007",
                "returned.id = 7",
                "arg[2].lines[9].text = ?",
                &within,
                &around,
            ];
            assert_eq!(call[1..], expected, "{}", run.report());
        }
        // Ten calls of the program are between the two, and all matching calls were shown.
        assert_eq!((sizes[0] % 10, sizes[1]), (8, sizes[0] + 10));
        assert_no_agent(&shop.pid);
        shop.end();
    }
}

#[test]
fn watch_without_a_folder_leaves_no_file_beside_the_jvm() {
    let folder = scratch();
    let shop = Shop::of(&Shop::java(&jdks::newest()).folder(folder.path()));
    let run = classhook(&["watch", &shop.pid, "Shop$Store.find", "--limit", "1"]);
    run.assert_success().assert_stderr("1 call shown");
    killed_watch_leaves_nothing(&shop);
    shop.end();
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .expect("it is there")
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// The number of shown calls is counted anew for each command, regardless of earlier commands, also killed ones.
#[test]
fn the_same_watch_shows_its_calls_again_in_a_jvm_that_has_an_agent() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let shop = Shop::start(&jdk);
        let output = folder.path().to_string_lossy();
        let attach = ["attach", &shop.pid, "--plugin", "none", "-o", &output];
        classhook(&attach).assert_success();
        let same = ["watch", &shop.pid, "Shop$Store.find", "--limit", "2"];
        for _ in 0..3 {
            let run = classhook(&same);
            run.assert_success().assert_stderr("2 calls shown");
            assert_eq!(calls(&run.stdout).len(), 2, "{}", run.report());
        }
        let (mut child, _) = begun(&[&same[..], &["--when", "arg[1] >= 0"]].concat());
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        out.read_line(&mut String::new()).expect("a call");
        child.kill().expect("it runs");
        child.wait().expect("an end");
        await_no_edits(&shop.pid);
        let same = [&same[..], &["--when", "arg[1] >= 0"]].concat();
        classhook(&same)
            .assert_success()
            .assert_stderr("2 calls shown");
        await_no_edits(&shop.pid);
        let within = ["--per-second", "1", "--limit", "1"];
        for _ in 0..2 {
            let words = [&["watch", &shop.pid, "Shop$Store.find"][..], &within].concat();
            classhook(&words)
                .assert_success()
                .assert_stderr("1 call shown");
        }
        shop.end();
    }
}

/// The next command removes the remains of a killed watch.
fn killed_watch_leaves_nothing(shop: &Shop) {
    let leftovers = Leftovers::before();
    let mut child = Java::program(workspace::classhook())
        .arguments(&["watch", &shop.pid, "Shop$Store.find"])
        .spawn();
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    out.read_line(&mut String::new()).expect("a call");
    assert_eq!(leftovers.of(&[child.id()]).len(), 1);
    child.kill().expect("it runs");
    child.wait().expect("an end");
    // The agent may still be detaching.
    await_that("the end of the folder", || {
        let is_left = leftovers.of(&[child.id()]).is_empty();
        if !is_left {
            classhook(&["watch", &shop.pid, "Shop$Store.find", "--limit", "1"]);
        }
        is_left
    });
}

#[test]
fn calls_of_a_running_jvm_are_objects_one_per_line() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let shop = Shop::start(&jdk);
        let words = [
            "Shop$Store.find",
            "--when",
            "threw && arg[1] == 3",
            "--show",
            "arg[0], thrown.message, thrown.detailMessage, stack(2)",
            "--limit",
            "3",
            "--json-lines",
        ];
        let run = shop.watch(folder.path(), &words);
        run.assert_success().assert_stderr("3 calls shown");
        let lines: Vec<Value> = run
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        assert_eq!(lines.len(), 3, "{}", run.report());
        for line in &lines {
            assert_eq!(line["event"], "call");
            assert_eq!(line["pid"].to_string(), shop.pid);
            assert_eq!(line["thread_name"], "main");
            assert_eq!(line["class"], "Shop$Store");
            assert_eq!(line["method"], "find");
            let descriptor = "(Ljava/lang/String;ILShop$Order;)LShop$Order;";
            assert_eq!(line["descriptor"], descriptor);
            assert_eq!(line["thrown"], "java.lang.IllegalStateException");
            assert!(line["duration"].is_u64() && line["ended_ms"].is_u64());
            let shown = json!({
                "arg[1]": 3,
                "arg[0]": "key-3",
                "thrown.message": "index 3",
                "thrown.detailMessage": "index 3",
            });
            assert_eq!(line["shown"], shown);
            let stack = line["stack"].as_array().expect("frames");
            let methods: Vec<&str> = stack
                .iter()
                .filter_map(|frame| frame["method"].as_str())
                .collect();
            assert_eq!(methods, ["find", "calls"]);
        }
        assert_no_agent(&shop.pid);
        shop.end();
    }
}

/// Runs `classhook watch` on 50 calls of a command.
fn watched(jdk: &Jdk, folder: &Path, words: &[&str]) -> Run {
    let words = [&["watch", "Shop$Store.find"], words].concat();
    beside(&words, jdk, folder, "50")
}

/// Removes the program's own output.
#[track_caller]
fn without_the_program(run: &Run) -> String {
    let lines = run.stdout.split_inclusive('\n');
    let (theirs, ours): (Vec<&str>, Vec<&str>) = lines.partition(|line| *line == "size 50\n");
    assert_eq!(theirs.len(), 1, "{}", run.report());
    ours.concat()
}

#[test]
fn calls_of_a_command_have_arguments_and_results() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let words = ["--when", "arg[1] == 13 || arg[1] == 14 || arg[1] == 15"];
        let run = watched(&jdk, folder.path(), &words);
        run.assert_success()
            .assert_stderr("classhook: 3 calls shown\n")
            .assert_stderr("classhook: 47 calls did not match the condition\n");
        let text = without_the_program(&run);
        let calls = calls(&text);
        assert_eq!(calls.len(), 3, "{}", run.report());
        let expected = [(13, None), (14, Some("null")), (15, Some("Order{id=15, "))];
        for (call, (index, returned)) in calls.iter().zip(expected) {
            let method = ["main", "Shop$Store.find"];
            let thrown: &[&str] = match returned {
                None => &["threw java.lang.IllegalStateException"],
                Some(_) => &[],
            };
            assert_eq!(head(call[0]), [&method[..], thrown].concat());
            assert_eq!(call[1], format!("key = \"key-{}\"", index % 10));
            assert_eq!(call[2], format!("index = {index}"));
            assert!(call[3].starts_with("order = Order{id="), "{call:?}");
            let last: Vec<&str> = call[4..]
                .iter()
                .filter_map(|line| line.strip_prefix("returned = "))
                .collect();
            match returned {
                None => assert_eq!(call.len(), 4, "{call:?}"),
                Some(returned) => {
                    assert_eq!((call.len(), last.len()), (5, 1), "{call:?}");
                    assert!(last[0].starts_with(returned), "{call:?}");
                }
            }
        }
    }
}

#[test]
fn command_continues_after_the_wanted_number_of_calls() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let words = ["--when", "arg[1] >= 5", "--limit", "3", "--json-lines"];
        let run = watched(&jdk, folder.path(), &words);
        run.assert_success()
            .assert_stderr("classhook: 3 calls shown\n")
            .assert_stderr("classhook: 5 calls did not match the condition\n");
        let text = without_the_program(&run);
        let lines = text.lines().map(|line| {
            let line: Value = serde_json::from_str(line).expect("JSON");
            assert_eq!(line["arguments"]["1"], line["shown"]["arg[1]"]);
            assert_eq!(line["arguments"]["2"]["class"], "Shop$Order");
            line["shown"]["arg[1]"].clone()
        });
        assert_eq!(lines.collect::<Vec<_>>(), [5, 6, 7]);
    }
}

/// The program continues as before.
#[test]
fn probes_are_removed_after_the_wanted_number_of_calls() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let mut child = Java::program(workspace::classhook())
            .variable("CLASSHOOK_AGENT", workspace::agent_library())
            .arguments(&["watch", "Shop$Store.find", "--limit", "2", "-o"])
            .argument(folder.path())
            .argument("--")
            .argument(jdk.tool("java"))
            .argument("-cp")
            .argument(classes())
            .arguments(&["Shop", "until", "0"])
            .spawn_talking();
        let mut told = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        while !line.contains("without probes") {
            line.clear();
            assert!(told.read_line(&mut line).expect("text") > 0, "no limit");
        }
        let children = format!("/proc/{0}/task/{0}/children", child.id());
        let children = std::fs::read_to_string(children).expect("readable");
        let pid = children.split_whitespace().next().expect("a JVM");
        await_no_edits(pid);
        let mut input = child.stdin.take().expect("a pipe");
        writeln!(input, "end").expect("it reads");
        let run = child.wait_with_output().expect("an end");
        let out = String::from_utf8_lossy(&run.stdout);
        assert_eq!(run.status.code(), Some(0), "{out}");
        assert_eq!(out.matches("Shop$Store.find").count(), 2, "{out}");
        let rest = std::io::read_to_string(told).expect("text");
        assert!(rest.contains("2 calls shown"), "{rest}");
    }
}

/// Elements of the JDK's lists are read from their fields, and constants of enums are shown by their names.
#[test]
fn lists_and_enums_are_opened_without_a_call_of_their_methods() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let show =
            "arg[0].state, arg[0].items[0].price, arg[0].items[1].price, arg[0].items[1].state";
        let run = Java::program(workspace::classhook())
            .variable("CLASSHOOK_AGENT", workspace::agent_library())
            .arguments(&["watch", "Basket.size", "--show", show, "-o"])
            .argument(folder.path())
            .arguments(&["--when", "arg[0].state == \"CLOSED\"", "--"])
            .argument(jdk.tool("java"))
            .argument("-cp")
            .argument(classes())
            .argument("Basket")
            .run();
        run.assert_success().assert_stderr("12 calls shown");
        let [state, first, second, closed] = [
            "arg[0].state = CLOSED",
            "arg[0].items[0].price = 1.5",
            "arg[0].items[1].price = 2.5",
            "arg[0].items[1].state = CLOSED",
        ];
        let not = |line: &str| format!("{} = ?", line.split(" = ").next().expect("a name"));
        let calls = calls(&run.stdout);
        assert_eq!(calls.len(), 12, "{}", run.report());
        for (number, call) in calls.iter().enumerate() {
            let mut expected = [state, first, second, closed].map(str::to_owned);
            if number >= 8 {
                expected[2..].clone_from_slice(&[not(second), not(closed)]);
            }
            if number >= 10 {
                expected[1] = not(first); // an empty list, and one of the program
            }
            assert_eq!(
                call[1..],
                expected,
                "list {number} on {jdk}: {}",
                run.report()
            );
        }
    }
}

#[test]
fn mistakes_are_refused_before_anything_is_attached() {
    let jdk = jdks::newest();
    let folder = scratch();
    let output = folder.path().join("out");
    let shop = Shop::start(&jdk);
    let words = ["Shop$Store.find", "--when", "duration > 100 && threw"];
    let run = shop.watch(&output, &words);
    run.assert_exit(2).assert_stderr("error[H0115]");
    let lines: Vec<&str> = run.stderr.lines().collect();
    let carets = lines.iter().position(|line| line.contains('^'));
    let carets = carets.unwrap_or_else(|| panic!("{}", run.report()));
    let at = lines[carets].find('^').expect("a caret");
    assert!(
        lines[carets - 1][at..].starts_with("100 "),
        "{}",
        run.report()
    );
    shop.watch(&output, &[])
        .assert_exit(2)
        .assert_stderr("error[H0655]")
        .assert_stderr("no methods");
    let both = ["Shop$Store.find", "--", "java", "-version"];
    shop.watch(&output, &both)
        .assert_exit(2)
        .assert_stderr("error[H0655]");
    classhook(&["watch", "Shop$Store.find"])
        .assert_exit(2)
        .assert_stderr("error[H0655]");
    classhook(&["watch"])
        .assert_exit(2)
        .assert_stderr("classhook watch [OPTIONS] PID METHOD...");
    assert!(!output.exists());
    assert_no_agent(&shop.pid);
    shop.end();
}

#[test]
fn pattern_without_a_method_is_reported_with_the_nearest_class() {
    let jdk = jdks::newest();
    let folder = scratch();
    let shop = Shop::start(&jdk);
    let run = shop.watch(folder.path(), &["Shop$Stroe.find", "--for", "300ms"]);
    run.assert_exit(2)
        .assert_stderr("warning[H0650]")
        .assert_stderr("nearest  Shop$Store.find\n")
        .assert_stderr("error[H0650]")
        .assert_stderr("Shop$Stroe.find");
    assert_eq!(run.stdout, "");
    assert_no_agent(&shop.pid);
    let words = ["Shop$Store.find", "--when", "arg[7] == 1", "--for", "0.2s"];
    let run = shop.watch(folder.path(), &words);
    let at = |text: &str| {
        run.stderr
            .find(text)
            .unwrap_or_else(|| panic!("{}", run.report()))
    };
    let told = at("warning[H0657]: no traced method has arg[7]");
    assert!(told < at("watching "), "{}", run.report());
    shop.end();
    let java = jdk.tool("java");
    let run = Java::program(workspace::classhook())
        .arguments(&["watch", "Shop$Stroe.find", "-o"])
        .argument(folder.path())
        .argument("--")
        .argument(java)
        .argument("-cp")
        .argument(classes())
        .arguments(&["Shop", "calls", "5"])
        .run();
    run.assert_exit(2).assert_stderr("error[H0650]");
    assert_eq!(run.stdout, "size 5\n");
}
