//! `classhook top`: tables without a terminal, and the screen of a real terminal.

use super::spans::classes;
use crate::support::command::{assert_no_agent, classhook};
use crate::support::traced::{Program, java};
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::patience::PATIENCE;
use e2e_tests::servant::Servant;
use e2e_tests::{caches, scratch, workspace};
use rustix::process::{Pid, Signal, kill_process};
use std::process::Command;
use std::time::{Duration, Instant};

/// Runs `classhook top` on a program that calls `Spans.step` 100 times in each of 3,500 milliseconds.
fn steady(jdk: &Jdk, more: &[&str]) -> Run {
    let run = Java::program(workspace::classhook())
        .arguments(&["top", "--methods", "Spans.step", "--interval", "1s"])
        .arguments(more)
        .argument("--")
        .argument(jdk.tool("java"))
        .argument("-cp")
        .argument(classes())
        .arguments(&["Spans", "steady", "1", "100", "3500"])
        .run();
    run.assert_success();
    run
}

/// Returns the calls of each row whose name begins with this text.
fn calls(run: &Run, name: &str) -> Vec<u64> {
    let rows = run
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix(name));
    let calls = rows.filter_map(|rest| rest.split_whitespace().next());
    calls
        .map(|calls| calls.replace(',', "").parse().expect("a number"))
        .collect()
}

#[test]
fn tables_without_a_terminal_add_up_to_the_calls_of_the_program() {
    let jdk = jdks::newest();
    for (more, name) in [
        (&[][..], "Spans.step "),
        (&["--by", "class", "--sort", "rate"], "Spans "),
        (&["--calls", "--by", "thread"], "Thread-0 "),
    ] {
        let run = steady(&jdk, more);
        let calls = calls(&run, name);
        assert!(calls.len() > 1, "{}", run.report());
        assert_eq!(calls.iter().sum::<u64>(), 350_000, "{}", run.report());
    }
    let run = classhook(&["top", "--by", "thread", "--", "java"]);
    run.assert_exit(2).assert_stderr("error[H0636]");
}

/// A `tmux` terminal with a server of its own.
struct Terminal {
    socket: String,
}

impl Terminal {
    /// Starts a terminal with a shell command.
    fn start(name: &str, line: &str) -> Self {
        let terminal = Self {
            socket: format!("classhook-{name}-{}", std::process::id()),
        };
        let size = ["-x", "120", "-y", "30"];
        let mut words = vec!["-f", "/dev/null", "new-session", "-d"];
        words.extend(size);
        words.push(line);
        terminal.tmux(&words);
        terminal
    }

    fn tmux(&self, words: &[&str]) -> String {
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", &self.socket]).args(words);
        tmux.env(caches::VARIABLE, caches::home());
        let output = tmux.output().expect("tmux is there: cargo xtask setup");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {error}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// Waits until the screen meets a condition.
    #[track_caller]
    fn wait_until(&self, is_wanted: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let screen = self.tmux(&["capture-pane", "-p"]);
            if is_wanted(&screen) {
                return screen;
            }
            assert!(Instant::now() < until, "the screen is\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[track_caller]
    fn wait_for(&self, text: &str) -> String {
        self.wait_until(|screen| screen.contains(text))
    }

    /// Returns the process that the shell started.
    fn child(&self) -> Pid {
        let shell = self.tmux(&["display-message", "-p", "#{pane_pid}"]);
        let shell = shell.trim();
        let children = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children"));
        let children = children.expect("the shell runs");
        let child = children.split_whitespace().next().expect("a child");
        Pid::from_raw(child.parse().expect("a number")).expect("a process")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", &self.socket, "kill-server"]);
        let _ = tmux.output(); // it may have ended
    }
}

/// Runs the command in the terminal, prints its exit status and the state of the terminal, and stays.
fn line(command: &str) -> String {
    format!(
        "before=$(stty -g); {command}; code=$?; \
         test \"$before\" = \"$(stty -g)\" && same=restored; echo \"exit $code $same\"; sleep 300"
    )
}

#[test]
fn screen_of_a_running_jvm_follows_keys_and_is_restored() {
    let jdk = jdks::newest();
    let folder = scratch();
    let compiled = Program::compile(&jdk, 3, folder.path());
    let program = java(&jdk, &compiled).main("Traced").argument(&compiled.log);
    let mut running = Servant::of(&program.arguments(&["2", "0", "0"]));
    let pid = running.pid().to_string();
    let command = workspace::classhook();
    let top = format!(
        "{} top {pid} --methods 'Traced.m?' --interval 1s",
        command.display()
    );

    let terminal = Terminal::start("keys", &line(&format!("{top} --calls")));
    terminal.wait_until(|screen| screen.contains("Traced.m") && screen.contains("calls/s"));
    terminal.press(&["g"]);
    terminal.wait_until(|screen| screen.contains("threads") && screen.contains("platform-1"));
    terminal.press(&["g", "Enter"]);
    terminal.wait_for("classes of (no package)");
    terminal.press(&["Enter"]);
    terminal.wait_for("methods of Traced");
    terminal.press(&["Enter"]);
    terminal.wait_for("callers of Traced.m");
    terminal.press(&["Escape"]);
    terminal.wait_for("methods of Traced");
    terminal.press(&["/"]);
    terminal.wait_for("Enter keeps it");
    terminal.press(&["m", "1", "Enter"]);
    let screen = terminal.wait_for("with \"m1\"");
    assert!(!screen.contains("Traced.m2"), "{screen}");
    terminal.press(&["p"]);
    terminal.wait_for("PAUSED");
    terminal.press(&["q"]);
    let screen = terminal.wait_for("exit ");
    assert!(
        screen.contains("exit 0 restored") && !screen.contains("PAUSED"),
        "{screen}"
    );
    drop(terminal);
    assert_no_agent(&pid);

    let terminal = Terminal::start("signal", &line(&top));
    terminal.wait_for("Traced.m");
    kill_process(terminal.child(), Signal::TERM).expect("it runs");
    let screen = terminal.wait_for("exit ");
    assert!(screen.contains("exit 0 restored"), "{screen}");
    assert_no_agent(&pid);
    assert_eq!(running.ask("1"), "marked 1");
    assert_eq!(running.end().code, Some(0));
}

/// The program prints while the screen is drawn, and ends when the user quits.
#[test]
fn screen_of_a_command_ends_it_and_keeps_what_it_printed() {
    let jdk = jdks::newest();
    let top = format!(
        "{} top --methods Spans.step --interval 1s -- {} -cp {} Spans steady 1 100 600000",
        workspace::classhook().display(),
        jdk.tool("java").display(),
        classes().display()
    );
    let terminal = Terminal::start("command", &line(&top));
    terminal.wait_for("Spans.step");
    terminal.press(&["q"]);
    let screen = terminal.wait_for("exit ");
    assert!(screen.contains("exit 143 restored"), "{screen}");
}
