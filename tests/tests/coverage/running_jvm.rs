//! `classhook coverage PID`: a running JVM is measured for a while, and is unchanged afterwards.

use crate::support::command;
use crate::support::command::{LATE, assert_no_agent, attach, begun, classhook, json};
use e2e_tests::java::Java;
use e2e_tests::jdks;
use e2e_tests::scratch;
use e2e_tests::servant::{self, Servant};
use e2e_tests::workspace::{agent_library, classhook as program};
use jacoco_files::XmlReport;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStderr};

const STEPS: &str = "bodies Servant$Steps";

/// `classhook coverage PID`, until it is interrupted.
struct Measuring {
    child: Child,
    told: BufReader<ChildStderr>,
}

impl Measuring {
    /// Starts it, and returns when the JVM is being measured.
    fn begin(servant: &Servant, folder: &Path, more: &[&str]) -> Self {
        let (pid, output) = (servant.pid().to_string(), folder.to_string_lossy());
        let words = [
            "coverage", &pid, "--output", &output, "--select", "Servant*",
        ];
        let (child, told) = begun(&[&words[..], more].concat());
        Self { child, told }
    }

    /// Interrupts it as a terminal does, and returns its output.
    fn end(self) -> String {
        kill_process(Pid::from_child(&self.child), Signal::INT).expect("it is there");
        self.out(0)
    }

    /// Waits for its own end, with this exit code, and returns its output.
    fn out(mut self, code: i32) -> String {
        let mut errors = String::new();
        self.told.read_to_string(&mut errors).expect("text");
        let output = self.child.wait_with_output().expect("an end");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(code), "{text}\n{errors}");
        text
    }
}

#[test]
fn running_jvm_is_measured_until_ctrl_c_and_unchanged_afterwards() {
    for jdk in jdks::all() {
        let folder = scratch();
        let mut servant = Servant::watching(jdk, &LATE);
        servant.ask("steps d");
        let before = servant.ask(STEPS);
        let xml = folder.path().join("c.xml");
        let measuring =
            Measuring::begin(&servant, folder.path(), &["--xml", &xml.to_string_lossy()]);
        servant.ask("steps ab");
        assert_ne!(servant.ask(STEPS), before);
        let out = measuring.end();
        assert_eq!(servant.ask(STEPS), before, "{jdk}");
        assert!(out.contains("Servant$Steps"), "{out}");
        let pid = servant.pid().to_string();
        assert_no_agent(&pid);
        assert_eq!(servant.end().code, Some(0));
        let report = std::fs::read_to_string(&xml).expect("the report");
        let covered = |method: &str| {
            let part = report.split("<class name=\"Servant$Steps\"").nth(1);
            let part =
                part.and_then(|part| part.split(&format!("<method name=\"{method}\"")).nth(1));
            part.and_then(|part| part.split("</method>").next())
                .is_some_and(|method| method.contains("type=\"METHOD\" missed=\"0\""))
        };
        assert_eq!(
            ["a", "b", "c", "d"].map(covered),
            [true, true, false, false],
            "{jdk}"
        );
    }
}

/// A running JVM and one that is measured from its start give the same report.
#[test]
fn report_equals_that_of_a_jvm_measured_from_its_start() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let classes = servant::classes().to_string_lossy().into_owned();
        let started = Java::program(program())
            .variable("CLASSHOOK_AGENT", agent_library())
            .arguments(&[
                "coverage",
                "--output",
                &path("one"),
                "--select",
                "Servant$Steps",
                "--classes",
                &classes,
                "--xml",
                &path("one.xml"),
                "--",
            ])
            .argument(jdk.tool("java"))
            .arguments(&["-cp", &classes, "Servant"]);
        let mut servant = Servant::of(&started);
        servant.ask("steps ac");
        assert_eq!(servant.end().code, Some(0));

        let mut servant = Servant::start(&jdk, &LATE);
        servant.ask("steps d");
        let more = [
            "--xml",
            &path("two.xml"),
            "--classes",
            &classes,
            "--select",
            "!Servant",
            "--select",
            "!Servant$B*",
            "--select",
            "!Servant$1",
        ];
        let measuring = Measuring::begin(&servant, &folder.path().join("two"), &more);
        servant.ask("steps ac");
        measuring.end();
        assert_eq!(servant.end().code, Some(0));
        let [one, two] =
            ["one.xml", "two.xml"].map(|name| XmlReport::read(&folder.path().join(name)));
        assert_eq!(one, two, "{jdk}");
    }
}

#[test]
fn measurement_with_a_duration_ends_by_itself() {
    let folder = scratch();
    let servant = Servant::start(&jdks::newest(), &LATE);
    let pid = servant.pid().to_string();
    let words = [
        "coverage", &pid, "--for", "300ms", "--select", "Servant*", "--output",
    ];
    let run = classhook(&[&words[..], &[&folder.path().to_string_lossy()]].concat());
    run.assert_success();
    assert!(
        folder.path().join("html/index.html").is_file(),
        "{}",
        run.report()
    );
    classhook(&["coverage", &pid, "--for", "soon"]).assert_exit(2);
    classhook(&["coverage", "--for", "1s", "--", "true"]).assert_exit(2);
    classhook(&["coverage", &pid, "--", "true"]).assert_exit(2);
    classhook(&["coverage"]).assert_exit(2);
    assert_eq!(servant.end().code, Some(0));
}

#[test]
fn jvm_that_ends_or_is_killed_meanwhile_is_reported_up_to_its_end() {
    for killed in [false, true] {
        let folder = scratch();
        let mut servant = Servant::start(&jdks::newest(), &LATE);
        servant.ask("steps a");
        let measuring = Measuring::begin(&servant, folder.path(), &[]);
        servant.ask("steps b");
        if killed {
            let pid = servant.pid().to_string();
            classhook(&["dump", &pid]).assert_success();
            servant.kill();
        } else {
            assert_eq!(servant.end().code, Some(0));
        }
        // Hits after the last write are missing if the JVM was killed.
        let out = measuring.out(if killed { 3 } else { 0 });
        assert!(out.contains("Servant$Steps"), "{out}");
    }
}

/// An agent with another task continues it.
#[test]
fn agent_of_another_command_measures_besides_its_own_work() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let mut servant = Servant::watching(&jdk, &LATE);
        servant.ask("steps d");
        let before = servant.ask(STEPS);
        let own = folder.path().join("own");
        attach(&servant, &own, &[]).assert_success();
        let pid = servant.pid().to_string();
        servant.ask("steps d");
        classhook(&["coverage", &pid, "--for", "1s"])
            .assert_exit(2)
            .assert_stderr("H0609")
            .assert_stderr("classhook dump");
        classhook(&["disable", &pid, "coverage"]).assert_success();
        for (letters, covered) in [("ab", 2), ("c", 1)] {
            let output = folder.path().join(letters);
            let measuring = Measuring::begin(&servant, &output, &[]);
            servant.ask(&format!("steps {letters}"));
            measuring.end();
            let copies = e2e_tests::javac::files_with_extension(&output, "hook");
            assert_eq!(
                command::hits(&copies[0], "Servant$Steps").0,
                covered,
                "{jdk}"
            );
            assert_eq!(servant.ask(STEPS), before, "{jdk}");
        }
        let status = json(&["status", &pid]);
        assert_eq!(status["plugins"][0]["state"], "off");
        classhook(&["coverage", &pid, "--for", "1s", "--log", "info"])
            .assert_exit(2)
            .assert_stderr("H0608");
        assert_eq!(servant.end().code, Some(0));
    }
}
