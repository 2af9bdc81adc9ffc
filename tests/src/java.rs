//! Runs `java`: options, an agent, a time limit, and the program's output.

use crate::jdks::Jdk;
use crate::{caches, watchdog, workspace};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Default limit for a program's run.
const LIMIT: Duration = Duration::from_secs(300);

/// Compiles once and quickly. Better code never pays off in a run of a few seconds, and takes a third of its time.
const QUICK_COMPILER: &str = "-XX:TieredStopAtLevel=1";

/// A `java` command under construction.
#[derive(Debug, Clone)]
pub struct Java {
    program: PathBuf,
    options: Vec<OsString>,
    rest: Vec<OsString>,
    folder: Option<PathBuf>,
    environment: Vec<(OsString, OsString)>,
    limit: Duration,
}

/// The remains of a program that has ended.
#[derive(Debug, Clone)]
pub struct Run {
    /// The command line, for messages.
    pub command: String,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
    /// The exit status.
    pub status: ExitStatus,
    /// Its process id.
    pub pid: u32,
}

impl Java {
    /// Creates a command for this JDK's `java`, with its quick compiler alone and without variables that add options.
    pub fn new(jdk: &Jdk) -> Self {
        Self::program(jdk.tool("java")).option(QUICK_COMPILER)
    }

    /// Uses all compilers, for tests of their code for edited methods.
    pub fn all_compilers(mut self) -> Self {
        self.options.retain(|option| option != QUICK_COMPILER);
        self
    }

    /// Creates a command for another program, for example `classhook`.
    pub fn program(program: PathBuf) -> Self {
        let (options, rest, environment) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            program,
            options,
            rest,
            folder: None,
            environment,
            limit: LIMIT,
        }
    }

    /// Writes HotSpot's log of compilations into this file, and everything else that HotSpot would print to standard
    /// output. There its lines would be anywhere between the program's, since other threads print them.
    pub fn compilation_log(self, file: &Path) -> Self {
        self.options(&[
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:+PrintCompilation",
            "-XX:-DisplayVMOutput",
            "-XX:+LogVMOutput",
        ])
        .option(format!("-XX:LogFile={}", file.display()))
    }

    /// Adds an option of the JVM, such as `-Xverify:all`.
    pub fn option(mut self, option: impl AsRef<OsStr>) -> Self {
        self.options.push(option.as_ref().to_owned());
        self
    }

    /// Adds several options of the JVM.
    pub fn options<O: AsRef<OsStr>>(mut self, options: &[O]) -> Self {
        self.options
            .extend(options.iter().map(|option| option.as_ref().to_owned()));
        self
    }

    /// Sets the folders and jars of the class path.
    pub fn class_path<P: AsRef<Path>>(self, entries: &[P]) -> Self {
        let joined =
            std::env::join_paths(entries.iter().map(AsRef::as_ref)).expect("no colon in a path");
        self.option("-cp").option(joined)
    }

    /// Adds Classhook's agent with these options; `None` leaves out even the `=`.
    pub fn agent(self, options: Option<&str>) -> Self {
        let mut argument = OsString::from("-agentpath:");
        argument.push(workspace::agent_library());
        if let Some(options) = options {
            argument.push("=");
            argument.push(options);
        }
        self.option(argument)
    }

    /// Adds the agent with coverage into this folder.
    pub fn coverage(self, output: &Path) -> Self {
        self.agent(Some(&format!(
            "plugin=coverage,output={}",
            output.display()
        )))
    }

    /// Sets the main class.
    pub fn main(self, class: &str) -> Self {
        self.argument(class)
    }

    /// Adds an argument of the program.
    pub fn argument(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.rest.push(argument.as_ref().to_owned());
        self
    }

    /// Adds several arguments of the program.
    pub fn arguments<A: AsRef<OsStr>>(mut self, arguments: &[A]) -> Self {
        self.rest.extend(
            arguments
                .iter()
                .map(|argument| argument.as_ref().to_owned()),
        );
        self
    }

    /// Sets the working folder.
    pub fn folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_path_buf());
        self
    }

    /// Sets an environment variable.
    pub fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment
            .push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// Sets another time limit.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Starts the program without waiting. Its output comes through the child's pipes. They end when the program ends,
    /// or when it exceeds its limit and is killed.
    pub fn spawn(&self) -> Child {
        self.start(Stdio::null()).0
    }

    /// Like [`Java::spawn`], with a pipe to standard input.
    pub fn spawn_talking(&self) -> Child {
        self.start(Stdio::piped()).0
    }

    fn start(&self, input: Stdio) -> (Child, JoinHandle<bool>) {
        let mut command = self.command();
        let started = command.stdin(input).spawn();
        let child = started.unwrap_or_else(|error| panic!("failed to start {command:?}: {error}"));
        let watch = watchdog::watch(&child, &self.program, self.limit);
        (child, watch)
    }

    /// Runs the program to its end.
    ///
    /// # Panics
    /// If it exceeds the limit: the message has a thread dump, and the process is killed.
    pub fn run(&self) -> Run {
        let (mut child, watch) = self.start(Stdio::null());
        let stdout = read_aside(child.stdout.take().expect("stdout is a pipe"));
        let stderr = read_aside(child.stderr.take().expect("stderr is a pipe"));
        let status = child.wait().expect("our own child");
        let timed_out = watch.join().expect("the watch ends");
        let run = Run {
            command: format!("{:?}", self.command()),
            stdout: stdout.join().expect("reading stdout"),
            stderr: stderr.join().expect("reading stderr"),
            status,
            pid: child.id(),
        };
        assert!(
            !timed_out,
            "no end within {:?}; thread dump in its output\n{}",
            self.limit,
            run.report()
        );
        run
    }

    /// Returns the words of the command, for another program that starts it.
    pub fn words(&self) -> Vec<OsString> {
        let program = std::iter::once(self.program.clone().into_os_string());
        let rest = self.options.iter().chain(&self.rest).cloned();
        program.chain(rest).collect()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.options).args(&self.rest);
        for added in [
            "JAVA_TOOL_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "_JAVA_OPTIONS",
            "CLASSPATH",
        ] {
            command.env_remove(added);
        }
        command.env(caches::VARIABLE, caches::home());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

impl Run {
    /// Asserts that the program ended with 0.
    #[track_caller]
    pub fn assert_success(&self) -> &Self {
        assert!(
            self.status.success(),
            "the program failed\n{}",
            self.report()
        );
        self
    }

    /// Asserts that the program ended with this code.
    #[track_caller]
    pub fn assert_exit(&self, code: i32) -> &Self {
        assert_eq!(
            self.status.code(),
            Some(code),
            "another exit code\n{}",
            self.report()
        );
        self
    }

    /// Asserts that standard error contains this text.
    #[track_caller]
    pub fn assert_stderr(&self, part: &str) -> &Self {
        assert!(
            self.stderr.contains(part),
            "expected {part:?} on standard error\n{}",
            self.report()
        );
        self
    }

    /// Asserts that the program ended and printed the same as another run.
    #[track_caller]
    pub fn assert_same_as(&self, other: &Self) -> &Self {
        assert_eq!(self.status, other.status, "{}", self.report());
        assert_eq!(self.stdout, other.stdout, "{}", self.command);
        assert_eq!(self.stderr, other.stderr, "{}", self.command);
        self
    }

    /// Removes the agent's lines about unchanged methods (H0411) from standard error, and returns their codes.
    pub fn take_remarks(&mut self) -> Vec<&'static str> {
        let code = |line: &str| {
            let rest = line.strip_prefix("classhook: warning[")?;
            rest.starts_with("H0411").then_some("H0411")
        };
        let codes = self.stderr.lines().filter_map(code).collect();
        let others = self.stderr.split_inclusive('\n');
        self.stderr = others.filter(|line| code(line).is_none()).collect();
        codes
    }

    /// Formats command, status and output for a message.
    pub fn report(&self) -> String {
        let mut text = format!("command: {}\nstatus: {}\n", self.command, self.status);
        for (name, output) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            write!(text, "--- {name} ---\n{}\n", shortened(output)).expect("writing to a string");
        }
        text
    }
}

/// Returns the first and last part of a long text.
fn shortened(text: &str) -> String {
    const KEPT: usize = 6_000;
    if text.len() <= 2 * KEPT {
        return text.to_owned();
    }
    let head: String = text.chars().take(KEPT).collect();
    let tail: String = text.chars().skip(text.chars().count() - KEPT).collect();
    format!("{head}\n[… {} bytes …]\n{tail}", text.len() - 2 * KEPT)
}

fn read_aside(mut pipe: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("reading a pipe");
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
