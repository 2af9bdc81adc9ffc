//! Output of a trace while it runs.

use super::spans::classes;
use crate::support::command::{assert_no_agent, classhook};
use crate::support::traced::{Program, java, trace_of};
use e2e_tests::java::Java;
use e2e_tests::javac::files_with_extension;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::patience::await_that;
use e2e_tests::servant::Servant;
use e2e_tests::{scratch, workspace};
use probes::events::Trace;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Child;

/// Number of lines to wait for while the program runs.
const SOME: usize = 200;

/// Returns a generated program that makes calls until its input ends.
fn program(jdk: &Jdk, program: &Program) -> Java {
    java(jdk, program)
        .main("Traced")
        .argument(&program.log)
        .arguments(&["2", "0", "0"])
}

fn tracing(words: &[&str], output: &Path) -> Java {
    Java::program(workspace::classhook())
        .arguments(&[
            "trace",
            "--methods",
            "Traced.m?",
            "-o",
            &output.to_string_lossy(),
        ])
        .arguments(words)
}

/// Interrupts a command whose standard error was read so far. Returns its output meanwhile.
fn interrupt(mut child: Child, mut stdout: impl Read) -> String {
    kill_process(Pid::from_child(&child), Signal::INT).expect("it runs");
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("text");
    assert!(child.wait().expect("an end").success());
    rest
}

/// Returns thread, begin and duration of each call. Each call has one end, after an entry.
fn calls_of_lines(lines: &[Value]) -> BTreeSet<(u64, u64, u64)> {
    let mut entered = BTreeMap::new();
    let mut calls = BTreeSet::new();
    for line in lines {
        let number = |key: &str| line[key].as_u64().expect("a number");
        let who = || (number("thread"), line["method"].to_string());
        match line["event"].as_str().expect("an event") {
            "enter" => {
                let key = (who(), number("nanos"));
                assert!(entered.insert(key, ()).is_none(), "{line}");
            }
            "return" | "throw" => {
                let start = number("nanos") - number("duration");
                assert!(entered.remove(&(who(), start)).is_some(), "{line}");
                assert!(
                    calls.insert((number("thread"), start, number("duration"))),
                    "{line}"
                );
            }
            _ => {}
        }
    }
    calls.extend(
        entered
            .into_keys()
            .map(|((thread, _), start)| (thread, start, 0)),
    );
    calls
}

/// Returns the same from the lines with numbers for names. A call that was open is printed again.
fn calls_of_compact_lines(lines: &[Value]) -> BTreeSet<(u64, u64, u64)> {
    let mut all = BTreeMap::new();
    for line in lines.iter().filter(|line| line["c"].is_array()) {
        let number = |at: usize| line["c"][at].as_u64().expect("a number");
        assert!(line["c"][2].is_null(), "{line}");
        let duration = (line["open"].is_null()).then(|| number(4));
        let before = all.insert((number(1), number(3)), duration);
        assert!(
            before.is_none_or(|before| before.is_none() && duration.is_some()),
            "{line}"
        );
    }
    let call = |((thread, start), duration): ((u64, u64), Option<u64>)| {
        (thread, start, duration.unwrap_or(0))
    };
    all.into_iter().map(call).collect()
}

fn calls_of_file(trace: &Trace) -> BTreeSet<(u64, u64, u64)> {
    let calls = trace.calls.iter();
    calls
        .map(|call| {
            let duration = match call.outcome {
                probes::events::Outcome::Open => 0,
                _ => call.end - call.start,
            };
            (call.thread, call.start, duration)
        })
        .collect()
}

fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))
}

#[test]
fn lines_of_a_running_jvm_appear_during_the_trace_and_each_call_once() {
    for (jdk, more) in jdks::main_two().into_iter().zip([&[][..], &["--compact"]]) {
        let folder = scratch();
        let compiled = Program::compile(&jdk, 3, folder.path());
        let mut running = Servant::of(&program(&jdk, &compiled));
        let pid = running.pid().to_string();
        let output = folder.path().join("out");
        let words = [&[pid.as_str(), "--json-lines", "-"], more].concat();
        let mut child = tracing(&words, &output).spawn();
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut lines = Vec::new();
        while lines.len() < SOME {
            let mut line = String::new();
            out.read_line(&mut line).expect("text");
            lines.push(json(&line));
        }
        assert!(running.ask("1").starts_with("marked"));
        lines.extend(interrupt(child, out).lines().map(json));
        assert_eq!(lines[0]["event"], "jvm");
        let last = lines.last().expect("a line");
        assert_eq!(
            (&last["event"], &last["complete"]),
            (&"end".into(), &true.into())
        );
        let calls = match more {
            [] => calls_of_lines(&lines),
            _ => calls_of_compact_lines(&lines),
        };
        assert_eq!(calls, calls_of_file(&trace_of(&output)), "on {jdk}");
        assert_eq!(running.end().code, Some(0));
    }
}

#[test]
fn trace_of_a_jvm_that_is_killed_is_partial() {
    let jdk = jdks::newest();
    let folder = scratch();
    let compiled = Program::compile(&jdk, 3, folder.path());
    let running = Servant::of(&program(&jdk, &compiled));
    let pid = running.pid().to_string();
    let output = folder.path().join("out");
    let mut child = tracing(&[&pid, "--json-lines", "-"], &output).spawn();
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    for _ in 0..SOME {
        out.read_line(&mut String::new()).expect("text");
    }
    kill_process(
        Pid::from_raw(running.pid()).expect("a process"),
        Signal::KILL,
    )
    .expect("it runs");
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("text");
    let run = child.wait_with_output().expect("an end");
    let told = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(3), "{told}");
    assert!(told.contains("warning[H0615]"), "{told}");
    let last = rest.lines().last().map(json).expect("a line");
    assert_eq!(last["complete"], false);
}

/// Commands on a killed JVM show only a part, and say so.
#[test]
fn visit_of_a_jvm_that_is_killed_is_partial() {
    let jdk = jdks::newest();
    let folder = scratch();
    let compiled = Program::compile(&jdk, 3, folder.path());
    let output = folder.path().join("out");
    for (word, more, code) in [
        ("watch", &["Traced.m?"][..], "error[H0651]"),
        (
            "top",
            &["--methods", "Traced.m?", "--interval", "1s"],
            "error[H0651]",
        ),
        ("coverage", &[], "warning[H0615]"),
    ] {
        let running = Servant::of(&program(&jdk, &compiled));
        let pid = running.pid().to_string();
        let mut child = Java::program(workspace::classhook())
            .arguments(&[word, &pid, "-o", &output.to_string_lossy()])
            .arguments(more)
            .spawn();
        match word {
            "top" => await_table(&mut child),
            _ => await_visit(&mut child),
        }
        running.kill();
        let run = child.wait_with_output().expect("an end");
        let told = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(3), "{word}: {told}");
        assert!(told.contains(code) && told.contains("killed"), "{told}");
    }
}

/// A stopped JVM answers nothing. The command reports the open request and the remains, and shows its recording.
#[test]
fn visit_of_a_stopped_jvm_shows_its_recording() {
    let jdk = jdks::newest();
    let folder = scratch();
    let compiled = Program::compile(&jdk, 3, folder.path());
    let mut running = Servant::of(&program(&jdk, &compiled));
    let pid = running.pid().to_string();
    let output = folder.path().join("out");
    let mut child = tracing(&[&pid, "--for", "1h"], &output).spawn();
    await_visit(&mut child);
    await_that("a sum", || has_sums(&output));
    running.stop();
    kill_process(Pid::from_child(&child), Signal::INT).expect("it runs");
    let run = child.wait_with_output().expect("an end");
    let told = String::from_utf8_lossy(&run.stderr);
    let shown = String::from_utf8_lossy(&run.stdout);
    running.go_on();
    assert_eq!(run.status.code(), Some(3), "{told}");
    assert!(shown.contains("Traced.m"), "{shown}{told}");
    for part in [
        "error[H0510]",
        "asked    `status`",
        "edits of the plugin trace",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
    assert!(!told.contains("no command was sent"), "{told}");
    await_that("the end of the agent", || {
        classhook(&["status", &pid]).stderr.contains("H0701")
    });
    assert!(running.ask("1").starts_with("marked"));
    assert_eq!(running.end().code, Some(0));
}

/// Checks whether the only event file of `folder`, which appears some time after the start, has a sum.
fn has_sums(folder: &Path) -> bool {
    let files = files_with_extension(folder, "events");
    let trace = files.first().and_then(|file| Trace::read(file).ok());
    trace.is_some_and(|it| it.aggregates.values().any(|sums| sums.count > 0))
}

/// Waits until the first table is printed.
fn await_table(child: &mut Child) {
    let mut out = child.stdout.take().expect("a pipe");
    let read = out.read(&mut [0]).expect("text");
    assert!(read > 0, "no table");
    child.stdout = Some(out);
}

/// Waits until the command reports the start of the recording.
fn await_visit(child: &mut Child) {
    let mut told = child.stderr.take().expect("a pipe");
    let (mut line, mut byte) = (String::new(), [0]);
    while !line.ends_with("Ctrl-C ends it\n") && !line.ends_with("earlier\n") {
        let read = told.read(&mut byte).expect("text");
        assert!(read > 0, "{line}");
        line.push(char::from(byte[0]));
    }
    child.stderr = Some(told);
}

#[test]
fn lines_of_a_command_are_in_their_file_while_it_runs() {
    let jdk = jdks::newest();
    let folder = scratch();
    let compiled = Program::compile(&jdk, 4, folder.path());
    let (output, file) = (folder.path().join("out"), folder.path().join("lines"));
    let java = jdk.tool("java");
    let command = tracing(&["--json-lines", &file.to_string_lossy(), "--"], &output)
        .argument(java)
        .argument("-cp")
        .argument(&compiled.classes)
        .argument("Traced")
        .argument(&compiled.log)
        .arguments(&["2", "0", "0"]);
    let mut running = Servant::of(&command);
    let read = || std::fs::read_to_string(&file).expect("the file is there from the start");
    await_that("some lines", || read().lines().count() >= SOME);
    assert_eq!(running.ask("1"), "marked 1");
    let left = running.end();
    assert_eq!(left.code, Some(0), "{}", left.stderr);
    let lines: Vec<Value> = read().lines().map(json).collect();
    assert_eq!(calls_of_lines(&lines), calls_of_file(&trace_of(&output)));
    assert!(left.stdout.contains("wrote ") && left.stdout.contains("Traced.m"));
}

#[test]
fn closed_output_ends_the_trace() {
    let jdk = jdks::newest();
    let folder = scratch();
    let compiled = Program::compile(&jdk, 3, folder.path());
    let mut running = Servant::of(&program(&jdk, &compiled));
    let pid = running.pid().to_string();
    let mut child = tracing(&[&pid, "--json-lines", "-"], &folder.path().join("out")).spawn();
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    out.read_line(&mut String::new()).expect("text");
    drop(out);
    assert!(child.wait().expect("an end").success());
    assert_no_agent(&pid);
    assert_eq!(running.ask("1"), "marked 1");
    assert_eq!(running.end().code, Some(0));
}

/// An agent with an earlier trace has those calls in its file.
#[test]
fn lines_of_a_second_trace_are_of_that_alone() {
    let jdk = jdks::newest();
    let folder = scratch();
    let compiled = Program::compile(&jdk, 3, folder.path());
    let output = folder.path().join("out");
    let agent = format!("plugin=coverage,output={}", output.display());
    let mut running = Servant::of(&program(&jdk, &compiled).agent(Some(&agent)));
    let pid = running.pid().to_string();
    let mut methods = Vec::new();
    for method in ["Traced.m0", "Traced.m1"] {
        let words = [
            "trace",
            &pid,
            "--methods",
            method,
            "--for",
            "1s",
            "--json-lines",
            "-",
        ];
        let run = classhook(&words);
        run.assert_success();
        let lines: Vec<Value> = run.stdout.lines().map(json).collect();
        let found = lines.iter().filter_map(|line| line["method"].as_str());
        methods.push(found.map(str::to_owned).collect::<BTreeSet<_>>());
        assert!(lines.iter().all(|line| line["event"] != "reset"));
    }
    assert_eq!(methods[0], BTreeSet::from(["m0".to_owned()]));
    assert_eq!(methods[1], BTreeSet::from(["m1".to_owned()]));
    assert_eq!(running.ask("1"), "marked 1");
    assert_eq!(running.end().code, Some(0));
}

/// Returns the number of calls in each row of `Spans.step` in an output.
fn steps(text: &str) -> Vec<u64> {
    let rows = text.lines().filter(|line| line.starts_with("Spans.step "));
    let calls = rows.filter_map(|row| row.split_whitespace().nth(1));
    calls
        .map(|calls| calls.replace(',', "").parse().expect("a number"))
        .collect()
}

/// 100 calls in each of 3,500 milliseconds.
#[test]
fn tables_of_intervals_add_up_and_metrics_are_written_meanwhile() {
    let jdk = jdks::newest();
    for mode in [&["--aggregate"][..], &["--count"], &[]] {
        let folder = scratch();
        let metrics = folder.path().join("metrics.prom");
        let java = jdk.tool("java");
        let run = Java::program(workspace::classhook())
            .arguments(&["trace", "--methods", "Spans.step", "--interval", "1s"])
            .arguments(mode)
            .arguments(&["-o".as_ref(), folder.path().as_os_str()])
            .arguments(&["--prometheus".as_ref(), metrics.as_os_str(), "--".as_ref()])
            .argument(java)
            .argument("-cp")
            .argument(classes())
            .arguments(&["Spans", "steady", "1", "100", "3500"])
            .run();
        run.assert_success();
        let (last, intervals) = match steps(&run.stdout).split_last() {
            Some((last, intervals)) => (*last, intervals.to_vec()),
            None => panic!("no table\n{}", run.report()),
        };
        assert!(intervals.len() > 1, "{}", run.report());
        assert_eq!(
            (last, intervals.iter().sum::<u64>()),
            (350_000, 350_000),
            "{}",
            run.report()
        );
        let text = std::fs::read_to_string(&metrics).expect("the metrics");
        let calls = text
            .lines()
            .find(|line| line.starts_with("classhook_calls_total{"));
        assert!(
            calls.is_some_and(|line| line.ends_with(" 350000")),
            "{text}"
        );
    }
}
