//! A JVM that executes the orders of a test: `java/servant/Servant.java`.

use crate::java::Java;
use crate::jdks::{self, Jdk};
use crate::{javac, native, scratch, workspace};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::OnceLock;
use std::thread::JoinHandle;
use tempfile::TempDir;

/// A running program that executes orders.
#[derive(Debug)]
pub struct Servant {
    child: Child,
    pid: i32,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    errors: Option<JoinHandle<String>>,
}

/// The remains of a servant that has ended.
#[derive(Debug)]
pub struct EndedServant {
    /// Standard output since the last order.
    pub stdout: String,
    /// All of its standard error.
    pub stderr: String,
    /// The exit code, unless it was killed.
    pub code: Option<i32>,
}

/// The compiled program, as folder and as Java agent, and the library `bodies`.
struct Compiled {
    _folder: TempDir,
    classes: PathBuf,
    jar: PathBuf,
    bodies: PathBuf,
}

/// Returns the command `java … Servant`, for [`Servant::of`].
pub fn java(jdk: &Jdk, options: &[&str]) -> Java {
    Java::new(jdk)
        .options(options)
        .class_path(&[&compiled().classes])
        .main("Servant")
}

/// Returns the folder of its classes.
pub fn classes() -> &'static Path {
    &compiled().classes
}

/// Returns its source, from which tests make other versions.
pub fn source() -> String {
    std::fs::read_to_string(file()).expect("the source is there")
}

fn file() -> PathBuf {
    workspace::test_file("java/servant/Servant.java")
}

/// Stops a process with SIGSTOP, and waits until each of its threads has stopped, because the signal takes effect
/// later.
///
/// # Panics
/// If the process does not exist.
pub fn stop_process(pid: Pid) {
    kill_process(pid, Signal::STOP).expect("it is there");
    let tasks = PathBuf::from(format!("/proc/{pid}/task"));
    let runs = |task: PathBuf| {
        let stat = std::fs::read_to_string(task.join("stat")).unwrap_or_default();
        // The state follows the name, which may contain any characters.
        let state = stat.rsplit_once(") ").map(|(_, rest)| rest);
        state.is_some_and(|state| !state.starts_with('T'))
    };
    let tasks = || std::fs::read_dir(&tasks).expect("it is there");
    while tasks().any(|task| runs(task.expect("a thread").path())) {
        std::thread::yield_now();
    }
}

impl Servant {
    /// Starts a JVM that waits for its first order.
    pub fn start(jdk: &Jdk, options: &[&str]) -> Self {
        Self::of(&java(jdk, options))
    }

    /// Like [`Servant::start`], with two more orders: `bodies CLASS` prints the bytecode that runs, and `bytes CLASS`
    /// the class file that a retransformation receives.
    pub fn watching(jdk: &Jdk, options: &[&str]) -> Self {
        let agent = format!("-javaagent:{}", compiled().jar.display());
        let bodies = format!("-Dbodies={}", compiled().bodies.display());
        let mut all = vec![agent.as_str(), bodies.as_str()];
        all.extend(options);
        Self::of(&java(jdk, &all))
    }

    /// Starts a program that executes orders as `Servant` does, or one that starts such a program.
    pub fn of(java: &Java) -> Self {
        let mut child = java.spawn_talking();
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut stderr = child.stderr.take().expect("a pipe");
        let errors = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            stderr.read_to_end(&mut bytes).expect("reading a pipe");
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let first = line(&mut output);
        if first != "up" {
            child.kill().expect("our own child"); // else it would wait for orders for ever
            let errors = errors.join().expect("reading a pipe");
            panic!("expected a program that is up, found {first:?}\n{errors}");
        }
        let pid = i32::try_from(child.id()).expect("a pid");
        Self {
            child,
            pid,
            input,
            output,
            errors: Some(errors),
        }
    }

    /// Returns the process id.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Sends an order and returns the answer.
    pub fn ask(&mut self, order: &str) -> String {
        let input = self.input.as_mut().expect("not let go");
        writeln!(input, "{order}").expect("the program takes its input");
        line(&mut self.output)
    }

    /// Stops the process with SIGSTOP, and waits until each of its threads has stopped, because the signal takes effect
    /// later.
    pub fn stop(&self) {
        stop_process(Pid::from_raw(self.pid).expect("a process"));
    }

    /// Continues the process with SIGCONT.
    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.pid).expect("a process");
        kill_process(pid, signal).expect("it is there");
    }

    /// Ends the orders, and waits for the end of the process.
    pub fn end(mut self) -> EndedServant {
        drop(self.input.take());
        let mut stdout = String::new();
        self.output.read_to_string(&mut stdout).expect("text");
        EndedServant {
            stdout,
            code: self.child.wait().expect("an end").code(),
            stderr: self
                .errors
                .take()
                .and_then(|errors| errors.join().ok())
                .expect("reading a pipe"),
        }
    }

    /// Kills the process with SIGKILL.
    pub fn kill(self) {
        drop(self);
    }
}

/// Ends the process when a test fails.
impl Drop for Servant {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

fn line(output: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    output.read_line(&mut line).expect("text");
    line.trim_end().to_owned()
}

fn compiled() -> &'static Compiled {
    static COMPILED: OnceLock<Compiled> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let jdk = jdks::newest();
        let folder = scratch();
        let classes = javac::compile(&jdk, &[&file()], folder.path(), &["--release", "11"]);
        let bodies = workspace::test_file("native/bodies.c");
        let manifest = "Premain-Class: Servant\nCan-Retransform-Classes: true\n";
        Compiled {
            jar: javac::jar(
                &jdk,
                &classes,
                ".",
                manifest,
                &folder.path().join("servant.jar"),
            ),
            bodies: native::library(&jdk, &bodies, folder.path()),
            classes,
            _folder: folder,
        }
    })
}
