//! Profilers that come into a running JVM, and leave it.

use crate::jdks::Jdk;
use crate::setup;
use crate::workspace::{Workspace, output_of};
use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What takes samples of a JVM.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Profiler {
    Classhook,
    /// Nothing: its two rounds are without an agent.
    None,
    /// The JVM's own recorder.
    Recorder,
    Async,
}

impl Profiler {
    /// Ours first.
    pub const ALL: [Self; 4] = [Self::Classhook, Self::None, Self::Recorder, Self::Async];

    /// What tables call it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Classhook => "Classhook",
            Self::None => "no agent, again",
            Self::Recorder => "JFR, settings=profile",
            Self::Async => "async-profiler 4.5",
        }
    }

    /// CPU time of the threads that are its own, so far; async-profiler works in those of the program.
    pub fn cpu_time(self, pid: u32) -> Result<Duration> {
        let name = match self {
            Self::Classhook => "Classhook",
            Self::Recorder => "JFR ",
            Self::None | Self::Async => return Ok(Duration::ZERO),
        };
        let mut sum = Duration::ZERO;
        for thread in std::fs::read_dir(format!("/proc/{pid}/task"))? {
            let thread = thread?.path();
            let read = |file: &str| std::fs::read_to_string(thread.join(file));
            // One that has ended meanwhile is none of them: those stay.
            let Ok((comm, times)) = read("comm").and_then(|comm| Ok((comm, read("schedstat")?)))
            else {
                continue;
            };
            let nanos = times.split(' ').next().and_then(|first| first.parse().ok());
            if comm.starts_with(name) {
                sum += Duration::from_nanos(nanos.context("no time in schedstat")?);
            }
        }
        Ok(sum)
    }
}

/// What it takes to let each of them into a JVM.
pub struct Means {
    classhook: PathBuf,
    agent: PathBuf,
    jcmd: PathBuf,
    async_profiler: PathBuf,
    folder: PathBuf,
}

/// The end of a profiler in a JVM: a command that goes on until it is told to end, or one that ends it.
pub enum Session {
    None,
    Going(Child, PathBuf),
    Ends(Command, PathBuf),
}

impl Means {
    /// Takes from the setup what is needed; recordings are written to `folder`.
    pub fn prepare(workspace: &Workspace, jdk: &Jdk, folder: &Path) -> Result<Self> {
        Ok(Self {
            classhook: workspace.product("classhook"),
            agent: workspace.product("libclasshook.so"),
            jcmd: jdk.tool("jcmd"),
            async_profiler: async_profiler(workspace, jdk, folder)?,
            folder: folder.to_owned(),
        })
    }

    /// Lets one in, and waits until it has begun.
    pub fn begin(&self, profiler: Profiler, pid: u32) -> Result<Session> {
        let recorded = |name: &str| {
            let file = self.folder.join(name);
            // What an earlier round has left is not taken for this one's.
            if file.exists() {
                std::fs::remove_file(&file)?;
            }
            anyhow::Ok(file)
        };
        match profiler {
            Profiler::None => Ok(Session::None),
            Profiler::Classhook => self.classhook(pid, recorded("classhook.jsonl")?),
            Profiler::Recorder => {
                let file = recorded("recorder.jfr")?;
                let filename = format!("filename={}", file.display());
                let start = ["JFR.start", "name=bench", "settings=profile", &filename];
                output_of(&mut self.jcmd(pid, &start))?;
                let stop = self.jcmd(pid, &["JFR.stop", "name=bench"]);
                Ok(Session::Ends(stop, file))
            }
            Profiler::Async => {
                let file = recorded("async.jfr")?;
                let library = self.async_profiler.to_string_lossy();
                // It writes two kinds of events in the recorder's format alone. What is in quotes is one word to the JVM.
                let [start, stop] = ["start,event=itimer,interval=10ms,alloc=512k", "stop"]
                    .map(|words| format!("\"{words},file={}\"", file.display()));
                output_of(&mut self.jcmd(pid, &["JVMTI.agent_load", &library, &start]))?;
                let stop = self.jcmd(pid, &["JVMTI.agent_load", &library, &stop]);
                Ok(Session::Ends(stop, file))
            }
        }
    }

    fn classhook(&self, pid: u32, file: PathBuf) -> Result<Session> {
        let mut command = Command::new(&self.classhook);
        command.env("CLASSHOOK_AGENT", &self.agent).arg("profile");
        command.arg(pid.to_string());
        command.args(["--cpu", "samples", "--interval", "10ms"]);
        command.args(["--alloc", "sites", "--alloc-interval", "512K"]);
        command.arg("--json-lines").arg(&file);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let told = child.stderr.as_mut().context("a pipe was asked for")?;
        let mut line = String::new();
        BufReader::new(told).read_line(&mut line)?;
        ensure!(line.contains("Ctrl-C"), "it did not begin: {line}");
        Ok(Session::Going(child, file))
    }

    fn jcmd(&self, pid: u32, words: &[&str]) -> Command {
        let mut jcmd = Command::new(&self.jcmd);
        jcmd.arg(pid.to_string()).args(words);
        jcmd
    }
}

impl Session {
    /// Ends it; what it recorded must be there: one that did nothing would cost nothing.
    pub fn end(self) -> Result<()> {
        let file = match self {
            Self::None => return Ok(()),
            Self::Going(mut child, file) => {
                let mut kill = Command::new("kill");
                output_of(kill.arg("-INT").arg(child.id().to_string()))?;
                let status = child.wait()?;
                ensure!(status.success(), "ended with {status}");
                file
            }
            Self::Ends(mut command, file) => {
                output_of(&mut command)?;
                file
            }
        };
        let length = std::fs::metadata(&file).map_or(0, |found| found.len());
        ensure!(
            length > 10_000,
            "expected a recording in {}",
            file.display()
        );
        Ok(())
    }
}

/// The library of async-profiler, taken out of the jar of Maven Central that holds it.
fn async_profiler(workspace: &Workspace, jdk: &Jdk, folder: &Path) -> Result<PathBuf> {
    const LIBRARY: &str = "libs/libasyncProfiler-4.5-linux-x64.so";
    let jar = setup::artifact(workspace, "async-profiler")?;
    let mut unpack = Command::new(jdk.tool("jar"));
    output_of(unpack.current_dir(folder).arg("xf").arg(jar).arg(LIBRARY))?;
    Ok(folder.join(LIBRARY))
}
