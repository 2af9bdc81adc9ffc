//! `classhook ps` and `classhook attach` with JVMs that are running.

use e2e_tests::java::{Java, Run};
use e2e_tests::workspace::{agent_library, classhook, test_file};
use e2e_tests::{javac, jdks, scratch};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

fn command(words: &[&str]) -> Run {
    Java::program(classhook())
        .variable("CLASSHOOK_AGENT", agent_library())
        .arguments(words)
        .run()
}

/// A JVM in `Idle.main`; ends when its standard input does.
fn idle(java: &Path, classes: &Path) -> Child {
    let mut child = Command::new(java)
        .arg("-XX:+EnableDynamicAgentLoading")
        .arg("-cp")
        .arg(classes)
        .arg("Idle")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("java starts");
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.as_mut().expect("a pipe"));
    out.read_line(&mut line).expect("output");
    assert_eq!(line, "up\n");
    child
}

/// The column `agent` of the JVM's line.
fn agent_column(pid: &str) -> String {
    let listed = command(&["ps"]);
    listed.assert_success();
    let mut lines = listed
        .stdout
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let line = lines
        .find(|words| words.first() == Some(&pid))
        .expect("the JVM is listed");
    assert_eq!(line.last(), Some(&"Idle"));
    line[2].to_owned()
}

#[test]
fn running_jvm_is_listed_attached_to_and_reported() {
    let folder = scratch();
    let source = test_file("java/Idle.java");
    let classes = javac::compile(
        &jdks::newest(),
        &[&source],
        folder.path(),
        &["--release", "11"],
    );
    for jdk in jdks::all() {
        let recorded = folder.path().join(format!("recorded-{}", jdk.feature));
        let output = recorded.to_str().expect("a path that is text");
        let child = idle(&jdk.tool("java"), &classes);
        let pid = child.id().to_string();

        assert_eq!(agent_column(&pid), "-");
        let attached = command(&["attach", &pid, "--output", output, "--select", "Idle"]);
        attached
            .assert_success()
            .assert_stderr(&format!("attached to {pid}, recording to {output}"));
        assert_eq!(agent_column(&pid), "yes");
        command(&["attach", &pid, "--output", output])
            .assert_exit(2)
            .assert_stderr("H0608");

        let ended = child.wait_with_output().expect("an end");
        assert!(ended.status.success());
        assert_eq!(String::from_utf8_lossy(&ended.stdout), "down\n", "on {jdk}");
        // `main` was entered before; the end of its loop and the line behind it ran with probes or not,
        // as HotSpot keeps the old code of a frame: what must be there is the class with its probes.
        let report = command(&["report", output]);
        report.assert_success();
        assert!(report.stdout.contains("Idle"), "{}", report.report());
    }
}

#[test]
fn processes_that_cannot_be_attached_to_explain_themselves() {
    command(&["attach", "2147483647"])
        .assert_exit(2)
        .assert_stderr("H0501");
    let ours = std::process::id().to_string();
    command(&["attach", &ours])
        .assert_exit(2)
        .assert_stderr("H0502")
        .assert_stderr("classhook ps");
    command(&["attach", "0"]).assert_exit(2);
    command(&["attach", "1", "--select", "loader:"])
        .assert_exit(2)
        .assert_stderr("H0110");
}
