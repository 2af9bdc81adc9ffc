//! Several commands that record in one JVM at the same time, each with its own results and its own end.

use crate::support::command::{
    LATE, assert_no_agent, attach, await_no_edits, begun, classhook, json,
};
use crate::support::traced::trace_of;
use e2e_tests::java::Java;
use e2e_tests::jdks;
use e2e_tests::patience::await_that;
use e2e_tests::servant::Servant;
use e2e_tests::{javac, scratch, workspace};
use probes::events::{BoundaryKind, Trace};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::io::{BufReader, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStderr};

/// A command that records until it is interrupted.
struct Recording {
    child: Child,
    told: BufReader<ChildStderr>,
}

/// The output of a command.
struct CommandOutput {
    code: Option<i32>,
    out: String,
    told: String,
}

impl Recording {
    fn begin(words: &[&str]) -> Self {
        let (child, told) = begun(words);
        Self { child, told }
    }

    /// Interrupts it as Ctrl-C does.
    fn end(self) -> CommandOutput {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::INT).expect("our own child");
        self.wait()
    }

    fn wait(mut self) -> CommandOutput {
        let mut told = String::new();
        let mut out = String::new();
        let mut stdout = self.child.stdout.take().expect("a pipe");
        let reader = std::thread::spawn(move || {
            stdout.read_to_string(&mut out).expect("text");
            out
        });
        self.told.read_to_string(&mut told).expect("text");
        CommandOutput {
            code: self.child.wait().expect("an end").code(),
            out: reader.join().expect("text"),
            told,
        }
    }

    fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("an end");
    }
}

impl CommandOutput {
    #[track_caller]
    fn assert_success(&self) -> &Self {
        assert_eq!(self.code, Some(0), "{}\n{}", self.out, self.told);
        self
    }

    #[track_caller]
    fn assert_told(&self, text: &str) -> &Self {
        assert!(self.told.contains(text), "{}\n{}", self.out, self.told);
        self
    }
}

/// Returns the number of calls of each method, on which single calls and sums agree.
#[track_caller]
fn calls(trace: &Trace) -> BTreeMap<String, u64> {
    let name = |span: &u32| trace.spans[span].method.clone();
    let mut single: BTreeMap<String, u64> = BTreeMap::new();
    for call in &trace.calls {
        *single.entry(name(&call.span)).or_default() += 1;
    }
    let sums = trace.aggregates.iter();
    let sums: BTreeMap<String, u64> = sums.map(|(span, sum)| (name(span), sum.count)).collect();
    assert_eq!(single, sums);
    single
}

fn counts<const N: usize>(all: [(&str, u64); N]) -> BTreeMap<String, u64> {
    all.map(|(name, count)| (name.to_owned(), count)).into()
}

/// Returns the greatest number of enclosing calls in the same trace.
fn depth(trace: &Trace) -> usize {
    let threads = trace.calls.chunk_by(|one, next| one.thread == next.thread);
    let depths = threads.flat_map(|calls| {
        let events = trace.events(calls[0].thread).into_iter();
        let begins = events.filter(|event| event.kind == BoundaryKind::Enter);
        begins.map(|event| event.depth).collect::<Vec<_>>()
    });
    depths.max().unwrap_or(0)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Two traces, a watch and a measurement of coverage, of the same methods, started one after another and ended in
/// another order. The first one, for which the agent was loaded, also ends first once.
#[test]
fn recordings_side_by_side_have_their_own_calls_and_their_own_end() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let in_folder = |name: &str| folder.path().join(name);
        let mut servant = Servant::start(&jdk, &LATE);
        let pid = servant.pid().to_string();
        servant.ask("steps abcd"); // loads their class
        let (one, two, covered) = (in_folder("one"), in_folder("two"), in_folder("covered"));
        let methods = ["--methods", "Servant$Steps.a", "--methods", "Servant.step"];
        let words = ["trace", &pid, "-o", &text(&one)];
        let first = Recording::begin(&[&words[..], &methods].concat());
        servant.ask("steps a");
        let words = ["trace", &pid, "-o", &text(&two), "--when", "depth == 0"];
        let second = Recording::begin(&[&words[..], &["--methods", "Servant$Steps.*"]].concat());
        let words = ["watch", &pid, "Servant$Steps.*", "--when", "depth == 0"];
        let watch = Recording::begin(&words);
        let words = ["coverage", &pid, "--select", "Servant$Steps"];
        let coverage = Recording::begin(&[&words[..], &["-o", &text(&covered)]].concat());
        servant.ask("steps aab");
        let watched = watch.end();
        watched.assert_success().assert_told("3 calls shown");
        assert_eq!(watched.out.matches("Servant$Steps.a").count(), 2);
        servant.ask("steps b");
        first.end().assert_success();
        let trace = trace_of(&one);
        assert_eq!(calls(&trace), counts([("a", 3), ("step", 5)]), "{jdk}");
        assert_eq!(depth(&trace), 1, "{jdk}");
        servant.ask("steps ac");
        second.end().assert_success();
        let trace = trace_of(&two);
        assert!(trace.complete && trace.lost.is_none(), "{jdk}");
        assert_eq!(
            calls(&trace),
            counts([("a", 3), ("b", 2), ("c", 1)]),
            "{jdk}"
        );
        assert_eq!(depth(&trace), 0, "{jdk}");
        servant.ask("steps d");
        let said = coverage.end();
        said.assert_success();
        assert!(said.out.contains("Servant$Steps"), "{}", said.out);
        assert_no_agent(&pid);
        assert_eq!(servant.end().code, Some(0));
    }
}

/// Counts of one recording do not affect another, also when its command is killed and the next takes its slot.
#[test]
fn counts_and_limits_of_a_recording_are_its_own() {
    let jdk = jdks::newest();
    let folder = scratch();
    let mut servant = Servant::start(&jdk, &LATE);
    let pid = servant.pid().to_string();
    servant.ask("steps abcd");
    attach(&servant, folder.path(), &["--plugin", "none"]).assert_success();
    let outputs = ["one", "two", "three"].map(|name| text(&folder.path().join(name)));
    let count = |output: &str| {
        let words = [
            "trace",
            &pid,
            "--count",
            "--methods",
            "Servant$Steps.*",
            "-o",
        ];
        Recording::begin(&[&words[..], &[output]].concat())
    };
    let watch = ["watch", &pid, "Servant$Steps.a", "--limit", "2"];
    let one = count(&outputs[0]);
    servant.ask("steps aaab");
    let killed = Recording::begin(&watch);
    let two = count(&outputs[1]);
    servant.ask("steps a");
    killed.kill();
    servant.ask("steps bb");
    let again = Recording::begin(&watch);
    servant.ask("steps aaa");
    again.wait().assert_success().assert_told("2 calls shown");
    two.end().assert_success();
    let three = count(&outputs[2]);
    servant.ask("steps c");
    three.end().assert_success();
    one.end().assert_success();
    let counted = |output: &str| {
        let trace = trace_of(Path::new(output));
        let counts = trace.counts.iter();
        let named = counts.map(|(span, count)| (trace.spans[span].method.clone(), *count));
        named
            .filter(|(_, count)| *count > 0)
            .collect::<BTreeMap<_, _>>()
    };
    assert_eq!(counted(&outputs[0]), counts([("a", 7), ("b", 3), ("c", 1)]));
    assert_eq!(counted(&outputs[1]), counts([("a", 4), ("b", 2)]));
    assert_eq!(counted(&outputs[2]), counts([("c", 1)]));
    await_no_edits(&pid);
    let plugins = &json(&["status", &pid])["plugins"];
    assert_eq!(plugins, &serde_json::json!([]), "a recording is left");
    assert_eq!(servant.end().code, Some(0));
}

#[test]
fn number_of_recordings_is_limited_and_their_commands_are_named() {
    let folder = scratch();
    let mut servant = Servant::start(&jdks::newest(), &LATE);
    let pid = servant.pid().to_string();
    servant.ask("steps abcd");
    attach(&servant, folder.path(), &["--plugin", "none"]).assert_success();
    let watch = ["watch", &pid, "Servant$Steps.a"];
    let all: Vec<Recording> = (1..probes::spans::SESSIONS)
        .map(|_| Recording::begin(&watch))
        .collect();
    let status = classhook(&["status", &pid]);
    status.assert_success();
    for recording in &all {
        let holder = format!("process {} of ", recording.child.id());
        assert!(status.stdout.contains(&holder), "{}", status.report());
    }
    classhook(&watch)
        .assert_exit(2)
        .assert_stderr("error[H0710]");
    servant.ask("steps a");
    for recording in all {
        let said = recording.end();
        said.assert_success().assert_told("1 call shown");
    }
    await_no_edits(&pid);
    assert_eq!(servant.end().code, Some(0));
}

/// For exclusive operations, the second command names the first.
#[test]
fn command_that_is_in_the_way_is_named() {
    let folder = scratch();
    let mut servant = Servant::start(&jdks::newest(), &LATE);
    let pid = servant.pid().to_string();
    servant.ask("steps abcd");
    let output = text(&folder.path().join("covered"));
    let coverage = ["coverage", &pid, "--select", "Servant$Steps", "-o", &output];
    let profile = ["profile", &pid, "--gc"];
    for (words, code) in [(&coverage[..], "H0609"), (&profile, "H0419")] {
        let recording = Recording::begin(words);
        let run = classhook(&words[..words.len().min(4)]);
        let user = probes::user_name(rustix::process::geteuid().as_raw());
        let process = format!("process {} of {user}, since 2", recording.child.id());
        let command = format!(" UTC: classhook {} {pid} --", words[0]);
        run.assert_exit(2)
            .assert_stderr(&format!("error[{code}]"))
            .assert_stderr(&process)
            .assert_stderr(&command);
        recording.end();
        assert_no_agent(&pid);
    }
    assert_eq!(servant.end().code, Some(0));
}

/// A command that finds no method to trace leaves no file of its own.
#[test]
fn session_without_a_method_leaves_no_event_file() {
    let jdk = jdks::newest();
    let servant = Servant::start(&jdk, &LATE);
    let folder = scratch();
    let pid = servant.pid().to_string();
    attach(&servant, folder.path(), &[]).assert_success();
    let output = text(folder.path());
    let options = ["-o", &output, "--for", "100ms"];
    let words = ["trace", &pid, "--methods", "no.such.Class.*"];
    let run = classhook(&[&words[..], &options].concat());
    run.assert_exit(2).assert_stderr("H0650");
    let files = javac::files_with_extension(folder.path(), "events");
    assert!(files.is_empty(), "{files:?}");
    classhook(&["off", &pid]).assert_success();
    servant.end();
}

/// Ctrl-C as soon as the command handles signals, which is before it loads the agent.
#[test]
fn interrupt_during_the_loading_of_the_agent_leaves_no_agent() {
    let jdk = jdks::newest();
    let servant = Servant::start(&jdk, &LATE);
    let folder = scratch();
    let (pid, output) = (servant.pid().to_string(), text(folder.path()));
    for words in [
        &["trace", &pid, "-o", &output, "--methods", "Servant*.*"][..],
        &["profile", &pid, "--cpu", "samples"],
    ] {
        let mut child = Java::program(workspace::classhook())
            .variable("CLASSHOOK_AGENT", workspace::agent_library())
            .arguments(words)
            .spawn();
        let command = Pid::from_child(&child);
        let has_ended = |child: &mut Child| child.try_wait().expect("our own child").is_some();
        await_that("a command that takes signals", || {
            takes_interrupts(command) || has_ended(&mut child)
        });
        kill_process(command, Signal::INT).expect("our own child");
        child.wait().expect("an end");
        assert_no_agent(&pid);
    }
    servant.end();
}

/// The JVM waits for the request of a silent client, so it answers no other.
#[test]
fn second_interrupt_ends_a_command_that_the_jvm_does_not_answer() {
    let servant = Servant::start(&jdks::newest(), &LATE);
    let pid = servant.pid().to_string();
    classhook(&["doctor", &pid]); // the JVM has its socket from then on
    let socket = format!("/tmp/.java_pid{pid}");
    let silent = UnixStream::connect(&socket).expect("the JVM's socket");
    for words in [
        &["trace", &pid, "--methods", "Servant*.*"][..],
        &["profile", &pid, "--cpu", "samples"],
        &["attach", &pid, "--select", "Servant*"],
    ] {
        let folder = scratch();
        let mut child = Java::program(workspace::classhook())
            .variable("CLASSHOOK_AGENT", workspace::agent_library())
            .folder(folder.path())
            .arguments(words)
            .spawn();
        let command = Pid::from_child(&child);
        await_that("a command that takes signals", || takes_interrupts(command));
        await_that("the end of the command", || {
            let ended = child.try_wait().expect("our own child").is_some();
            if !ended {
                kill_process(command, Signal::INT).expect("our own child");
            }
            ended
        });
        let code = child.wait().expect("an end").code();
        assert_eq!(code, Some(130), "{words:?}");
    }
    drop(silent);
    assert_no_agent(&pid);
    servant.end();
}

/// Checks whether a process handles SIGINT, by the bits of the signals that it catches (proc(5)).
fn takes_interrupts(process: Pid) -> bool {
    let file = format!("/proc/{}/status", process.as_raw_nonzero());
    let status = std::fs::read_to_string(file).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    caught.is_some_and(|bits| bits & 1 << (Signal::INT.as_raw() - 1) != 0)
}
