//! Tasks linked to the calls that submitted them (`trace --follow`). The program submits them in every possible way
//! (`tests/java/tasks`).

use crate::support::command::{LATE, classhook};
use crate::support::receiver::{Behaviour, Receiver};
use crate::support::traced::trace_of;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, scratch, workspace};
use opentelemetry_proto::tonic::trace::v1::Span;
use probes::events::Trace;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// All methods, except for those around all others.
const FOLLOWED: [&str; 12] = [
    "--follow",
    "--grant",
    "boot",
    "--methods",
    "*Tasks*.*",
    "--methods",
    "!all",
    "--methods",
    "!main",
    "--methods",
    "!daemon",
    "--capture=arguments",
];

/// Number of calls of `work` below each method.
const WORK: [(&str, usize); 10] = [
    ("pool", 5),
    ("nested", 1),
    ("scheduled", 4),
    ("forked", 9),
    ("parallel", 200),
    ("stages", 7),
    ("foreign", 2),
    ("threads", 1),
    ("timed", 1),
    ("rejected", 1),
];

fn classes() -> &'static Path {
    static CLASSES: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, classes) = CLASSES.get_or_init(|| {
        let folder = scratch();
        let [tasks, threads] = ["Tasks", "VirtualTasks"]
            .map(|name| workspace::test_file(&format!("java/tasks/{name}.java")));
        let options = ["--release", "8", "-g", "-Xlint:-options"];
        let classes = javac::compile(&jdks::newest(), &[&tasks], folder.path(), &options);
        let path = classes.to_str().expect("a path in UTF-8");
        let options = ["--release", "21", "-g", "-cp", path];
        javac::compile(&jdks::newest(), &[&threads], folder.path(), &options);
        (folder, classes)
    });
    classes
}

/// Returns every release from 8 on.
fn releases() -> Vec<Jdk> {
    let newer = jdks::all().iter().cloned();
    jdks::eight().into_iter().chain(newer).collect()
}

fn has_virtual_threads(jdk: &Jdk) -> bool {
    jdk.feature >= 21
}

/// Traces the program with these options.
fn traced(jdk: &Jdk, output: &Path, more: &[&str]) -> Run {
    let argument = if has_virtual_threads(jdk) {
        &["VirtualTasks"][..]
    } else {
        &[]
    };
    Java::program(workspace::classhook())
        .variable("CLASSHOOK_AGENT", workspace::agent_library())
        .argument("trace")
        .arguments(&FOLLOWED)
        .arguments(more)
        .arguments(&["-o".as_ref(), output.as_os_str()])
        .argument("--")
        .argument(jdk.tool("java"))
        // The common pool of a machine with two processors has one thread.
        .argument("-Djava.util.concurrent.ForkJoinPool.common.parallelism=3")
        .argument("-cp")
        .argument(classes())
        .argument("Tasks")
        .arguments(argument)
        .run()
}

fn report(output: &Path, option: &str, file: &Path) -> String {
    let words = [
        "report",
        &output.to_string_lossy(),
        option,
        &file.to_string_lossy(),
    ];
    classhook(&words).assert_success();
    std::fs::read_to_string(file).expect("written")
}

fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// A call's thread and begin.
type Id = (u64, u64);

/// A call: method, first argument, caller.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Called {
    method: String,
    argument: String,
    caller: Option<Id>,
}

/// Returns the calls of JSON lines in the order of time, each with its caller or the submitter of its task.
fn calls(text: &str) -> BTreeMap<Id, Called> {
    let mut open: HashMap<u64, Vec<Id>> = HashMap::new();
    let mut calls = BTreeMap::new();
    for line in text.lines().map(json) {
        let number = |value: &Value| value.as_u64();
        let (Some(thread), Some(nanos)) = (number(&line["thread"]), number(&line["nanos"])) else {
            continue;
        };
        let open = open.entry(thread).or_default();
        if line["event"] != "enter" {
            open.pop();
            continue;
        }
        let submitted = &line["submitted"];
        let of = number(&submitted["caller_thread"]).or(number(&submitted["thread"]));
        let called = Called {
            method: line["method"].as_str().unwrap_or_default().to_owned(),
            argument: line["arguments"]["0"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            caller: of
                .zip(number(&submitted["caller"]))
                .or(open.last().copied()),
        };
        open.push((thread, nanos));
        calls.insert((thread, nanos), called);
    }
    calls
}

/// Returns the method of a call's outermost ancestor.
fn root(calls: &BTreeMap<Id, Called>, call: &Called) -> String {
    let mut call = call;
    while let Some(caller) = call.caller.and_then(|caller| calls.get(&caller)) {
        call = caller;
    }
    call.method.clone()
}

/// Asserts the number of calls of `work` below each outermost method. An argument of the call names the expected
/// method.
#[track_caller]
fn assert_work(jdk: &Jdk, found: impl Iterator<Item = (String, String)>) {
    let mut work: BTreeMap<String, usize> = BTreeMap::new();
    for (argument, root) in found {
        assert_eq!(argument, root, "on {jdk}");
        *work.entry(root).or_default() += 1;
    }
    let expected = WORK.map(|(method, count)| (method.to_owned(), count));
    let mut expected = BTreeMap::from(expected);
    if has_virtual_threads(jdk) {
        expected.insert("virtual".to_owned(), 3);
    }
    assert_eq!(work, expected, "on {jdk}");
}

#[test]
fn each_call_of_a_task_belongs_to_the_call_that_submitted_it() {
    for jdk in releases() {
        let folder = scratch();
        let output = folder.path().join("out");
        traced(&jdk, &output, &[]).assert_success();
        let calls = calls(&report(
            &output,
            "--json-lines",
            &folder.path().join("calls.jsonl"),
        ));
        let work = calls.values().filter(|call| call.method == "work");
        assert_work(
            &jdk,
            work.map(|call| (call.argument.clone(), root(&calls, call))),
        );
        // The same object, submitted twice: each run belongs to its own submission.
        let mut runs: Vec<(Id, String)> = (calls.iter())
            .filter(|(_, call)| call.method == "run" && root(&calls, call).ends_with("Time"))
            .map(|(id, call)| (*id, root(&calls, call)))
            .collect();
        runs.sort_by_key(|((_, nanos), _)| *nanos);
        let runs: Vec<&str> = runs.iter().map(|(_, root)| root.as_str()).collect();
        assert_eq!(runs, ["firstTime", "secondTime"], "on {jdk}");
        assert_other_outputs(&jdk, &output, folder.path(), &calls);
        tell_events(&jdk, &trace_of(&output));
    }
}

/// Asserts stacks, arrows and tables of the same recording.
#[track_caller]
fn assert_other_outputs(jdk: &Jdk, output: &Path, folder: &Path, calls: &BTreeMap<Id, Called>) {
    let folded = report(output, "--folded", &folder.join("calls.folded"));
    let stacks = folded.lines().filter(|line| line.contains("Tasks.work"));
    let roots = stacks.map(|line| line.split([';', ' ']).next().unwrap_or_default());
    let roots: BTreeSet<&str> = roots
        .map(|root| root.rsplit('.').next().unwrap_or_default())
        .collect();
    let mut expected: BTreeSet<&str> = WORK.iter().map(|(method, _)| *method).collect();
    if has_virtual_threads(jdk) {
        expected.insert("virtual");
    }
    assert_eq!(roots, expected, "on {jdk}");
    let perfetto = report(output, "--perfetto", &folder.join("calls.json"));
    let perfetto: Value = serde_json::from_str(&perfetto).expect("JSON");
    let events = perfetto["traceEvents"].as_array().expect("events");
    let arrows = |ph: &str| events.iter().filter(|event| event["ph"] == ph).count();
    let other_thread =
        |(id, call): (&Id, &Called)| call.caller.is_some_and(|caller| caller.0 != id.0);
    let of_tasks = calls.iter().filter(|call| other_thread(*call)).count();
    assert!(of_tasks >= 20, "{of_tasks} on {jdk}");
    assert_eq!(arrows("s"), arrows("f"), "on {jdk}");
    assert!(
        arrows("s") >= of_tasks,
        "{} of {of_tasks} on {jdk}",
        arrows("s")
    );
    // The steps of tasks are no calls and no rows of a table.
    assert!(events.iter().all(|event| event["ph"] != "i"));
}

/// Prints the number of steps, which is the cost of `--follow`.
fn tell_events(jdk: &Jdk, trace: &Trace) {
    assert!(trace.places.is_empty() && trace.moments.is_empty());
    let calls = trace.calls.len();
    println!(
        "{jdk}: {calls} calls, {} places of tasks",
        trace.tasks.len()
    );
}

#[test]
fn spans_of_tasks_belong_to_the_trace_of_the_call_that_submitted_them() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let receiver = Receiver::http(Behaviour::Takes);
        let output = folder.path().join("out");
        traced(&jdk, &output, &["--otlp", &receiver.url]).assert_success();
        let received = receiver.received();
        let of_jvms = (received.traces.iter()).flat_map(|request| &request.resource_spans);
        let scopes = of_jvms.flat_map(|of_jvm| &of_jvm.scope_spans);
        let spans: Vec<Span> = scopes.flat_map(|scope| scope.spans.clone()).collect();
        let by_id: HashMap<&[u8], &Span> =
            spans.iter().map(|span| (&span.span_id[..], span)).collect();
        let name = |span: &Span| span.name.rsplit('.').next().unwrap_or_default().to_owned();
        let work = spans.iter().filter(|span| span.name == "Tasks.work");
        let found = work.map(|span| {
            let mut root = span;
            while !root.parent_span_id.is_empty() {
                root = by_id[&root.parent_span_id[..]];
                assert_eq!(root.trace_id, span.trace_id);
            }
            (argument(span), name(root))
        });
        assert_work(&jdk, found);
    }
}

fn argument(span: &Span) -> String {
    use opentelemetry_proto::tonic::common::v1::any_value::Value;
    let mut all = span.attributes.iter();
    let found = all.find(|attribute| attribute.key == "classhook.argument.0");
    match found.and_then(|found| found.value.as_ref()?.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn tree_of_a_slow_call_has_the_calls_of_its_tasks() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let run = traced(&jdk, &folder.path().join("out"), &["--slow", "1us"]);
        run.assert_success();
        let trees = run.stdout.split("\n\n");
        let mut trees =
            trees.filter(|tree| tree.lines().any(|line| line.ends_with("  Tasks.pool")));
        let tree = trees.next().unwrap_or_else(|| panic!("{}", run.report()));
        assert_eq!(tasks_of(tree), 5, "{tree}");
        assert!(!run.stdout.contains("_tasks"), "{}", run.report());
    }
}

/// Returns the number of tasks in a tree: those with lines, and those that are too short for one.
fn tasks_of(tree: &str) -> usize {
    let with_lines = tree.matches("after it was submitted]").count();
    let words: Vec<&str> = tree.split_whitespace().collect();
    let others = words
        .windows(2)
        .filter(|two| two[1] == "task" || two[1] == "tasks");
    let others = others.map(|two| two[0].parse::<usize>().expect("a number"));
    with_lines + others.sum::<usize>()
}

/// While a trace runs, its lines name the submission of each task.
#[test]
fn lines_of_a_running_trace_name_the_submission_of_each_task() {
    let jdk = jdks::newest();
    let folder = scratch();
    let file = folder.path().join("calls.jsonl");
    let option = ["--json-lines", &file.to_string_lossy()];
    traced(&jdk, &folder.path().join("out"), &option).assert_success();
    let text = std::fs::read_to_string(&file).expect("written");
    let lines: Vec<Value> = text.lines().map(json).collect();
    let calls: Vec<(u64, u64, &str)> = (lines.iter().filter(|line| line["event"] == "enter"))
        .map(|line| {
            let number = |key: &str| line[key].as_u64().expect(key);
            let method = line["method"].as_str().expect("a method");
            (number("thread"), number("nanos"), method)
        })
        .collect();
    let number = |value: &Value| value.as_u64().expect("a number");
    let tasks = lines.iter().filter(|line| line["event"] == "task");
    // In these programs the submitting call is the last one before the submission.
    let by: BTreeSet<&str> = tasks
        .filter_map(|line| {
            let (thread, nanos) = (
                number(&line["submitted"]["thread"]),
                number(&line["submitted"]["nanos"]),
            );
            let before = calls
                .iter()
                .filter(|call| call.0 == thread && call.1 < nanos);
            before.max_by_key(|call| call.1).map(|call| call.2)
        })
        .collect();
    for method in ["pool", "threads", "firstTime", "secondTime"] {
        assert!(by.contains(method), "{method} in {by:?}");
    }
}

/// Tasks that were queued before the trace have no caller; those submitted later have theirs.
#[test]
fn tasks_submitted_before_the_trace_have_no_caller() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let java = Java::new(&jdk).options(&LATE).class_path(&[classes()]);
        let mut child = java.main("Tasks").argument("late").spawn_talking();
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut input = child.stdin.take().expect("a pipe");
        let mut line = String::new();
        output.read_line(&mut line).expect("text");
        assert_eq!(line, "ready\n");
        let (pid, out) = (child.id().to_string(), folder.path().join("out"));
        let out_text = out.to_string_lossy();
        let words = [&["trace", &pid, "-o", &out_text][..], &FOLLOWED].concat();
        let (mut trace, _told) = crate::support::command::begun(&words);
        writeln!(input, "go").expect("it reads");
        line.clear();
        output.read_line(&mut line).expect("text");
        assert_eq!(line, "done\n");
        drop(input);
        assert!(child.wait().expect("an end").success());
        assert!(trace.wait().expect("an end").success());
        let calls = calls(&report(
            &out,
            "--json-lines",
            &folder.path().join("calls.jsonl"),
        ));
        let work = calls.values().filter(|call| call.method == "work");
        let work: BTreeMap<&str, String> = work
            .map(|call| (&call.argument[..], root(&calls, call)))
            .collect();
        let nobody = work["nobody"].as_str();
        assert!(nobody.starts_with("lambda$early"), "{nobody} on {jdk}");
        assert_eq!(work["later"], "later", "on {jdk}");
    }
}

#[test]
fn following_without_its_capability_or_methods_is_an_error() {
    let folder = scratch();
    let output = folder.path().to_string_lossy();
    let trace = |words: &[&str]| {
        let all = [
            &["trace", "-o", &output][..],
            words,
            &["--", "java", "-version"],
        ]
        .concat();
        classhook(&all)
    };
    let run = trace(&["--follow", "--methods", "a.B.*"]);
    run.assert_exit(2).assert_stderr("error[H0639]");
    run.assert_stderr("--grant boot");
    trace(&["--follow", "--grant", "boot"])
        .assert_exit(2)
        .assert_stderr("--methods");
    let located = [
        "--follow",
        "--grant",
        "boot",
        "--methods",
        "a.B.*",
        "--select",
        "location:x",
    ];
    trace(&located).assert_exit(2).assert_stderr("error[H0639]");
}
