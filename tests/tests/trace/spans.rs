//! Methods recorded as spans, in real JVMs: the recording equals the calls, and the program is undisturbed.

use crate::support::agent::noise;
use attach::Attachment;
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::patience::await_that;
use e2e_tests::{javac, scratch, workspace};
use probes::events::{BoundaryKind, Call, Outcome, Trace};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Compiles the classes of `tests/java/spans`. The one with virtual threads needs a JDK 21.
pub(super) fn classes() -> &'static Path {
    static CLASSES: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, classes) = CLASSES.get_or_init(|| {
        let jdk = jdks::newest();
        let folder = scratch();
        let file = |name: &str| workspace::test_file(&format!("java/spans/{name}.java"));
        let options = ["--release", "11"];
        let classes = javac::compile(&jdk, &[&file("Spans")], folder.path(), &options);
        if jdk.feature >= 21 {
            javac::compile(
                &jdk,
                &[&file("VirtualSpans")],
                folder.path(),
                &["--release", "21"],
            );
        }
        (folder, classes)
    });
    classes
}

/// Writes a configuration that traces these methods.
fn configuration(folder: &Path, mode: &str, methods: &[&str]) -> PathBuf {
    let file = folder.join("trace.toml");
    let capture = match mode {
        "events" => "capture = [\"arguments\", \"returned\", \"thrown\"]",
        _ => "",
    };
    let text = format!(
        "[agent]\noutput = {:?}\n[[plugin]]\nuse = \"trace\"\ngrant = [\"probes\", \"rewrite\"]\n\
         [plugin.config]\nmethods = {methods:?}\nmode = {mode:?}\nskip = []\n{capture}\n",
        folder.join("out")
    );
    std::fs::write(&file, text).expect("written");
    file
}

fn java(jdk: &Jdk) -> Java {
    Java::new(jdk)
        .all_compilers()
        .options(&["-Xverify:all", "-Xcheck:jni"])
        .class_path(&[classes()])
}

/// The argument that stands for the folder with the event file.
pub(super) const OUTPUT: &str = "{output}";

/// Runs a case with these methods traced.
#[track_caller]
pub(super) fn record(
    jdk: &Jdk,
    mode: &str,
    methods: &[&str],
    main: &str,
    arguments: &[&str],
) -> Trace {
    let folder = scratch();
    let file = configuration(folder.path(), mode, methods);
    let output = folder.path().join("out");
    let shown = output.to_string_lossy();
    let arguments = arguments.iter().map(|it| it.replace(OUTPUT, &shown));
    let run = java(jdk)
        .agent(Some(&format!("config={}", file.display())))
        .main(main)
        .arguments(&arguments.collect::<Vec<_>>())
        .run();
    run.assert_success();
    assert!(noise(&run).is_empty(), "{}", run.report());
    trace(&output).expect("an event file")
}

fn trace(folder: &Path) -> Option<Trace> {
    let files = javac::files_with_extension(folder, "events");
    Trace::read(files.first()?).ok()
}

/// Returns the method's name of a call.
fn method<'t>(trace: &'t Trace, call: &Call) -> &'t str {
    &trace.spans[&call.span].method
}

/// Returns `>name` and `<name` (`!name` for an exception) of one thread, in order.
fn story(trace: &Trace, thread: u64) -> Vec<String> {
    let events = trace.events(thread);
    let line = |event: &probes::events::CallBoundary<'_>| {
        let sign = match (event.kind, &event.call.outcome) {
            (BoundaryKind::Enter, _) => '>',
            (BoundaryKind::Exit, Outcome::Threw(_)) => '!',
            (BoundaryKind::Exit, _) => '<',
        };
        format!("{sign}{}", method(trace, event.call))
    };
    events.iter().map(line).collect()
}

fn thread(trace: &Trace, name: &str) -> u64 {
    let found = trace.threads.values().find(|thread| thread.name == name);
    found
        .unwrap_or_else(|| panic!("no thread {name} among {:?}", trace.threads))
        .id
}

/// The code that records a call reads the thread's id. As a span, that method would call itself without end.
#[test]
fn methods_that_record_calls_are_left_alone_and_the_rest_of_their_class_is_traced() {
    for jdk in jdks::full() {
        let folder = scratch();
        let output = folder.path().join("out");
        let run = Java::program(workspace::classhook())
            .arguments(&["trace", "-o", &output.to_string_lossy()])
            .arguments(&["--grant", "boot"])
            .arguments(&["--methods", "java.lang.Thread.*"])
            .arguments(&["--methods", "java.lang.Double.*"])
            .arguments(&["--methods", "java.lang.ThreadLocal.*", "--"])
            .argument(jdk.tool("java"))
            .argument("-cp")
            .argument(classes())
            .arguments(&["Spans", "threads", "4"])
            .run();
        run.assert_success();
        assert!(run.stdout.contains("java.lang.Thread"), "{}", run.report());
        if jdk.feature >= 19 {
            run.assert_stderr("H0411");
        }
    }
}

#[test]
fn captured_values_are_read_without_calls_of_their_methods() {
    for jdk in jdks::all() {
        let trace = record(
            jdk,
            "events",
            &["Spans.*", "Spans$*.*"],
            "Spans",
            &["values"],
        );
        let main = thread(&trace, "main");
        let values = |name: &str| -> Vec<String> {
            let calls = trace.calls_of(main).iter();
            let call = calls
                .filter(|call| method(&trace, call) == name)
                .find(|call| !call.captures.is_empty())
                .unwrap_or_else(|| panic!("{name} has captures, on {jdk}"));
            let shown = call
                .captures
                .iter()
                .map(|capture| capture.value.to_string());
            shown.collect()
        };
        let expected = ["true", "-1", "'x'", "-2", "-3", "-4", "1.5", "2.5", "-0.5"];
        assert_eq!(values("primitives"), expected, "on {jdk}");
        let found = values("references");
        let begin = [
            "null",
            "\"text\"",
            "7",
            "8",
            "int[3]",
            "java.lang.String[2][]",
        ];
        assert_eq!(found[..6], begin, "on {jdk}");
        assert!(found[6].starts_with("Spans$Hostile@"), "{found:?}");
        assert_eq!(found[7], "java.lang.String[2][]");
        let text = format!("\"{}\"…", "0123456789".repeat(8));
        assert_eq!(values("text"), [text.clone(), text], "on {jdk}");
        assert!(values("<init>").ends_with(&["42".into(), "\"made\"".into()]));
        assert!(trace.complete && trace.lost.is_none(), "{:?}", trace.lost);
    }
}

#[test]
fn every_end_of_a_call_is_seen() {
    for jdk in jdks::all() {
        let trace = record(
            jdk,
            "events",
            &["Spans.*", "Spans$*.*"],
            "Spans",
            &["exceptions"],
        );
        let found = story(&trace, thread(&trace, "main"));
        let mut expected = vec![">main", ">exceptions", "><clinit>", ">check", "<check"];
        expected.push("<<clinit>");
        for round in 0..3 {
            expected.push(">caught");
            expected.extend(std::iter::repeat_n(">thrown", round + 1));
            expected.extend(std::iter::repeat_n("!thrown", round + 1));
            expected.extend([">nothing", "<nothing", "<caught"]);
            if round == 0 {
                expected.extend([">check", "!check", ">nothing", "<nothing"]);
            } else {
                let made = [
                    ">check", "<check", "><init>", "<<init>", "><init>", "<<init>",
                ];
                expected.extend(made);
            }
        }
        expected.extend(["<exceptions", "<main"]);
        assert_eq!(found, expected, "on {jdk}");
        let threw = trace.calls.iter().find_map(|call| match &call.outcome {
            Outcome::Threw(class) if method(&trace, call) == "thrown" => class.clone(),
            _ => None,
        });
        assert_eq!(threw.as_deref(), Some("java/lang/IllegalStateException"));
    }
}

#[test]
fn threads_that_end_leave_all_their_calls() {
    for jdk in jdks::all() {
        let methods = ["Spans.work", "Spans.step"];
        let trace = record(jdk, "events", &methods, "Spans", &["threads", "8"]);
        assert_eq!(trace.threads.len(), 24, "on {jdk}");
        for (id, thread) in &trace.threads {
            assert!(thread.name.starts_with("worker "), "{thread:?}");
            let calls = trace.calls_of(*id);
            assert_eq!(calls.len(), 101, "{thread:?} on {jdk}");
            assert!(calls[1..].iter().all(|call| call.end < calls[0].end));
        }
        let sums: Vec<u64> = trace.aggregates.values().map(|sums| sums.count).collect();
        assert_eq!(sums.iter().sum::<u64>(), 24 * 101);
        assert!(trace.lost.is_none(), "{:?}", trace.lost);
    }
}

#[test]
fn counters_count_and_nothing_else() {
    for jdk in jdks::all() {
        let trace = record(jdk, "count", &["Spans.step"], "Spans", &["flood", "300000"]);
        assert_eq!(
            trace.counts.values().copied().collect::<Vec<_>>(),
            [300_000]
        );
        assert!(trace.calls.is_empty() && trace.aggregates.is_empty());
        let span = trace.spans.values().next().expect("a span");
        assert_eq!(
            (span.class.as_str(), span.method.as_str()),
            ("Spans", "step")
        );
    }
}

#[test]
fn sums_of_aggregates_are_exact() {
    for jdk in jdks::all() {
        let methods = ["Spans.work", "Spans.step"];
        let trace = record(jdk, "aggregate", &methods, "Spans", &["threads", "4"]);
        assert!(trace.calls.is_empty());
        let sums = |name: &str| {
            let id = trace.spans.values().find(|span| span.method == name);
            &trace.aggregates[&id.expect("a span").id]
        };
        let (work, step) = (sums("work"), sums("step"));
        assert_eq!((work.count, step.count), (12, 1_200), "on {jdk}");
        // Each thread's sums are rounded to nanoseconds separately.
        let rest = work.total.abs_diff(work.own + step.total);
        assert!(rest <= 3 * 12, "{rest} ns on {jdk}");
        assert_eq!(step.own, step.total);
        let quantile = step.quantile(0.5).expect("calls");
        assert!(step.min <= quantile && quantile <= step.max);
    }
}

#[test]
fn stack_that_overflows_leaves_the_calls_around_it_whole() {
    for jdk in jdks::all() {
        let all = [
            "Spans.deep",
            "Spans.nothing",
            "Spans.work",
            "Spans.step",
            "Spans.endless",
        ];
        let trace = record(jdk, "events", &all, "Spans", &["deep"]);
        // Memory does not suffice for the values of all these calls, and the stack not for the ends of the innermost
        // ones.
        assert_eq!((trace.lost.full, trace.lost.untracked), (0, 0), "on {jdk}");
        let mut found = story(&trace, thread(&trace, "deep"));
        let before = found.len();
        found.retain(|line| !line.ends_with("endless"));
        assert!(before > found.len() + 600, "{before} events on {jdk}");
        let mut expected = vec![">deep"];
        expected.extend([">nothing", "<nothing"].repeat(3));
        expected.push(">work");
        expected.extend([">step", "<step"].repeat(10));
        expected.extend(["<work", "<deep"]);
        assert_eq!(found, expected, "on {jdk}");
        let failed = trace
            .calls
            .iter()
            .filter(|call| method(&trace, call) == "endless");
        assert!(
            failed
                .clone()
                .all(|call| matches!(call.outcome, Outcome::Threw(_)))
        );
    }
}

#[test]
fn call_of_a_virtual_thread_is_one_call_on_all_carriers() {
    for jdk in jdks::all().iter().filter(|jdk| jdk.feature >= 21) {
        let methods = ["VirtualSpans.outer", "VirtualSpans.inner"];
        let trace = record(jdk, "events", &methods, "VirtualSpans", &[]);
        assert_eq!(trace.calls.len(), 200 * 6, "on {jdk}");
        assert!(trace.lost.is_none(), "{:?}", trace.lost);
        let virtual_ones = trace.threads.values().filter(|thread| thread.is_virtual);
        let mut seen = 0;
        for thread in virtual_ones {
            let mut expected = vec![">outer"];
            expected.extend([">inner", "<inner"].repeat(5));
            expected.push("<outer");
            assert_eq!(story(&trace, thread.id), expected, "{thread:?} on {jdk}");
            seen += 1;
        }
        assert_eq!(seen, 200, "on {jdk}");
    }
}

#[test]
fn classes_that_are_unloaded_keep_their_names() {
    let jdk = jdks::newest();
    let path = classes().to_string_lossy();
    let methods = ["Spans$Loaded.run"];
    let trace = record(&jdk, "events", &methods, "Spans", &["unload", &path]);
    let calls: Vec<_> = trace.calls.iter().collect();
    assert_eq!(calls.len(), 20);
    for call in calls {
        let shown = call.captures[0].value.to_string();
        assert!(shown.starts_with("Spans$Loaded@"), "{shown}");
    }
}

#[test]
fn killed_jvm_leaves_its_calls_and_those_that_were_open() {
    let jdk = jdks::newest();
    let folder = scratch();
    let file = configuration(folder.path(), "events", &["Spans.work", "Spans.waits"]);
    let mut child = java(&jdk)
        .agent(Some(&format!("config={}", file.display())))
        .main("Spans")
        .argument("forever")
        .spawn();
    let out = folder.path().join("out");
    let waits = |trace: &Trace| {
        let mut open = trace
            .calls
            .iter()
            .filter(|call| call.outcome == Outcome::Open);
        open.any(|call| method(trace, call) == "waits")
    };
    await_trace(&out, |trace| trace.calls.len() >= 20 && waits(trace));
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::KILL).expect("killed");
    child.wait().expect("an end");
    let trace = trace(&out).expect("an event file");
    assert!(!trace.complete && trace.calls.len() >= 20 && waits(&trace));
}

#[test]
fn jvm_that_was_attached_to_gets_its_spans_once_natives_are_found() {
    for jdk in jdks::all() {
        let folder = scratch();
        let mut child = java(jdk)
            .option("-XX:+EnableDynamicAgentLoading")
            .main("Spans")
            .argument("forever")
            .spawn();
        let mut line = String::new();
        let out = child.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("output");
        assert_eq!(line, "started\n", "on {jdk}");
        let file = configuration(folder.path(), "events", &["Spans.work", "Spans.step"]);
        Attachment::open(i32::try_from(child.id()).expect("a pid"))
            .expect("a JVM")
            .load(
                &workspace::agent_library(),
                &format!("config={}", file.display()),
            )
            .expect("loaded");
        await_calls(&folder.path().join("out"), 50);
        assert!(child.try_wait().expect("asked").is_none(), "on {jdk}");
        kill_process(Pid::from_child(&child), Signal::TERM).expect("the JVM is there");
        let end = child.wait_with_output().expect("an end");
        let errors = String::from_utf8_lossy(&end.stderr);
        assert!(!errors.contains("UnsatisfiedLinkError"), "{errors}");
        let trace = trace(&folder.path().join("out")).expect("an event file");
        assert!(trace.complete, "on {jdk}: {errors}");
        let main = thread(&trace, "main");
        let story = story(&trace, main);
        let whole = story
            .windows(3)
            .any(|part| part == [">work", ">step", "<step"]);
        assert!(whole, "{:?} on {jdk}", &story[..story.len().min(40)]);
    }
}

/// Waits until an event file has this number of calls.
#[track_caller]
fn await_calls(folder: &Path, count: usize) {
    await_trace(folder, |trace| trace.calls.len() >= count);
}

/// Waits until an event file meets a condition.
#[track_caller]
fn await_trace(folder: &Path, wanted: impl Fn(&Trace) -> bool) {
    let what = format!("the calls in {}", folder.display());
    await_that(&what, || trace(folder).is_some_and(|trace| wanted(&trace)));
}
