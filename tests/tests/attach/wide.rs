//! A change of some thousand classes of a running JVM: it is shown, the agent answers meanwhile, and Ctrl-C stops it.

use crate::support::command::{LATE, classhook, socket};
use crate::support::traced::trace_of;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::scratch;
use e2e_tests::servant::Servant;
use e2e_tests::workspace;
use probes::events::{Call, Outcome};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Child;

/// Number of selected classes.
const CLASSES: u64 = 4_001;
/// The method that many threads call meanwhile.
const BUSY: &str = "Servant$Steps.d";
/// Some of the classes, from all over the range.
const SOME: [&str; 5] = ["Wide0000", "Wide0001", "Wide1500", "Wide3000", "Wide4000"];

/// Starts a JVM with these classes.
fn wide(jdk: &Jdk) -> Servant {
    let mut servant = Servant::watching(jdk, &LATE);
    assert_eq!(servant.ask("widen 4000"), "4000 copies");
    servant
}

/// Returns the bytecode of each method of some of the classes, as the JVM runs it.
fn bodies(servant: &mut Servant) -> BTreeMap<&'static str, Vec<String>> {
    let body = |class| {
        let answer = servant.ask(&format!("bodies {class}"));
        (class, answer.split(';').map(str::to_owned).collect())
    };
    SOME.map(body).into()
}

/// Returns the first method that differs, if any.
fn difference(servant: &mut Servant, before: &BTreeMap<&str, Vec<String>>) -> Option<String> {
    let after = bodies(servant);
    before.iter().find_map(|(class, methods)| {
        let mut pairs = methods.iter().zip(&after[class]);
        let (was, is) = pairs.find(|(was, is)| was != is)?;
        Some(format!("{class}: {was} became {is}"))
    })
}

#[test]
fn json_list_of_classes_is_whole_or_says_what_is_missing() {
    for jdk in jdks::main_two() {
        let servant = wide(&jdk);
        let folder = scratch();
        let pid = servant.pid().to_string();
        let output = folder.path().to_string_lossy().into_owned();
        let words = ["attach", &pid, "-o", &output, "--plugin", "coverage"];
        let words = [&words[..], &["--select", "Wide*"]].concat();
        classhook(&words).assert_success();
        let listed = |words: &[&str]| {
            let run = classhook(&[&["classes", &pid, "--json"], words].concat());
            run.assert_success();
            let answer: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
            let names = answer["classes"].as_array().expect("a list").iter();
            let mut names: Vec<String> = names.map(|class| class["name"].to_string()).collect();
            let count = names.len() as u64;
            names.dedup();
            assert_eq!(names.len() as u64, count, "{jdk}: a class is there twice");
            (
                count,
                answer["total"].as_u64().expect("a number"),
                run.stderr,
            )
        };
        for words in [
            &["Wide*", "--changed"][..],
            &["Wide*", "--changed", "--methods", "--source"],
        ] {
            let all = listed(words);
            assert_eq!(all, (CLASSES, CLASSES, String::new()), "{jdk}: {words:?}");
        }
        let (count, total, told) = listed(&["Wide*", "--limit", "7", "--skip", "2"]);
        assert_eq!((count, total), (7, CLASSES), "{jdk}");
        let expected = "classhook: 7 of 4,001 classes; --skip 9 shows the next\n";
        assert_eq!(told, expected, "{jdk}");
        let text = classhook(&["classes", &pid, "Wide*"]);
        let last = text.stdout.lines().last();
        let expected = "1000 of 4,001 classes; --skip 1000 shows the next";
        assert_eq!(last, Some(expected), "{jdk}");
        servant.end();
    }
}

fn visiting(servant: &Servant, words: &[&str], output: &Path) -> Java {
    let pid = servant.pid().to_string();
    Java::program(workspace::classhook())
        .variable("CLASSHOOK_AGENT", workspace::agent_library())
        .arguments(&[words[0], &pid, "-o", &output.to_string_lossy()])
        .arguments(&words[1..])
}

/// Polls the agent until its answer shows that classes are being instrumented. Returns the number of finished ones.
fn seen_under_way(servant: &Servant, visit: &mut Child, classes: u64) -> u64 {
    let pid = servant.pid();
    let uid = rustix::process::geteuid().as_raw();
    let mut goes_on = || {
        let ended = visit.try_wait().expect("its state");
        assert!(ended.is_none(), "{ended:?}");
        std::thread::yield_now();
    };
    let mut channel = loop {
        goes_on();
        if let Ok(channel) = control::Client::connect(&socket(pid), control::Peer { pid, uid }) {
            break channel;
        }
    };
    loop {
        goes_on();
        let status = channel.ask(&control::Request::Status).expect("an answer");
        let number = |name: &str| status["progress"][name].as_u64().unwrap_or(0);
        let (done, total) = (number("done"), number("total"));
        let changed = status["plugins"][0]["changed"].as_u64().unwrap_or(0);
        assert!(
            changed < classes,
            "all was done before it was asked: {status}"
        );
        if done > 0 && done < total {
            assert_eq!(total, classes, "{status}");
            return done;
        }
    }
}

/// Returns the output of a command that is interrupted during the change, as a terminal does.
fn interrupted(servant: &Servant, java: &Java, classes: u64) -> Run {
    let mut visit = java.spawn();
    seen_under_way(servant, &mut visit, classes);
    kill_process(Pid::from_child(&visit), Signal::INT).expect("it runs");
    let pid = visit.id();
    let output = visit.wait_with_output().expect("an end");
    Run {
        command: "interrupted".to_owned(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        status: output.status,
        pid,
    }
}

/// Returns the number in front of this text.
fn number_before(text: &str, what: &str) -> u64 {
    let before = text.split(what).next().unwrap_or_default();
    let number = before.split_whitespace().next_back().unwrap_or_default();
    number
        .replace(',', "")
        .parse()
        .unwrap_or_else(|_| panic!("{what} in {text}"))
}

/// Asserts that the calls made during the change are complete.
#[track_caller]
fn assert_whole(folder: &Path) {
    let trace = trace_of(folder);
    assert!(trace.lost.is_none(), "{:?}", trace.lost);
    let busy = trace.spans.values().find(|span| span.method == "d");
    let sum = &trace.aggregates[&busy.expect("it was traced").id];
    let ended = |call: &&Call| call.outcome != Outcome::Open;
    let calls = trace.calls.iter().filter(ended).count() as u64;
    assert!(calls > 0, "nobody called it");
    assert_eq!(calls, sum.count);
}

#[test]
fn agent_answers_while_it_instruments_and_stops_between_two_batches() {
    for jdk in jdks::main_two() {
        let busy = ["trace", "--methods", "Wide*.*", "--methods", BUSY];
        for (words, classes) in [
            (&busy[..], CLASSES + 1),
            (&["coverage", "--select", "Wide*"], CLASSES),
        ] {
            let folder = scratch();
            let mut servant = wide(&jdk);
            assert_eq!(servant.ask("crowd 64"), "64 threads");
            let before = bodies(&mut servant);
            let visit = visiting(&servant, words, folder.path());
            let run = interrupted(&servant, &visit, classes);
            let about = format!("{words:?} on {jdk}: {}", run.report());
            assert_eq!(run.status.code(), Some(130), "{about}");
            let said = run.stderr.replace(',', "");
            assert!(said.contains("error[H0645]"), "{about}");
            let changed = number_before(&said, " classes had been changed");
            assert!((1..classes).contains(&changed), "{about}");
            if words[0] == "trace" {
                assert_whole(folder.path());
            }
            assert_eq!(difference(&mut servant, &before), None, "{about}");
            let pid = servant.pid().to_string();
            classhook(&["status", &pid]).assert_stderr("H0701");
            assert_eq!(servant.ask("steps a"), "sum 1");
            let left = servant.end();
            assert_eq!(left.code, Some(0), "{about}");
            assert!(!left.stderr.contains("classhook: error"), "{}", left.stderr);
        }
    }
}

#[test]
fn progress_is_on_the_terminal() {
    let folder = scratch();
    let mut servant = wide(&jdks::newest());
    let before = bodies(&mut servant);
    let words = format!(
        "'{}' trace {} --methods 'Wide*.*' -o '{}' --for 100ms",
        workspace::classhook().display(),
        servant.pid(),
        folder.path().display()
    );
    let run = Java::program("/usr/bin/script".into())
        .variable("CLASSHOOK_AGENT", workspace::agent_library())
        .variable("TERM", "xterm")
        .arguments(&["-qec", &words, "/dev/null"])
        .run();
    run.assert_success();
    assert!(run.stdout.contains("of 4001 classes"), "{}", run.report());
    assert!(run.stdout.contains("Ctrl-C stops"), "{}", run.report());
    assert_eq!(difference(&mut servant, &before), None);
    assert_eq!(servant.end().code, Some(0));
}
