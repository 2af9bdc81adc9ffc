//! Fixtures for the tests of commands for running JVMs.

#![allow(dead_code, reason = "each test file uses its part")]

use e2e_tests::java::{Java, Run};
use e2e_tests::patience::await_that;
use e2e_tests::servant::Servant;
use e2e_tests::workspace;
use probes::Snapshot;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr};

/// Allows agents that are loaded late, so that the JVM does not warn (JEP 451).
pub const LATE: [&str; 1] = ["-XX:+EnableDynamicAgentLoading"];

/// Runs `classhook` to its end.
pub fn classhook(words: &[&str]) -> Run {
    Java::program(workspace::classhook())
        .variable("CLASSHOOK_AGENT", workspace::agent_library())
        .arguments(words)
        .run()
}

/// Starts a command that runs until Ctrl-C, and waits for its line that says so. Returns the rest of its standard
/// error.
#[track_caller]
pub fn begun(words: &[&str]) -> (Child, BufReader<ChildStderr>) {
    let mut child = Java::program(workspace::classhook())
        .variable("CLASSHOOK_AGENT", workspace::agent_library())
        .arguments(words)
        .spawn();
    let mut told = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut lines = String::new();
    while !lines.contains("Ctrl-C") {
        let read = told.read_line(&mut lines).expect("text");
        assert!(read > 0, "{lines}");
    }
    (child, told)
}

/// Asserts that the JVM has no agent.
#[track_caller]
pub fn assert_no_agent(pid: &str) {
    classhook(&["status", pid])
        .assert_exit(2)
        .assert_stderr("error[H0701]");
}

/// Returns the control socket of a JVM with the same file system and users.
pub fn socket(pid: i32) -> PathBuf {
    let uid = rustix::process::geteuid().as_raw();
    PathBuf::from(control::socket::socket_path(uid, pid))
}

/// Connects to the agent in a JVM, without a process for every request.
pub fn channel(pid: i32) -> control::Client {
    let uid = rustix::process::geteuid().as_raw();
    control::Client::connect(&socket(pid), control::Peer { pid, uid }).expect("an agent listens")
}

/// Attaches to a servant, selecting its own classes.
pub fn attach(servant: &Servant, output: &Path, more: &[&str]) -> Run {
    let (pid, output) = (servant.pid().to_string(), output.to_string_lossy());
    let words = ["attach", &pid, "--output", &output, "--select", "Servant*"];
    classhook(&[&words[..], more].concat())
}

/// Runs a command with `--json` and returns its answer.
#[track_caller]
pub fn json(words: &[&str]) -> serde_json::Value {
    let run = classhook(&[words, &["--json"]].concat());
    run.assert_success();
    serde_json::from_str(&run.stdout).expect("JSON")
}

/// Returns the number of hit probes of a class, and the number of all.
#[track_caller]
pub fn hits(snapshot: &Path, class: &str) -> (usize, usize) {
    let snapshot = Snapshot::read(snapshot).expect("a readable snapshot");
    let found: Vec<_> = snapshot
        .classes
        .iter()
        .filter(|found| found.name == class)
        .collect();
    assert_eq!(found.len(), 1, "{class} in {snapshot:?}");
    let hit = found[0].probes.iter().filter(|hit| **hit).count();
    (hit, found[0].probes.len())
}

/// Waits until this number of classes hold edits of the first plugin.
#[track_caller]
pub fn await_changed(pid: &str, count: u64) {
    await_that(&format!("{count} changed classes"), || {
        json(&["status", pid])["plugins"][0]["changed"] == count
    });
}

/// Waits until no class holds edits of any plugin.
#[track_caller]
pub fn await_no_edits(pid: &str) {
    await_that("the end of all edits", || {
        let status = json(&["status", pid]);
        let plugins = status["plugins"].as_array();
        !plugins.is_some_and(|all| all.iter().any(|plugin| plugin["changed"] != 0))
    });
}
