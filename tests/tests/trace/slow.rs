//! The trees of slow calls, `trace --slow` and `report --slow`. The slow calls of the program wait in every possible
//! way (`tests/java/slow`).

use crate::support::command::{LATE, assert_no_agent, classhook};
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, scratch, workspace};
use probes::events::Trace;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::OnceLock;
use tempfile::TempDir;

const METHODS: &str = "Slow$Work.*";

fn classes() -> &'static Path {
    static CLASSES: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, classes) = CLASSES.get_or_init(|| {
        let folder = scratch();
        let files = ["Slow", "Brief"].map(|name| format!("java/slow/{name}.java"));
        let [slow, brief] = files.map(|file| workspace::test_file(&file));
        let options = ["--release", "8", "-g", "-Xlint:-options"];
        let classes = javac::compile(&jdks::newest(), &[&slow, &brief], folder.path(), &options);
        (folder, classes)
    });
    classes
}

/// The program, which runs until its standard input ends.
struct Program {
    child: Child,
    input: Option<ChildStdin>,
    pid: String,
}

impl Program {
    fn start(jdk: &Jdk, threads: &str) -> Self {
        // Two workers may pin their carriers.
        let options = ["-Djdk.virtualThreadScheduler.parallelism=4"];
        let late: &[&str] = if jdk.feature < 9 { &[] } else { &LATE };
        let java = Java::new(jdk).options(&options).options(late);
        let java = java.class_path(&[classes()]).main("Slow").argument(threads);
        let mut child = java.spawn_talking();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        output.read_line(&mut line).expect("text");
        assert_eq!(line, "ready\n");
        Self {
            input: child.stdin.take(),
            pid: child.id().to_string(),
            child,
        }
    }

    fn end(mut self) {
        drop(self.input.take());
        assert_eq!(self.child.wait().expect("an end").code(), Some(0));
    }
}

/// Ends the process when a test fails.
impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

/// The trees that a trace prints.
struct Trees {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Trees {
    fn of(words: &[&str]) -> Self {
        let mut child = Java::program(workspace::classhook())
            .variable("CLASSHOOK_AGENT", workspace::agent_library())
            .arguments(words)
            .spawn();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, output }
    }

    /// Reads the next tree.
    #[track_caller]
    fn next(&mut self) -> String {
        let mut tree = String::new();
        loop {
            let before = tree.len();
            let read = self.output.read_line(&mut tree).expect("text");
            assert!(read > 0, "the trace ended: {tree}");
            if tree[before..] == *"\n" {
                tree.truncate(before);
                return tree;
            }
        }
    }

    /// Interrupts the trace, and returns the rest of its output.
    fn interrupt(mut self) -> String {
        kill_process(Pid::from_child(&self.child), Signal::INT).expect("it runs");
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("text");
        assert!(self.child.wait().expect("an end").success());
        rest
    }
}

/// Returns the parts that the tree of a worker's call lacks.
fn lacks(tree: &str, worker: &str) -> Vec<String> {
    let wanted = [
        "Slow$Work.outer".to_owned(),
        "Slow$Work.lasting".to_owned(),
        "Slow$Work.enter".to_owned(),
        format!("[waited for the monitor of Slow$Monitor, held by monitor-of-{worker}]"),
        "Slow$Work.notified".to_owned(),
        "[Object.wait of java.lang.Object]".to_owned(),
        "Slow$Work.locked".to_owned(),
        format!(
            "[parked for java.util.concurrent.locks.ReentrantLock$NonfairSync, held by lock-of-{worker}]"
        ),
        "[garbage collection]".to_owned(),
        "… 50 more calls".to_owned(),
    ];
    let lacks = wanted
        .into_iter()
        .filter(|line| !tree.contains(line.as_str()));
    lacks.collect()
}

/// Waits until both workers had a whole tree, one of them with an exception. Returns all trees so far.
fn await_trees(trees: &mut Trees) -> Vec<String> {
    let mut all = Vec::new();
    let mut missing = BTreeSet::from(["one", "two"]);
    let mut threw = false;
    let mut rounds = 0;
    while !missing.is_empty() || !threw {
        let tree = trees.next();
        // On a busy machine any call may be a slow one.
        let of_workers = tree.contains("Slow$Work.outer");
        assert!(!of_workers || !tree.contains("elsewhere"), "{tree}");
        let has = |worker: &&str| tree.contains(&format!("monitor-of-{worker}"));
        let workers: Vec<&str> = ["one", "two"].into_iter().filter(has).collect();
        assert!(workers.len() <= 1, "waits of another thread: {tree}");
        for worker in workers {
            if lacks(&tree, worker).is_empty() {
                missing.remove(worker);
            }
        }
        threw |= tree.contains("Slow$Work.outer  threw java.lang.IllegalStateException");
        all.push(tree);
        rounds += usize::from(of_workers);
        assert!(rounds < 100, "{missing:?} {threw}: {}", all.concat());
    }
    all
}

/// Returns the calls of a tree, without waits and the remaining time. Waits may be too late for a tree that is shown
/// while the trace runs.
fn calls(tree: &str) -> Vec<String> {
    let lines = tree.lines().filter(|line| line.contains("Slow$Work."));
    let call = |line: &str| {
        let at = line.find("Slow$Work.").expect("such a call");
        let total: Vec<&str> = line.split_whitespace().take(2).collect();
        format!("{} {}", total.join(" "), &line[at..])
    };
    lines.map(call).collect()
}

fn show_trees(jdk: &Jdk, threads: &str) {
    let folder = scratch();
    let output = folder.path().join("out").to_string_lossy().into_owned();
    let program = Program::start(jdk, threads);
    let pid = program.pid.as_str();
    let words = [
        "trace",
        pid,
        "--methods",
        METHODS,
        "--slow",
        "40ms",
        "-o",
        &output,
    ];
    let mut trees = Trees::of(&words);
    let mut shown = await_trees(&mut trees);
    let rest = trees.interrupt();
    shown.extend(rest.split("\n\n").map(str::to_owned));
    program.end();

    let report = classhook(&["report", &output, "--slow", "40ms"]);
    report.assert_success();
    let calls_of = |trees: &mut dyn Iterator<Item = &str>| -> BTreeSet<Vec<String>> {
        let calls = trees.filter(|tree| tree.contains("total        self"));
        calls
            .map(calls_without_open)
            .filter(|it| !it.is_empty())
            .collect()
    };
    let live = calls_of(&mut shown.iter().map(String::as_str));
    let reported = calls_of(&mut report.stdout.split("\n\n"));
    assert_eq!(live, reported, "on {jdk}");
}

/// Returns the calls of a tree that had ended before the trace.
fn calls_without_open(tree: &str) -> Vec<String> {
    match tree.contains("has not ended") {
        true => Vec::new(),
        false => calls(tree),
    }
}

#[test]
fn tree_of_a_slow_call_has_its_callees_waits_and_collections_and_no_other_threads() {
    for jdk in jdks::main_two() {
        show_trees(&jdk, "platform");
    }
}

#[test]
fn trees_of_the_oldest_jvm_are_the_same() {
    if let Some(jdk) = jdks::eight() {
        show_trees(&jdk, "platform");
    }
}

#[test]
fn tree_of_a_slow_call_of_a_virtual_thread_has_its_waits() {
    for feature in [21, 25] {
        if let Some(jdk) = jdks::release(feature) {
            show_trees(&jdk, "virtual");
        }
    }
}

/// Each trace has a JVM TI environment, which receives the events of the waits.
#[test]
fn two_traces_at_once_have_whole_trees_each() {
    let folder = scratch();
    let program = Program::start(&jdks::newest(), "platform");
    let begin = |name: &str| {
        let output = folder.path().join(name).to_string_lossy().into_owned();
        let words = ["--methods", METHODS, "--slow", "40ms", "-o", &output];
        Trees::of(&[&["trace", program.pid.as_str()][..], &words].concat())
    };
    let mut both = [begin("one"), begin("two")];
    for trees in &mut both {
        await_trees(trees);
    }
    for trees in both {
        trees.interrupt();
    }
    program.end();
}

#[test]
fn trace_of_a_jvm_ends_after_as_many_trees_as_are_wanted() {
    let folder = scratch();
    let output = folder.path().join("out").to_string_lossy().into_owned();
    let program = Program::start(&jdks::newest(), "platform");
    let words = ["--slow", "1ms", "--slow-limit", "2", "-o", &output];
    let run = classhook(&[&["trace", &program.pid, "--methods", METHODS][..], &words].concat());
    run.assert_success();
    let trees = run.stdout.matches("total        self").count();
    assert_eq!(trees, 2, "{}", run.stdout);
    assert_no_agent(&program.pid);
    program.end();
}

/// Returns the method of the only tree in these lines, which a program may have written, too.
#[track_caller]
fn method_of(lines: &str) -> serde_json::Value {
    let objects = lines.lines().filter(|line| line.starts_with('{'));
    let [line] = objects.collect::<Vec<_>>()[..] else {
        panic!("expected one object, found {lines:?}");
    };
    let tree: serde_json::Value = serde_json::from_str(line).expect("JSON");
    tree["call"]["method"].clone()
}

#[test]
fn trees_are_written_as_json_while_a_trace_runs_and_by_a_report() {
    let (run, folder) = traced_brief(&["--slow", "1ns", "--slow-json-lines", "-"]);
    run.assert_success();
    assert_eq!(method_of(&run.stdout), "once");
    run.assert_stderr("total        self")
        .assert_stderr("1 call of 1 traced method");
    let output = folder.path().to_string_lossy();
    let file = folder.path().join("deep/er/trees.jsonl");
    let words = [
        "--slow",
        "1ns",
        "--slow-json-lines",
        &file.to_string_lossy(),
    ];
    let report = classhook(&[&["report", &output][..], &words].concat());
    report.assert_success();
    assert_eq!(
        method_of(&std::fs::read_to_string(&file).expect("a file")),
        "once"
    );
    assert!(
        report.stdout.contains("total        self"),
        "{}",
        report.stdout
    );
    let alone = classhook(&["report", &output, "--slow-json-lines", "-"]);
    alone.assert_exit(2).assert_stderr("--slow <DURATION>");
    let twice = [
        "--slow",
        "1ns",
        "--slow-json-lines",
        "-",
        "--json-lines",
        "-",
    ];
    let twice = classhook(&[&["report", &output][..], &twice].concat());
    twice.assert_exit(2).assert_stderr("error[H0670]");
}

fn traced_brief(words: &[&str]) -> (e2e_tests::java::Run, TempDir) {
    let folder = scratch();
    let output = folder.path().to_string_lossy().into_owned();
    let java = jdks::newest().tool("java");
    let java = java.to_string_lossy();
    let path = classes().to_string_lossy();
    let command = ["--", &java, "-cp", &path, "Brief"];
    let trace = ["trace", "--methods", "Brief.once", "-o", &output];
    let run = classhook(&[&trace[..], words, &command].concat());
    (run, folder)
}

#[test]
fn trace_without_a_slow_call_is_reported_and_its_event_file_has_no_waits() {
    let (run, folder) = traced_brief(&["--slow", "1h"]);
    run.assert_success();
    run.assert_stderr("no outermost call took 3600 s or longer");
    let files = javac::files_with_extension(folder.path(), "events");
    let trace = Trace::read(&files[0]).expect("a readable event file");
    assert_eq!((trace.calls.len(), trace.waits.len()), (1, 0));
    let output = folder.path().to_string_lossy();
    let report = classhook(&["report", &output, "--slow", "1h"]);
    report.assert_success();
    report.assert_stderr("no outermost call took 3600 s or longer");
    let tree = classhook(&["report", &output, "--slow", "1ns"]);
    tree.assert_success();
    assert!(tree.stdout.contains("  Brief.once\n"), "{}", tree.stdout);
}

#[test]
fn recorded_arguments_are_in_the_tree() {
    let (run, _folder) = traced_brief(&["--slow", "1ns", "--show", "arg, returned"]);
    run.assert_success();
    let line = "  Brief.once  number = 1  returned = 2\n";
    assert!(run.stdout.contains(line), "{}", run.stdout);
}

#[test]
fn slow_calls_of_a_trace_without_single_calls_are_refused() {
    let (run, folder) = traced_brief(&["--aggregate"]);
    run.assert_success();
    let output = folder.path().to_string_lossy();
    let report = classhook(&["report", &output, "--slow", "1ms"]);
    report.assert_exit(2).assert_stderr("error[H0636]");
    let (refused, _folder) = traced_brief(&["--aggregate", "--slow", "1ms"]);
    refused
        .assert_exit(2)
        .assert_stderr("error[H0636]: --slow needs single calls");
}

#[test]
fn slow_calls_go_with_no_condition_that_leaves_calls_out() {
    let (run, _folder) = traced_brief(&["--slow", "1ms", "--when", "arg[0] == 1"]);
    run.assert_exit(2).assert_stderr("error[H0663]");
    let (run, _folder) = traced_brief(&["--slow", "1ns", "--min-duration", "1ns"]);
    run.assert_success();
    assert!(run.stdout.contains("  Brief.once\n"), "{}", run.stdout);
}
