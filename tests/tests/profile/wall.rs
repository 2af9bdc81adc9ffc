//! Wall-clock samples of threads: each state, and more threads than one sample takes.

use crate::support::command::{LATE, assert_no_agent, begun, classhook};
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::patience::await_that;
use e2e_tests::servant::Servant;
use e2e_tests::{javac, scratch, workspace};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Starts a program whose threads have reached their states, with a crowd of parked threads besides.
fn started(jdk: &Jdk, folder: &Path, crowd: u32) -> Servant {
    let compiler = jdks::release(17).unwrap_or_else(jdks::newest);
    let source = workspace::test_file("java/profile/States.java");
    let classes = javac::compile(&compiler, &[&source], folder, &["--release", "8"]);
    let late: &[&str] = if jdk.feature == 8 { &[] } else { &LATE };
    let java = Java::new(jdk).options(late).class_path(&[&classes]);
    Servant::of(&java.main("States").argument(crowd.to_string()))
}

/// Records a running program until this number of samples. Returns standard output, and the rows.
fn recorded(pid: i32, folder: &Path, looks: u64) -> (String, Vec<Value>) {
    let kept = folder.join("kept");
    let file = folder.join("rows.jsonl");
    let folded = folder.join("folded");
    let pid = pid.to_string();
    let texts = [&kept, &file, &folded].map(|path| path.to_string_lossy());
    let [output, rows, stacks] = texts.each_ref().map(AsRef::as_ref);
    let words = ["profile", &pid, "--wall", "-o", output];
    let files = ["--json-lines", rows, "--folded", stacks];
    let (mut command, _told) = begun(&[&words[..], &files].concat());
    await_that("so many looks", || {
        let files = javac::files_with_extension(&kept, "jvm-events");
        let text = files.first().and_then(|file| std::fs::read(file).ok());
        let found = text.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
        found.is_some_and(|found| found["wall_looks"]["count"].as_u64() >= Some(looks))
    });
    kill_process(Pid::from_child(&command), Signal::INT).expect("it runs");
    assert!(command.wait().expect("an end").success());
    assert_no_agent(&pid);
    let again = javac::files_with_extension(&kept, "jvm-events");
    let shown = classhook(&["profile", &again[0].to_string_lossy()]);
    shown.assert_success();
    let text = std::fs::read_to_string(&file).expect("the file");
    let row = |line| serde_json::from_str(line).expect("a JSON object");
    (shown.stdout, text.lines().map(row).collect())
}

/// Returns the sum of a number over the samples of a thread, of one state if given.
fn sum(rows: &[Value], thread: &str, state: Option<&str>, key: &str) -> u64 {
    let there = rows.iter().filter(|row| {
        let is_its = row["kind"] == "wall" && row["thread"] == thread;
        is_its && state.is_none_or(|state| row["state"] == state)
    });
    there.map(|row| row[key].as_u64().expect("a number")).sum()
}

#[test]
fn samples_have_the_states_of_the_threads() {
    let jdks = jdks::main_three().into_iter().chain(jdks::eight());
    for jdk in jdks.chain(jdks::release(11)) {
        let folder = scratch();
        let program = started(&jdk, folder.path(), 0);
        let (told, rows) = recorded(program.pid(), folder.path(), 20);
        for (thread, state, title, method) in [
            ("sleeper", "sleeping", "sleeping", "States.sleep("),
            ("parker", "parked", "parked", "States.park("),
            ("waiter", "waiting", "in Object.wait", "States.waitForIt("),
            (
                "blocked",
                "monitor",
                "waiting for a monitor",
                "States.enter(",
            ),
            ("runner", "running", "running", "States.spin("),
            (
                "acceptor",
                "native",
                "in native code or I/O",
                "ServerSocket",
            ),
        ] {
            let all = sum(&rows, thread, None, "samples");
            let found = sum(&rows, thread, Some(state), "samples");
            assert!(all > 0, "{thread} on {jdk}: {rows:?}");
            assert_eq!(found, all, "{thread} on {jdk}: {rows:?}");
            let its = rows.iter().filter(|row| row["thread"] == thread);
            for row in its {
                let stack = row["stack"].to_string();
                assert!(stack.contains(method), "{row} on {jdk}");
            }
            assert!(told.contains(title), "{title} on {jdk}: {told}");
        }
        let recording = rows.last().expect("a row");
        let looks = &recording["wall_looks"];
        let number = |value: &Value| value.as_u64().expect("a number");
        // If a sample takes all threads, each permanent thread has the same time, rounded at each sample.
        if looks["taken"] == looks["threads"] {
            let time = |thread| sum(&rows, thread, None, "wall_ns");
            let (least, most) = (time("sleeper"), time("runner"));
            assert!(
                least.abs_diff(most) <= number(&looks["count"]),
                "{least} and {most} on {jdk}: {looks}"
            );
            assert!(most <= number(&recording["duration_ns"]), "{recording}");
        }
        let says_of_virtual = told.contains("virtual threads are seen while carriers run them");
        assert_eq!(says_of_virtual, jdk.feature >= 21, "{jdk}: {told}");
        let folded = std::fs::read_to_string(folder.path().join("folded")).expect("the file");
        let asleep = folded.lines().find(|line| line.contains("States.sleep"));
        let asleep = asleep.unwrap_or_else(|| panic!("{folded}"));
        assert!(asleep.starts_with("[sleeping];"), "{asleep}");
        assert_eq!(program.end().code, Some(0));
    }
}

/// If there are more threads than a sample takes, each is sampled as often as the others.
#[test]
fn each_thread_of_a_crowd_is_seen_as_often_as_the_others() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let program = started(&jdk, folder.path(), 300);
        let (told, rows) = recorded(program.pid(), folder.path(), 60);
        let mut samples: BTreeMap<&str, u64> = BTreeMap::new();
        for row in rows.iter().filter(|row| row["kind"] == "wall") {
            let thread = row["thread"].as_str().expect("a name");
            assert!(
                !thread.starts_with("crowd-") || row["state"] == "parked",
                "{row}"
            );
            *samples.entry(thread).or_default() += row["samples"].as_u64().expect("a number");
        }
        let crowd = samples
            .iter()
            .filter(|(name, _)| name.starts_with("crowd-"));
        let counts: Vec<u64> = crowd.map(|(_, count)| *count).collect();
        assert_eq!(counts.len(), 300, "{jdk}: {samples:?}");
        let range = (counts.iter().min(), counts.iter().max());
        let (Some(least), Some(most)) = range else {
            panic!("{samples:?}");
        };
        // One more or less at the end, and one if a thread of the JVM comes or goes.
        assert!(most - least <= 2, "{jdk}: {samples:?}");
        assert!(samples["runner"].abs_diff(*most) <= 2, "{jdk}: {samples:?}");
        assert!(
            told.contains("threads at most, in turn; these stand for the time of all"),
            "{told}"
        );
        assert_eq!(program.end().code, Some(0));
    }
}
