//! The plugin `patch` in real JVMs: each kind of rule, from the start and in a JVM that runs, and off again.

use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, scratch, workspace};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout};

const OWN: &str = "1; own; returned 1; java.lang.IllegalStateException: own; hits 0; waited false; sometimes false";
const FAULTY: &str = "42; another; java.lang.UnsupportedOperationException: injected; returned 0; hits 1; waited true; sometimes true";

fn start(
    jdk: &Jdk,
    folder: &Path,
    options: impl Fn(Java) -> Java,
) -> (Child, BufReader<ChildStdout>) {
    let source = workspace::test_file("java/patch/Faulty.java");
    let classes = javac::compile(jdk, &[&source], folder, &["--release", "17"]);
    let java = Java::new(jdk).options(&["-Xverify:all", "-XX:+EnableDynamicAgentLoading"]);
    let mut child = options(java)
        .class_path(&[&classes])
        .folder(folder)
        .main("Faulty")
        .spawn();
    let out = BufReader::new(child.stdout.take().expect("a pipe"));
    (child, out)
}

/// Reads until the program prints this line; what a rule does comes at once or, while it is retransformed, in parts.
#[track_caller]
fn await_line(out: &mut BufReader<ChildStdout>, wanted: &str) {
    loop {
        let mut line = String::new();
        let read = out.read_line(&mut line).expect("output");
        assert!(read > 0, "the program ended before it printed {wanted}");
        if line.trim_end() == wanted {
            return;
        }
    }
}

#[track_caller]
fn classhook(child: &Child, folder: &Path, command: &str, arguments: &[&str]) {
    let run = Java::program(workspace::classhook())
        .folder(folder)
        .argument(command)
        .argument(child.id().to_string())
        .arguments(arguments)
        .run();
    run.assert_success();
}

#[test]
fn rules_take_effect_in_real_programs_and_can_be_turned_off() {
    let rules = workspace::test_file("java/patch/faults.toml");
    let rules = rules.to_str().expect("text");
    for jdk in jdks::full()
        .into_iter()
        .filter(|jdk| [17, 25].contains(&jdk.feature))
    {
        let folder = scratch();
        let (mut child, mut out) = start(&jdk, folder.path(), |java| {
            java.agent(Some(&format!("config={rules},output=classhook")))
        });
        await_line(&mut out, FAULTY);
        classhook(&child, folder.path(), "disable", &["patch"]);
        await_line(&mut out, OWN);
        classhook(&child, folder.path(), "enable", &["patch"]);
        await_line(&mut out, FAULTY);
        classhook(&child, folder.path(), "off", &[]);
        await_line(&mut out, OWN);
        child.kill().expect("killed");
        let mut errors = String::new();
        let mut pipe = child.stderr.take().expect("a pipe");
        pipe.read_to_string(&mut errors).expect("text");
        child.wait().expect("an end");
        assert!(errors.contains("logged by a rule"), "{errors}");
    }
}

#[test]
fn rules_come_into_a_running_jvm_and_leave_it() {
    let rules = workspace::test_file("java/patch/faults.toml");
    let rules = rules.to_str().expect("text");
    for jdk in jdks::full()
        .into_iter()
        .filter(|jdk| [17, 25].contains(&jdk.feature))
    {
        let folder = scratch();
        let (mut child, mut out) = start(&jdk, folder.path(), |java| java);
        await_line(&mut out, OWN);
        classhook(&child, folder.path(), "attach", &["--config", rules]);
        await_line(&mut out, FAULTY);
        classhook(&child, folder.path(), "off", &[]);
        await_line(&mut out, OWN);
        child.kill().expect("killed");
        child.wait().expect("an end");
    }
}
