//! `classhook plugin run --watch`: a plugin that changes while a program runs.

use crate::support::command::{LATE, assert_no_agent};
use e2e_tests::java::Java;
use e2e_tests::servant::{self, Servant};
use e2e_tests::workspace::{classhook, path_with_compilers};
use e2e_tests::{jdks, scratch};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr};

/// Creates a project `mine` in C, which compiles fast.
fn project(folder: &Path) -> PathBuf {
    command(folder)
        .arguments(&["new", "--lang", "c", "mine"])
        .run()
        .assert_success();
    folder.join("mine/src/plugin.c")
}

fn command(folder: &Path) -> Java {
    let program = Java::program(classhook()).folder(folder);
    program
        .variable("PATH", path_with_compilers())
        .argument("plugin")
}

/// A command and its output so far.
struct RunningCommand {
    child: Child,
    lines: BufReader<ChildStderr>,
}

impl RunningCommand {
    fn start(java: &Java) -> Self {
        let mut child = java.spawn_talking();
        let lines = BufReader::new(child.stderr.take().expect("a pipe"));
        Self { child, lines }
    }

    /// Reads lines up to the one with this text.
    #[track_caller]
    fn until(&mut self, text: &str) -> String {
        let mut said = String::new();
        while self.lines.read_line(&mut said).expect("text") > 0 {
            if said.lines().last().is_some_and(|line| line.contains(text)) {
                return said;
            }
        }
        panic!("expected {text}, found\n{said}");
    }

    /// Waits for the end, and returns output and exit code.
    fn end(mut self) -> (String, Option<i32>) {
        let mut output = String::new();
        let mut stdout = self.child.stdout.take().expect("a pipe");
        stdout.read_to_string(&mut output).expect("text");
        std::io::copy(&mut self.lines, &mut std::io::sink()).expect("the rest");
        (output, self.child.wait().expect("an end").code())
    }
}

/// Changes the name of the column in the plugin's table.
fn change(source: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(source).expect("the plugin");
    assert!(text.contains(from), "{text}");
    std::fs::write(source, text.replace(from, to)).expect("written");
}

const SETTINGS: &str = "{\"classes\": [\"Servant\"]}";

#[test]
fn plugin_is_reloaded_in_a_running_jvm_and_a_wrong_version_leaves_the_former() {
    let folder = scratch();
    let folder = folder.path();
    let source = project(folder);
    let mut servant = Servant::of(&servant::java(&jdks::newest(), &LATE));
    let pid = servant.pid().to_string();
    let words = [
        "run",
        "mine",
        "--watch",
        &pid,
        "--output",
        "out",
        "--plugin-settings",
        SETTINGS,
    ];
    let mut watching = RunningCommand::start(&command(folder).arguments(&words));
    watching.until("visiting");
    assert!(servant.ask("steps a").starts_with("sum "));
    change(&source, "\"calls\"", "calls\"");
    let said = watching.until("`mine` stays as it is");
    assert!(
        said.contains("plugin.c:") && said.contains("error[H0684]"),
        "{said}"
    );
    watching.until("visiting");
    change(&source, "calls\"", "\"others\"");
    let said = watching.until("`mine` is reloaded in");
    assert!(
        said.contains(&format!("in {pid}: 1 class retransformed")),
        "{said}"
    );
    watching.until("visiting");
    assert!(servant.ask("steps a").starts_with("sum "));
    kill_process(Pid::from_child(&watching.child), Signal::INT).expect("it runs");
    let (output, code) = watching.end();
    assert_eq!(code, Some(0), "{output}");
    assert!(output.starts_with("mine: others\n"), "{output}");
    assert_no_agent(&pid);
    servant.end();
}

#[test]
fn plugin_is_reloaded_in_the_jvm_of_a_command_and_files_that_stay_are_refused() {
    let folder = scratch();
    let folder = folder.path();
    let source = project(folder);
    // The first version fails on each class; the exit code is that of the last version.
    change(&source, "\"calls\"", "\"no name\"");
    command(folder)
        .arguments(&["build", "mine"])
        .run()
        .assert_success();
    std::fs::copy(
        folder.join("mine/target/mine.wasm"),
        folder.join("mine.wasm"),
    )
    .expect("a copy");
    let java = jdks::newest().tool("java");
    let classes = servant::classes().to_string_lossy();
    let words = [
        "run",
        "mine.wasm",
        "--watch",
        "--grant",
        "probes",
        "--plugin-settings",
        SETTINGS,
    ];
    let program = command(folder)
        .arguments(&words)
        .arguments(&["--output", "out", "--"]);
    let program = program
        .argument(java)
        .arguments(&["-cp", &classes, "Servant"]);
    let mut watching = RunningCommand::start(&program);
    let mut first = [0; 3];
    let stdout = watching.child.stdout.as_mut().expect("a pipe");
    stdout.read_exact(&mut first).expect("the program is up");
    std::fs::write(folder.join("mine.wasm"), "no component").expect("written");
    let said = watching.until("`mine` stays as it is");
    assert!(said.contains("error[H0106]"), "{said}");
    change(&source, "\"no name\"", "\"others\"");
    command(folder)
        .arguments(&["build", "mine"])
        .run()
        .assert_success();
    std::fs::rename(
        folder.join("mine/target/mine.wasm"),
        folder.join("mine.wasm"),
    )
    .expect("moved");
    watching.until("`mine` is reloaded in");
    let mut input = watching.child.stdin.take().expect("a pipe");
    writeln!(input, "steps a").expect("it reads");
    drop(input);
    let (output, code) = watching.end();
    assert_eq!(code, Some(0), "{output}");
    assert!(output.contains("\ndown\nmine: others\n"), "{output}");
    let bundled = command(folder)
        .arguments(&["run", "trace", "--watch", "--", "touch", "started"])
        .run();
    bundled.assert_exit(2).assert_stderr("error[H0658]");
    assert!(!folder.join("started").exists());
}
