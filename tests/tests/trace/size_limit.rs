//! Event files with a limit of length: `--max-size` and `--when-full`.

use super::spans::classes;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::patience::await_that;
use e2e_tests::servant::stop_process;
use e2e_tests::{javac, scratch, workspace};
use probes::events::Trace;
use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};

/// Some 15 MB.
const CALLS: u64 = 1_500_000;
const LIMIT: u64 = 8 << 20;

/// Runs `classhook trace` with that many calls of `Spans.step`.
fn traced(jdk: &Jdk, output: &Path, more: &[&str]) -> Run {
    let (output, java) = (text(output), text(&jdk.tool("java")));
    Java::program(workspace::classhook())
        .arguments(&["trace", "-o", &output, "--methods", "Spans.step"])
        .arguments(&["--max-size", "8M"])
        .arguments(more)
        .arguments(&["--", &java, "-cp", &text(classes()), "Spans", "flood"])
        .argument(CALLS.to_string())
        .run()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns the only event file in a folder, which has no other file.
fn event_file(folder: &Path) -> PathBuf {
    let files = javac::files_with_extension(folder, "events");
    let left = javac::files_with_extension(folder, "new");
    assert_eq!((files.len(), left.len()), (1, 0), "{files:?} {left:?}");
    files[0].clone()
}

/// Returns the trace, and the number of dropped calls, on which file and command agree.
fn checked(run: &Run, folder: &Path, side: &str) -> (Trace, u64) {
    let path = event_file(folder);
    let length = std::fs::metadata(&path).expect("the file").len();
    assert!((LIMIT / 4..=LIMIT).contains(&length), "{length}");
    let trace = Trace::read(&path).expect("a readable file");
    let sums: Vec<u64> = trace.aggregates.values().map(|sums| sums.count).collect();
    assert_eq!((sums, trace.complete), (vec![CALLS], true));
    let left_out = CALLS - trace.calls.len() as u64;
    let said = format!("\nleft out: {left_out} calls of the JVM {}", trace.meta.pid);
    let said = format!("{said} that ended {side} ");
    let report = report(folder);
    report.assert_success();
    for run in [run, &report] {
        assert!(run.stdout.contains(&said), "{said}{}", run.report());
        assert!(run.stdout.contains("1,500,000 calls of 1 traced method"));
        assert!(!run.stdout.contains("lost: "), "{}", run.report());
    }
    (trace, left_out)
}

fn report(folder: &Path) -> Run {
    let words = ["report", &text(folder)];
    Java::program(workspace::classhook())
        .arguments(&words)
        .run()
}

#[test]
fn oldest_calls_are_dropped_and_reported_and_streamed_once() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let (output, lines) = (folder.path().join("out"), folder.path().join("lines"));
        let run = traced(&jdk, &output, &["--json-lines", &text(&lines), "--compact"]);
        let (trace, left_out) = checked(&run, &output, "before");
        assert_eq!((trace.lost.oldest, trace.lost.over_size), (left_out, 0));
        let lines = std::fs::read_to_string(&lines).expect("the lines");
        let lines = lines.lines().filter(|line| line.starts_with("{\"c\":["));
        let lines = lines.count() as u64;
        // A command that cannot read every call in time says so.
        match run.status.code() {
            Some(0) => assert_eq!(lines, CALLS, "{jdk}"),
            _ => {
                run.assert_exit(3);
                let told = run.stderr.replace(',', "");
                let dropped = format!("{} calls dropped from the event file", CALLS - lines);
                assert!(told.contains(&dropped), "{}", run.report());
            }
        }
    }
}

#[test]
fn single_calls_stop_and_sums_go_on() {
    let folder = scratch();
    let more = ["--when-full", "stop"];
    let run = traced(&jdks::newest(), folder.path(), &more);
    run.assert_success();
    let (trace, left_out) = checked(&run, folder.path(), "after");
    assert_eq!((trace.lost.oldest, trace.lost.over_size), (0, left_out));
}

#[test]
fn jvm_killed_while_its_file_is_made_shorter_leaves_a_whole_one() {
    let jdk = jdks::newest();
    for _ in 0..4 {
        let folder = scratch();
        let options = format!(
            "plugin=trace,settings={{\"methods\":[\"Spans.step\"]}},max-size=8M,output={}",
            folder.path().display()
        );
        let mut child = Java::new(&jdk)
            .agent(Some(&options))
            .class_path(&[classes()])
            .main("Spans")
            .arguments(&["flood", "2000000000"])
            .spawn();
        let is_compacting = || !javac::files_with_extension(folder.path(), "new").is_empty();
        // A stopped JVM cannot finish its work, so it is killed in the middle of it.
        await_that("a JVM that makes its file shorter", || {
            assert!(child.try_wait().expect("its state").is_none());
            is_compacting() && {
                stop_process(Pid::from_child(&child));
                let caught = is_compacting();
                if !caught {
                    kill_process(Pid::from_child(&child), Signal::CONT).expect("it is there");
                }
                caught
            }
        });
        child.kill().expect("the JVM is there");
        child.wait().expect("an end");
        let files = javac::files_with_extension(folder.path(), "events");
        assert_eq!(files.len(), 1);
        let trace = Trace::read(&files[0]).expect("readable however it was cut");
        assert!(!trace.complete && trace.calls.len() > 100_000);
        assert!(trace.calls.is_sorted_by_key(|call| call.start));
        report(folder.path()).assert_exit(3).assert_stderr("H0615");
    }
}

#[test]
fn impossible_sizes_are_refused_before_the_program_starts() {
    let refused = |words: &[&str], part: &str| {
        let run = Java::program(workspace::classhook())
            .arguments(&["trace", "--methods", "A.b"])
            .arguments(words)
            .arguments(&["--", "java", "-version"])
            .run();
        run.assert_exit(2).assert_stderr(part);
    };
    refused(&["--max-size", "1M"], "at least `8M`");
    refused(&["--max-size", "much"], "`max-size` cannot be `much`");
    refused(&["--when-full", "stop"], "--max-size");
}
