//! `classhook ps` and `classhook attach`: each kind of process works or explains itself.

use crate::support::command;
use crate::support::command::{LATE, attach, classhook, json};
use crate::support::users::{AS_USER, USER, behind, is_root, open_to_all, servant_behind};
use e2e_tests::jdks;
use e2e_tests::scratch;
use e2e_tests::servant::Servant;
use std::path::Path;

/// Returns the column `agent` of the JVM's line in `classhook ps`.
fn agent_column(pid: i32) -> String {
    let listed = classhook(&["ps"]);
    listed.assert_success();
    let lines = listed.stdout.lines();
    let mut lines = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    let line = lines.find(|words| words.first() == Some(&pid.to_string().as_str()));
    line.expect("the JVM is listed")[2].to_owned()
}

#[test]
fn running_jvm_is_listed_attached_to_and_reported() {
    for jdk in jdks::all() {
        let folder = scratch();
        let output = folder.path().to_str().expect("a path that is text");
        let mut servant = Servant::start(jdk, &LATE);
        let pid = servant.pid().to_string();

        assert_eq!(agent_column(servant.pid()), "-");
        let attached = classhook(&["attach", &pid, "--output", output, "--select", "Servant*"]);
        attached
            .assert_success()
            .assert_stderr(&format!("attached to {pid}, recording to {output}"));
        assert_eq!(agent_column(servant.pid()), "yes");
        servant.ask("steps a");
        classhook(&["attach", &pid, "--output", output])
            .assert_exit(2)
            .assert_stderr("H0608");

        let left = servant.end();
        assert_eq!(
            (left.stdout.as_str(), left.code),
            ("down\n", Some(0)),
            "{jdk}"
        );
        let report = classhook(&["report", output]);
        report.assert_success();
        assert!(
            report.stdout.contains("Servant$Steps"),
            "{}",
            report.report()
        );
    }
}

#[test]
fn selection_of_nothing_is_reported_at_once() {
    let folder = scratch();
    let servant = Servant::start(&jdks::newest(), &LATE);
    let pid = servant.pid().to_string();
    let output = folder.path().to_str().expect("a path that is text");
    for words in [&["--output", output][..], &[]] {
        let words = [&["attach", &pid, "--select", "Servamt.**"], words].concat();
        classhook(&words)
            .assert_success()
            .assert_stderr("warning[H0650]")
            .assert_stderr("nearest  Servant\n");
    }
    assert_eq!(servant.end().code, Some(0));
}

/// The library stays in the process, but the agent does not.
#[test]
fn agent_that_has_left_is_not_listed() {
    let folder = scratch();
    let servant = Servant::start(&jdks::newest(), &LATE);
    attach(&servant, folder.path(), &[]).assert_success();
    assert_eq!(agent_column(servant.pid()), "yes");
    classhook(&["off", &servant.pid().to_string()]).assert_success();
    assert_eq!(agent_column(servant.pid()), "library");
    attach(&servant, folder.path(), &[]).assert_success();
    assert_eq!(agent_column(servant.pid()), "yes");
    assert_eq!(servant.end().code, Some(0));
}

#[test]
fn late_loading_warns_as_the_jvm_does_and_is_refused_where_it_is_forbidden() {
    for jdk in jdks::all() {
        let folder = scratch();
        let servant = Servant::start(jdk, &[]);
        attach(&servant, folder.path(), &[]).assert_success();
        let warned = servant
            .end()
            .stderr
            .contains("-XX:+EnableDynamicAgentLoading");
        assert_eq!(warned, jdk.feature >= 21, "{jdk}");

        let servant = Servant::start(jdk, &["-XX:-EnableDynamicAgentLoading"]);
        let refused = attach(&servant, folder.path(), &[]);
        refused
            .assert_exit(2)
            .assert_stderr("H0507")
            .assert_stderr("start the JVM with -XX:+EnableDynamicAgentLoading");
        assert_eq!(servant.end().code, Some(0));
    }
}

#[test]
fn processes_that_cannot_be_attached_to_explain_themselves() {
    classhook(&["attach", "2147483647"])
        .assert_exit(2)
        .assert_stderr("H0501");
    let ours = std::process::id().to_string();
    classhook(&["attach", &ours])
        .assert_exit(2)
        .assert_stderr("H0502")
        .assert_stderr("classhook ps");
    classhook(&["attach", "0"]).assert_exit(2);
    classhook(&["attach", "1", "--select", "loader:"])
        .assert_exit(2)
        .assert_stderr("H0110");
    for jdk in jdks::main_two() {
        let servant = Servant::start(&jdk, &["-XX:+DisableAttachMechanism"]);
        classhook(&["attach", &servant.pid().to_string()])
            .assert_exit(2)
            .assert_stderr("H0504")
            .assert_stderr("classhook run");
        assert_eq!(servant.end().stdout, "down\n", "{jdk}");
    }
}

#[test]
fn jvm_of_another_user_is_for_that_user_and_for_root() {
    if !is_root() {
        // A user other than root cannot become another user; process 1 belongs to root.
        classhook(&["attach", "1"])
            .assert_exit(2)
            .assert_stderr("H0503");
        return;
    }
    for jdk in jdks::main_two() {
        let folder = scratch();
        open_to_all(folder.path());
        let servant = Servant::of(&servant_behind(&AS_USER, &jdk, &LATE));
        attach(&servant, folder.path(), &[]).assert_success();
        let status = json(&["status", &servant.pid().to_string()]);
        assert_eq!(status["plugins"][0]["name"], "coverage");
        let socket = format!("/tmp/.classhook-{USER}/{}.sock", servant.pid());
        assert!(Path::new(&socket).exists(), "{socket}");

        let ours = Servant::start(&jdk, &LATE);
        attach(&ours, folder.path(), &[]).assert_success();
        for command in ["attach", "status", "off"] {
            behind(&AS_USER, e2e_tests::workspace::classhook())
                .argument(command)
                .argument(ours.pid().to_string())
                .run()
                .assert_exit(2)
                .assert_stderr("H0503")
                .assert_stderr("as that user, or as root");
        }
        assert_eq!(ours.end().code, Some(0));
        assert_eq!(servant.end().code, Some(0));
        assert!(!Path::new(&socket).exists(), "{socket}");
    }
}

/// Returns the JVM below `unshare --fork`.
fn child_of(pid: i32) -> i32 {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let children = children.expect("the process is there");
    children.trim().parse().expect("one child")
}

#[test]
fn jvm_in_namespaces_of_its_own_is_reached_like_any_other() {
    let apart = [
        "/usr/bin/unshare",
        "--mount",
        "--pid",
        "--fork",
        "--mount-proc",
    ];
    let mut ways = vec![[&apart[..], &["--user", "--map-root-user"]].concat()];
    if is_root() {
        ways.push(apart.to_vec());
    }
    for (words, jdk) in ways
        .iter()
        .flat_map(|way| jdks::main_two().into_iter().map(move |jdk| (way, jdk)))
    {
        let folder = scratch();
        let mut servant = Servant::of(&servant_behind(words, &jdk, &LATE));
        let pid = child_of(servant.pid());
        let attached = classhook(&[
            "attach",
            &pid.to_string(),
            "--output",
            &folder.path().to_string_lossy(),
            "--select",
            "Servant*",
        ]);
        attached.assert_success();
        let status = json(&["status", &pid.to_string()]);
        assert_ne!(status["pid"], pid, "it has a pid of its own");
        servant.ask("steps ab");
        let copy = folder.path().join("copy");
        classhook(&["dump", &pid.to_string(), "--to", &copy.to_string_lossy()]).assert_success();
        let steps = command::hits(&copy, "Servant$Steps");
        assert_eq!(steps, (2, 5), "on {jdk} with {words:?}");
        classhook(&["off", &pid.to_string()]).assert_success();
        assert_eq!(servant.end().code, Some(0));
    }
}
