//! `classhook trace` of a command, and of a running JVM, which is left as it was.

use crate::support::command::{assert_no_agent, begun};
use crate::support::traced::{Program, java, trace_of};
use attach::Attachment;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::patience::await_that;
use e2e_tests::servant::Servant;
use e2e_tests::{javac, scratch, time_line, workspace};
use probes::Snapshot;
use probes::events::{BoundaryKind, CallBoundary, Trace};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

fn classhook(words: &[&str]) -> Run {
    Java::program(workspace::classhook()).arguments(words).run()
}

/// Compiles the classes of `examples/bank`.
fn bank(jdk: &Jdk, folder: &Path) -> PathBuf {
    let root = workspace::test_file("../examples/bank");
    let sources: Vec<PathBuf> = ["src", "src-11"]
        .iter()
        .flat_map(|name| javac::sources_in(&root.join(name)))
        .collect();
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    javac::compile(jdk, &sources, folder, &["--release", "11"])
}

/// Runs the bank under `classhook trace`.
fn traced_bank(jdk: &Jdk, classes: &Path, folder: &Path, more: &[&str]) -> Trace {
    let output = folder.join(more.first().unwrap_or(&"events"));
    let (output_text, classes) = (output.to_string_lossy(), classes.to_string_lossy());
    let program = jdk.tool("java");
    let program = program.to_string_lossy();
    let mut words = vec!["trace", "-o", &output_text, "--skip", "lambdas"];
    words.extend(more);
    words.extend(["--", &program, "-cp", &classes, "bank.Main"]);
    classhook(&words).assert_success();
    trace_of(&output)
}

/// Returns class and method of every span with entries.
fn called(trace: &Trace, entered: impl Fn(u32) -> u64) -> BTreeSet<(String, u64)> {
    let spans = trace.spans.values().filter(|span| entered(span.id) > 0);
    spans
        .map(|span| {
            (
                format!("{}.{}{}", span.class, span.method, span.descriptor),
                entered(span.id),
            )
        })
        .collect()
}

#[test]
fn counts_sums_and_single_calls_of_a_real_program_agree() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let classes = bank(&jdk, folder.path());
        let events = traced_bank(&jdk, &classes, folder.path(), &[]);
        let sums = traced_bank(&jdk, &classes, folder.path(), &["--aggregate"]);
        let counts = traced_bank(&jdk, &classes, folder.path(), &["--count"]);
        let single = called(&events, |id| {
            events.calls.iter().filter(|call| call.span == id).count() as u64
        });
        assert!(single.len() > 20, "{single:?}");
        let ended = |trace: &Trace, id| trace.aggregates.get(&id).map_or(0, |sums| sums.count);
        assert_eq!(called(&events, |id| ended(&events, id)), single);
        assert_eq!(called(&sums, |id| ended(&sums, id)), single);
        assert!(sums.calls.is_empty());
        assert_eq!(
            called(&counts, |id| counts.counts.get(&id).copied().unwrap_or(0)),
            single
        );
    }
}

/// Each call is a slice on the track of its thread, within its caller's slice.
#[test]
fn the_time_line_of_a_real_program_is_one_that_viewers_can_read() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let classes = bank(&jdk, folder.path());
        let file = folder.path().join("trace.json");
        let file = file.to_string_lossy();
        let trace = traced_bank(&jdk, &classes, folder.path(), &["--perfetto", &file]);
        let text = std::fs::read_to_string(&*file).expect("the file");
        let tracks = time_line::read(&text).expect("a time line");
        let shown: BTreeMap<u64, Vec<(u64, u64, usize)>> = tracks
            .into_iter()
            .map(|((_, thread), calls)| {
                let calls = calls.iter().map(|call| (call.start, call.end, call.depth));
                (thread, calls.collect())
            })
            .collect();
        let mut calls: BTreeMap<u64, Vec<(u64, u64, usize)>> = BTreeMap::new();
        for thread in trace.calls.iter().map(|call| call.thread) {
            calls.entry(thread).or_insert_with(|| {
                let events = trace.events(thread);
                let entries = events
                    .iter()
                    .filter(|event| event.kind == BoundaryKind::Enter);
                let call =
                    |event: &CallBoundary<'_>| (event.call.start, event.call.end, event.depth);
                entries.map(call).collect()
            });
        }
        assert!(
            calls
                .values()
                .any(|calls| calls.iter().any(|(.., depth)| *depth > 1))
        );
        assert_eq!(shown, calls, "{jdk}");
    }
}

#[test]
fn a_running_jvm_is_traced_twice_and_left_without_an_agent() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let program = Program::compile(&jdk, 3, folder.path());
        let mut running = obeying(&jdk, &program, None);
        let pid = running.pid().to_string();
        for round in ["1", "2"] {
            let output = folder.path().join(round);
            let run = classhook(&[
                "trace",
                &pid,
                "--methods",
                "Traced.m?",
                "--for",
                "1s",
                "-o",
                &output.to_string_lossy(),
            ]);
            run.assert_success();
            let trace = trace_of(&output);
            assert!(
                trace.complete && !trace.calls.is_empty(),
                "{}",
                run.report()
            );
            assert!(run.stdout.contains("Traced.m"), "{}", run.report());
            assert_no_agent(&pid);
        }
        assert_eq!(running.ask("1"), "marked 1", "it works as before");
        let left = running.end();
        assert_eq!(left.code, Some(0), "{}", left.stderr);
    }
}

#[test]
fn agent_of_another_command_traces_for_a_while_and_continues_its_work() {
    let jdk = jdks::newest();
    let folder = scratch();
    let output = folder.path().join("out");
    let program = Program::compile(&jdk, 3, folder.path());
    let mut running = obeying(
        &jdk,
        &program,
        Some(&format!("plugin=coverage,output={}", output.display())),
    );
    let pid = running.pid().to_string();
    for method in ["Traced.m0", "Traced.m1"] {
        let run = classhook(&["trace", &pid, "--methods", method, "--count", "--for", "1s"]);
        run.assert_success();
    }
    classhook(&["enable", &pid, "trace"]).assert_success();
    let beside = folder.path().join("beside");
    let to = beside.to_string_lossy();
    let words = [
        "trace",
        &pid,
        "--methods",
        "Traced.m?",
        "--for",
        "1s",
        "-o",
        &to,
    ];
    classhook(&words).assert_success();
    let trace = trace_of(&beside);
    assert!(trace.complete && !trace.calls.is_empty());
    assert!(trace.spans.values().all(|span| span.plugin == "trace"));
    classhook(&["disable", &pid, "trace"]).assert_success();
    let status = classhook(&["status", &pid]);
    status.assert_success();
    assert!(
        status
            .stdout
            .contains("plugin trace: off, 0 classes changed"),
        "{}",
        status.report()
    );
    classhook(&["trace", &pid, "--log", "debug"])
        .assert_exit(2)
        .assert_stderr("error[H0608]");
    assert_eq!(running.ask("1"), "marked 1");
    let left = running.end();
    assert_eq!(left.code, Some(0), "{}", left.stderr);
    let files = javac::files_with_extension(&output, "hook");
    let snapshot = Snapshot::read(&files[0]).expect("a readable snapshot");
    assert!(snapshot.complete && snapshot.classes.iter().any(|class| class.name == "Traced"));
}

/// A patch that is made during a trace stays in force afterwards.
#[test]
fn agent_that_got_other_work_meanwhile_stays_for_it() {
    let jdk = jdks::newest();
    let folder = scratch();
    let program = Program::compile(&jdk, 3, folder.path());
    let mut running = obeying(&jdk, &program, None);
    let pid = running.pid().to_string();
    let output = folder.path().join("out");
    let to = output.to_string_lossy();
    let (mut tracing, _told) = begun(&["trace", &pid, "--methods", "Traced.m?", "-o", &to]);
    let other = folder.path().join("other");
    std::fs::create_dir(&other).expect("a folder");
    let text = e2e_tests::traced::source(3).replace("call % 7", "call % 8");
    std::fs::write(other.join("Traced.java"), text).expect("written");
    let source = other.join("Traced.java").to_string_lossy().into_owned();
    classhook(&["patch", &pid, "--source", &source]).assert_success();
    kill_process(Pid::from_child(&tracing), Signal::INT).expect("it runs");
    assert!(tracing.wait().expect("an end").success());
    let status = classhook(&["status", &pid]);
    assert!(
        status.stdout.contains("plugin trace: off"),
        "{}",
        status.report()
    );
    let patches = classhook(&["patches", &pid]);
    assert!(patches.stdout.contains("Traced"), "{}", patches.report());
    assert!(!trace_of(&output).calls.is_empty());
    classhook(&["off", &pid]).assert_success();
    assert_eq!(running.ask("1"), "marked 1");
    assert_eq!(running.end().code, Some(0));
}

/// The agent was loaded for the first of two commands, and the second runs longer.
#[test]
fn agent_of_a_command_leaves_with_the_last_command_that_uses_it() {
    let folder = scratch();
    let mut running = Servant::start(&jdks::newest(), &[]);
    let pid = running.pid().to_string();
    assert_eq!(running.ask("crowd 1"), "1 threads");
    let output = folder.path().to_string_lossy();
    let coverage = ["coverage", &pid, "--select", "Servant*", "-o", &output];
    let (mut measuring, _measuring_told) = begun(&coverage);
    let (mut tracing, _tracing_told) = begun(&["trace", &pid, "--methods", "Servant$Steps.d"]);
    for command in [&mut measuring, &mut tracing] {
        classhook(&["status", &pid]).assert_success();
        kill_process(Pid::from_child(command), Signal::INT).expect("it runs");
        assert!(command.wait().expect("an end").success());
    }
    assert_no_agent(&pid);
    assert_eq!(running.end().code, Some(0));
}

/// The command of a trace may be killed, or stopped so that it cannot end the trace.
#[test]
fn trace_of_a_killed_or_stopped_command_ends_by_itself_and_the_agent_leaves() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let program = Program::compile(&jdk, 3, folder.path());
        let mut running = obeying(&jdk, &program, None);
        let pid = running.pid().to_string();
        let signals = [
            (Signal::KILL, &[][..]),
            (Signal::STOP, &["--for", "2s"]),
            (Signal::KILL, &["--aggregate"]),
        ];
        for (round, (signal, more)) in signals.into_iter().enumerate() {
            let output = folder.path().join(format!("out-{round}"));
            let to = output.to_string_lossy();
            let words = ["trace", &pid, "--methods", "Traced.m?", "-o", &to];
            let (mut tracing, _told) = begun(&[&words[..], more].concat());
            kill_process(Pid::from_child(&tracing), signal).expect("it runs");
            assert!(running.ask("1").starts_with("marked"));
            await_that("the end of the agent", || {
                !threads(running.pid()).contains("Classhook")
            });
            tracing.kill().expect("our own child");
            tracing.wait().expect("an end");
            assert!(trace_of(&output).complete, "on {jdk}");
        }
        assert_eq!(running.end().code, Some(0));
    }
}

#[test]
fn trace_ends_with_its_results_when_the_agent_is_detached() {
    let jdk = jdks::newest();
    let folder = scratch();
    let program = Program::compile(&jdk, 3, folder.path());
    let mut running = obeying(&jdk, &program, None);
    let pid = running.pid().to_string();
    let output = folder.path().join("out");
    let to = output.to_string_lossy();
    let (tracing, mut told) = begun(&["trace", &pid, "--methods", "Traced.m?", "-o", &to]);
    assert!(running.ask("1").starts_with("marked"));
    classhook(&["off", &pid]).assert_success();
    let mut rest = String::new();
    told.read_to_string(&mut rest).expect("text");
    let ended = tracing.wait_with_output().expect("an end");
    let table = String::from_utf8_lossy(&ended.stdout);
    assert_eq!(ended.status.code(), Some(3), "{rest}{table}");
    assert!(
        rest.contains("warning[H0656]: the agent has left"),
        "{rest}"
    );
    assert!(table.contains("Traced.m0"), "{table}");
    assert!(trace_of(&output).complete);
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn trace_without_matching_methods_fails_at_once() {
    let jdk = jdks::newest();
    let folder = scratch();
    let program = Program::compile(&jdk, 3, folder.path());
    let running = obeying(&jdk, &program, None);
    let output = folder.path().join("out");
    let run = classhook(&[
        "trace",
        &running.pid().to_string(),
        "--methods",
        "Tracer.m?",
        "--for",
        "100ms",
        "-o",
        &output.to_string_lossy(),
    ]);
    run.assert_exit(2)
        .assert_stderr("warning[H0650]")
        .assert_stderr("nearest  Traced.m?\n")
        .assert_stderr("error[H0650]");
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn command_without_a_matching_method_is_distinguished_from_one_without_a_jvm() {
    let jdk = jdks::newest();
    let folder = scratch();
    for (words, program, code) in [
        (&["trace"][..], jdk.tool("java"), "error[H0650]"),
        (
            &["top", "--interval", "1s"],
            jdk.tool("java"),
            "error[H0650]",
        ),
        (&["trace"], "/bin/echo".into(), "error[H0610]"),
    ] {
        let run = Java::program(workspace::classhook())
            .arguments(words)
            .arguments(&["--methods", "Hot.nosuch", "-o"])
            .argument(folder.path())
            .argument("--")
            .argument(program)
            .arguments(&["-version"])
            .run();
        run.assert_exit(2).assert_stderr(code);
        assert_eq!(
            run.stderr.contains("no method of Hot.nosuch"),
            code.contains("H0650")
        );
    }
}

/// Returns the names of a process's threads.
fn threads(pid: i32) -> String {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task"));
    let names = tasks.into_iter().flatten().flatten();
    names
        .filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok())
        .collect()
}

/// Starts the program, which runs until its input ends.
fn obeying(jdk: &Jdk, program: &Program, agent: Option<&str>) -> Servant {
    let java = java(jdk, program);
    let java = match agent {
        Some(options) => java.agent(Some(options)),
        None => java,
    };
    Servant::of(&java.main("Traced").arguments(&[
        &program.log,
        &"2".into(),
        &"0".into(),
        &"0".into(),
    ]))
}

/// A trace returns all resources to the JVM.
#[test]
fn a_jvm_that_was_traced_many_times_has_the_files_and_threads_of_before() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let program = Program::compile(&jdk, 3, folder.path());
        let mut running = obeying(&jdk, &program, None);
        let pid = running.pid().to_string();
        let visit = |round: usize| {
            let output = folder.path().join(round.to_string());
            let output = output.to_string_lossy();
            let words = ["trace", &pid, "--methods", "Traced.m?", "--for", "1s"];
            let run = classhook(&[&words[..], &["-o", &output]].concat());
            run.assert_success();
            assert!(run.stdout.contains("Traced.m"), "{}", run.report());
        };
        visit(0);
        let before = [entries(&pid, "fd"), entries(&pid, "task")];
        (1..6).for_each(visit);
        // Connections and the threads of the JVM's compilers come and go: less than one for each visit.
        for (what, before) in ["fd", "task"].into_iter().zip(before) {
            let left = entries(&pid, what);
            assert!(
                left < before + 4,
                "{what}: {left}, before {before}, on {jdk}"
            );
        }
        assert_eq!(running.ask("1"), "marked 1");
        assert_eq!(running.end().code, Some(0));
    }
}

/// The system gets back the memory that the agent has freed; the C library does not keep it.
#[test]
fn memory_that_a_trace_has_freed_does_not_stay_with_the_jvm() {
    let jdk = jdks::newest();
    let folder = scratch();
    let mut running = Servant::start(&jdk, &["-XX:+UseSerialGC"]);
    let pid = running.pid().to_string();
    assert_eq!(running.ask("crowd 64"), "64 threads");
    let output = folder.path().to_string_lossy();
    for _ in 0..3 {
        let words = ["trace", &pid, "--methods", "Servant$Steps.d"];
        let run = classhook(&[&words[..], &["--for", "100ms", "-o", &output]].concat());
        run.assert_success();
    }
    assert_no_agent(&pid);
    let before = private_memory(&pid);
    let jvm = Attachment::open(running.pid()).expect("a JVM");
    jvm.jcmd("System.trim_native_heap").expect("done");
    let kept = before.saturating_sub(private_memory(&pid));
    assert!(kept < KEPT, "{kept} KiB were kept, on {jdk}");
    assert_eq!(running.end().code, Some(0));
}

/// Most KiB of unused memory that may stay: memory that the JVM itself has freed meanwhile.
const KEPT: usize = 500;

/// Returns the private dirty memory of a process, in KiB.
fn private_memory(pid: &str) -> usize {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"));
    let text = text.expect("the process is there");
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Private_Dirty:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.expect("a number of KiB")
}

/// Returns the number of entries of a folder of a process below `/proc`.
fn entries(pid: &str, folder: &str) -> usize {
    let path = format!("/proc/{pid}/{folder}");
    std::fs::read_dir(path)
        .expect("the process is there")
        .count()
}
