//! `classhook run` and `classhook coverage` with commands that print their arguments and environment, in place of a JVM.

#[path = "support/command.rs"]
mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use probes::{Failure, Meta, ProbeTable, SnapshotOptions, SnapshotWriter, Summary};
use rustix::process::{Pid, Signal, kill_process};
use support::{Compiled, Hits, Ran, classhook, snapshot};

/// A folder with a file in place of the agent's library.
struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("agent.so"), "").unwrap();
        Self { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = classhook();
        command
            .args(words)
            .env("CLASSHOOK_AGENT", self.path("agent.so"))
            .current_dir(self.root.path());
        command
    }

    fn run(&self, words: &[&str]) -> Ran {
        self.command(words).output().unwrap().into()
    }
}

/// Returns the options of the agent without the random id of the run.
fn without_run(given: &str) -> String {
    let (before, behind) = given.split_once(",run=").expect("the id of the run");
    let id = behind.find('\n').unwrap_or(behind.len());
    format!("{before}{}", &behind[id..])
}

#[test]
fn jvms_below_a_script_get_the_agent() {
    let place = Place::new();
    let mut command = place.command(&[
        "run",
        "--select",
        "a.**",
        "--",
        "sh",
        "-c",
        "printf %s \"$JAVA_TOOL_OPTIONS\"",
    ]);
    let ran: Ran = command
        .env("JAVA_TOOL_OPTIONS", "-Dmine='a b'")
        .output()
        .unwrap()
        .into();
    let root = place.root.path().display();
    let expected =
        format!("-Dmine='a b' -agentpath:{root}/agent.so=output={root}/classhook,select=a.**");
    assert_eq!(without_run(&ran.well().out), expected);
}

#[test]
fn java_gets_the_agent_as_an_argument() {
    let place = Place::new();
    let java = place.path("java");
    fs::write(&java, "#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 5\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&java, mode).unwrap();
    let ran = place.run(&[
        "run",
        "--output",
        "out dir",
        "--",
        java.to_str().unwrap(),
        "-jar",
        "app.jar",
    ]);
    let root = place.root.path().display();
    assert_eq!(
        without_run(&ran.out),
        format!("-agentpath:{root}/agent.so=output={root}/out dir\n-jar\napp.jar\n")
    );
    assert_eq!(ran.code, Some(5));
}

#[test]
fn exit_code_is_that_of_the_child_or_128_plus_the_signal() {
    let place = Place::new();
    assert_eq!(
        place.run(&["run", "--", "sh", "-c", "exit 42"]).code,
        Some(42)
    );
    assert_eq!(
        place.run(&["run", "--", "sh", "-c", "kill -9 $$"]).code,
        Some(137)
    );
}

#[test]
fn signal_is_forwarded_and_the_exit_of_the_child_counts() {
    let place = Place::new();
    let script = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done";
    let mut command = place.command(&["run", "--", "sh", "-c", script]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "ready\n");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let status = child.wait().unwrap();
    assert_eq!((status.code(), status.signal()), (Some(7), None));
}

#[test]
fn time_of_a_visit_is_refused_with_a_command() {
    let place = Place::new();
    for command in ["coverage", "trace", "top", "plugin run trace"] {
        let words = command
            .split(' ')
            .chain(["--for", "1s", "--", "mkdir", "started"]);
        let ran = place.run(&words.collect::<Vec<_>>());
        assert_eq!(ran.code, Some(2), "{command}: {}{}", ran.out, ran.error);
        ran.says(&["--for <DURATION>", "cannot be used with"]);
        assert!(!place.path("started").exists(), "{command}");
    }
}

#[test]
fn mistakes_are_reported_before_a_process_starts() {
    let place = Place::new();
    place
        .run(&["run", "--", "no-such-command"])
        .refused("H0602", &["no-such-command", "help"]);
    place
        .run(&["run", "--config", "missing.toml", "--", "true"])
        .refused("H0102", &["missing.toml"]);
    place
        .run(&["run", "--plugin", "missing", "--", "true"])
        .says(&["missing"]);
    place
        .run(&["coverage", "--sources", "missing", "--", "true"])
        .refused("H0612", &["missing"]);
    fs::write(place.path("taken"), "").unwrap();
    let long = "a".repeat(300);
    for output in ["taken/below", "taken", long.as_str(), "/proc/below"] {
        place
            .run(&["coverage", "--output", output, "--", "mkdir", "started"])
            .refused("H0620", &[output]);
        assert!(!place.path("started").exists(), "{output}");
    }
    fs::create_dir(place.path("folder")).unwrap();
    for file in ["folder", "taken/below.xml", "/proc/below/a.xml"] {
        place
            .run(&["coverage", "--xml", file, "--", "mkdir", "started"])
            .refused("H0620", &[file]);
        place
            .run(&["trace", "--flame-graph", file, "--", "mkdir", "started"])
            .refused("H0620", &[file]);
        assert!(!place.path("started").exists(), "{file}");
    }
    place
        .run(&[
            "coverage",
            "--html",
            "/proc/below/html",
            "--",
            "mkdir",
            "started",
        ])
        .refused("H0620", &["/proc/below/html"]);
    assert!(!place.path("started").exists());
    let missing = place.path("nowhere.so");
    let ran: Ran = place
        .command(&["run", "--", "true"])
        .env("CLASSHOOK_AGENT", &missing)
        .output()
        .unwrap()
        .into();
    ran.refused("H0601", &["nowhere.so", "CLASSHOOK_AGENT"]);
}

#[test]
fn help_has_examples() {
    for words in [
        &["--help"][..],
        &["run", "--help"],
        &["coverage", "--help"],
        &["report", "--help"],
    ] {
        let ran = Place::new().run(words).well();
        assert!(
            ran.out.contains("Examples:") && ran.out.contains("classhook "),
            "{}",
            ran.out
        );
    }
    assert!(
        Place::new()
            .run(&["--version"])
            .well()
            .out
            .starts_with("classhook 0.")
    );
    assert_eq!(Place::new().run(&["frobnicate"]).code, Some(2));
}

/// Variable of a process in place of a JVM: a folder with classes, and the way it ends.
const JVM: &str = "CLASSHOOK_TEST_JVM";

/// Not a test of its own: records like a JVM with `JAVA_TOOL_OPTIONS`.
#[test]
fn jvm() {
    let Some(classes) = std::env::var_os(JVM) else {
        return;
    };
    let options = std::env::var("JAVA_TOOL_OPTIONS").unwrap();
    let options = options.split_once(".so=").unwrap().1.to_owned();
    let option = |key: &str| {
        let value = options
            .split(',')
            .find_map(|option| option.strip_prefix(key)?.strip_prefix('='));
        value.unwrap_or_default().to_owned()
    };
    let meta = Meta {
        run: option("run"),
        pid: std::process::id(),
        ..Meta::default()
    };
    let output = PathBuf::from(option("output"));
    let class = fs::read(Path::new(&classes).join("bank/Account.class")).unwrap();
    let fails = std::env::args().any(|word| word == "failing");
    if fails {
        fs::create_dir_all(&output).unwrap();
        let mut writer = SnapshotWriter::create(&output, meta, SnapshotOptions::default()).unwrap();
        writer.failure(&Failure {
            class: "bank/Bad".into(),
            code: "H0311".into(),
            ..Failure::default()
        });
        writer
            .complete(&ProbeTable::new(), &Summary::default())
            .unwrap();
    } else {
        snapshot(&output, meta, true, &[(&class, Hits::All)]);
    }
}

/// `coverage` around a shell script in which `$JVM` starts a process that records.
fn coverage(place: &Place, words: &[&str], script: &str) -> Ran {
    let bank = Compiled::new(&[(
        "bank/Account.java",
        "package bank; class Account { int x = 1; }",
    )]);
    let test = std::env::current_exe().unwrap();
    let script = format!(
        "jvm() {{ '{}' --exact jvm \"$@\" >/dev/null; }}\n{script}",
        test.display()
    );
    let words = [&["coverage"], words, &["--", "sh", "-c", &script]].concat();
    place
        .command(&words)
        .env(JVM, bank.path("classes"))
        .output()
        .unwrap()
        .into()
}

#[test]
fn coverage_reports_all_jvms_of_this_run_and_no_other() {
    let place = Place::new();
    let other = Compiled::new(&[("old/Old.java", "package old; class Old {}")]);
    snapshot(
        &place.path("classhook"),
        Meta::default(),
        true,
        &[(&other.class("old/Old"), Hits::All)],
    );
    let ran = coverage(&place, &["--xml", "c.xml"], "jvm; jvm");
    assert_eq!((ran.code, ran.error.as_str()), (Some(0), ""));
    let xml = fs::read_to_string(place.path("c.xml")).unwrap();
    assert!(
        xml.contains("bank/Account") && !xml.contains("old/Old"),
        "{xml}"
    );
    assert_eq!(xml.matches("<sessioninfo ").count(), 2, "{xml}");
    assert!(ran.out.contains("bank"), "{}", ran.out);
    assert!(
        !place.path("classhook/html").exists(),
        "another report was asked for"
    );
}

#[test]
fn coverage_writes_html_by_default() {
    let place = Place::new();
    let ran = coverage(&place, &["--output", "out"], "jvm");
    assert!(
        place.path("out/html/index.html").is_file(),
        "{}{}",
        ran.out,
        ran.error
    );
}

#[test]
fn coverage_exits_like_the_command() {
    let place = Place::new();
    let ran = coverage(&place, &[], "jvm; exit 9");
    assert_eq!(ran.code, Some(9));
    assert!(
        place.path("classhook/html/index.html").is_file(),
        "a failing test run is reported as well"
    );
}

#[test]
fn run_in_which_a_class_failed_names_it_and_ends_with_3() {
    let ran = coverage(&Place::new(), &[], "jvm; jvm failing");
    assert_eq!(ran.code, Some(3), "{}", ran.error);
    ran.says(&["warning[H0625]: bank/Bad"]);
    let named = "incomplete: the class bank.Bad, which is not measured: ";
    assert!(ran.out.contains(named), "{}", ran.out);

    let others = ["--select", "bank.*;!bank.Bad"];
    let ran = coverage(&Place::new(), &others, "jvm; jvm failing");
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    let strict = [&others[..], &["--on-error", "strict"]].concat();
    let ran = coverage(&Place::new(), &strict, "jvm; jvm failing");
    assert_eq!(ran.code, Some(3), "{}", ran.error);
}

#[test]
fn run_without_a_recording_fails_with_a_message() {
    coverage(&Place::new(), &[], "true").refused("H0610", &["nothing was recorded", "daemon"]);
    let ran = coverage(&Place::new(), &[], "exit 9");
    assert_eq!(ran.code, Some(9));
    ran.says(&["error[H0610]"]);
}

#[test]
fn recording_of_a_build_survives_its_clean_and_is_removed_by_the_next_one() {
    let place = Place::new();
    let bank = support::bank();
    let test = std::env::current_exe().unwrap();
    let script = format!(
        "#!/bin/sh\n'{}' --exact jvm >/dev/null\nrm -rf target build\n",
        test.display()
    );
    for (tool, folder) in [("mvn", "target"), ("gradlew", "build")] {
        executable(&place.path(tool), &script);
        let program = place.path(tool);
        let words = ["coverage", "--", program.to_str().unwrap()];
        let mut command = place.command(&words);
        let ran: Ran = command
            .env(JVM, bank.path("classes"))
            .output()
            .unwrap()
            .into();
        assert_eq!(ran.code, Some(0), "{}", ran.error);
        let output = place.path(folder).join("classhook");
        assert!(output.join("html/index.html").is_file(), "{}", ran.error);
        let files = fs::read_dir(&output).unwrap().flatten();
        let is_snapshot = |path: &Path| path.extension().is_some_and(|it| it == "hook");
        assert_eq!(files.filter(|it| is_snapshot(&it.path())).count(), 1);
    }
    let mut left: Vec<_> = fs::read_dir(place.path("")).unwrap().flatten().collect();
    left.retain(|entry| entry.file_name().to_string_lossy().contains("classhook"));
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn created_folder_is_ignored_by_git() {
    let place = Place::new();
    coverage(&place, &[], "jvm");
    let ignored = place.path("classhook/.gitignore");
    assert_eq!(fs::read_to_string(&ignored).unwrap(), "*\n");
    fs::remove_file(&ignored).unwrap();
    coverage(&place, &[], "jvm");
    coverage(&place, &["--output", "out"], "jvm");
    assert!(!ignored.exists(), "the folder was there");
    assert!(!place.path("out/.gitignore").exists(), "it was named");
}

fn executable(path: &Path, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
