//! The log of patches has one path, regardless of the command that loaded the agent.

use crate::support::command::{LATE, begun};
use crate::support::leftovers::Leftovers;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks;
use e2e_tests::servant::Servant;
use e2e_tests::{javac, scratch, workspace};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::Read;
use std::path::Path;

fn classhook(folder: &Path, servant: &Servant, words: &[&str]) -> Run {
    Java::program(workspace::classhook())
        .folder(folder)
        .argument(words[0])
        .argument(servant.pid().to_string())
        .arguments(&words[1..])
        .run()
}

/// The agent that `watch` loaded records into a temporary folder.
#[test]
fn log_of_a_patch_made_during_a_watch_outlasts_the_watch() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let file = |name: &str| workspace::test_file(&format!("java/patch/{name}.java"));
        let (lazy, later) = (file("Lazy"), file("Later"));
        let options = ["--release", "17"];
        let classes = javac::compile(&jdk, &[&lazy, &later], folder.path(), &options);
        let java = Java::new(&jdk).options(&LATE).class_path(&[classes]);
        let mut servant = Servant::of(&java.main("Lazy"));
        assert_eq!(servant.ask("Later"), "original");
        let pid = servant.pid().to_string();
        let leftovers = Leftovers::before();
        let (mut watch, mut told) = begun(&["watch", &pid, "Later.answer"]);
        let source = folder.path().join("Later.java");
        let text = std::fs::read_to_string(file("Later")).expect("readable");
        std::fs::write(&source, text.replace("original", "patched")).expect("written");
        let source = source.to_string_lossy();
        let run = classhook(folder.path(), &servant, &["patch", "--source", &source]);
        run.assert_success();
        kill_process(Pid::from_child(&watch), Signal::INT).expect("it runs");
        told.read_to_string(&mut String::new()).expect("text");
        watch.wait().expect("an end");
        let list = classhook(folder.path(), &servant, &["patches", "--json"]);
        let list: Value = serde_json::from_str(&list.stdout).expect("JSON");
        let log = list["log"].as_str().expect("a path");
        let expected = folder.path().join("classhook/patches.jsonl");
        assert_eq!(Path::new(log), expected, "{jdk}");
        classhook(folder.path(), &servant, &["rollback"]).assert_success();
        let log = std::fs::read_to_string(log).expect("the log is there");
        assert_eq!(log.lines().count(), 4, "{log}");
        assert_eq!(servant.ask("Later"), "original", "{jdk}");
        assert_eq!(servant.end().code, Some(0));
        leftovers.delete(watch.id());
    }
}
