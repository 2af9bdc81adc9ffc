//! Profilers that attach to a running JVM and detach from it.

use crate::jdks::Jdk;
use crate::setup;
use crate::workspace::{Workspace, output_of};
use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A profiler.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Profiler {
    Classhook,
    /// No profiler: both rounds of the pair run without an agent.
    None,
    /// The JVM's own recorder.
    Recorder,
    Async,
}

impl Profiler {
    /// Ours first.
    pub const ALL: [Self; 4] = [Self::Classhook, Self::None, Self::Recorder, Self::Async];

    /// The name in tables.
    pub fn title(self) -> &'static str {
        match self {
            Self::Classhook => "Classhook",
            Self::None => "no agent, again",
            Self::Recorder => "JFR, settings=profile",
            Self::Async => "async-profiler 4.5",
        }
    }

    /// Returns the CPU time of its own threads so far. async-profiler works in the program's threads.
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
            // A thread that has ended meanwhile is not its own: those stay.
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

/// The files that the profilers need.
pub struct Profilers {
    classhook: PathBuf,
    agent: PathBuf,
    jcmd: PathBuf,
    async_profiler: PathBuf,
    folder: PathBuf,
}

/// A profiler's session in a JVM: a command that runs until it is stopped, or a command that stops it.
pub enum Session {
    None,
    Going(Child, PathBuf),
    Ends(Command, PathBuf),
}

impl Profilers {
    /// Fetches the needed files. Recordings are written to `folder`.
    pub fn prepare(workspace: &Workspace, jdk: &Jdk, folder: &Path) -> Result<Self> {
        Ok(Self {
            classhook: workspace.product("classhook"),
            agent: workspace.product("libclasshook.so"),
            jcmd: jdk.tool("jcmd"),
            async_profiler: async_profiler(workspace, jdk, folder)?,
            folder: folder.to_owned(),
        })
    }

    /// Attaches a profiler, and waits until it has begun.
    pub fn begin(&self, profiler: Profiler, pid: u32) -> Result<Session> {
        let recorded = |name: &str| {
            let file = self.folder.join(name);
            // A file of an earlier round must not be taken for this one's.
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
                // In the recorder's format alone it writes two kinds of events. The JVM takes a quoted text as one
                // word.
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
    /// Stops the profiler and checks its recording, because one that records nothing costs nothing.
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

/// Returns async-profiler's library, extracted from the jar of Maven Central that holds it.
fn async_profiler(workspace: &Workspace, jdk: &Jdk, folder: &Path) -> Result<PathBuf> {
    const LIBRARY: &str = "libs/libasyncProfiler-4.5-linux-x64.so";
    let jar = setup::artifact(workspace, "async-profiler")?;
    let mut unpack = Command::new(jdk.tool("jar"));
    output_of(unpack.current_dir(folder).arg("xf").arg(jar).arg(LIBRARY))?;
    Ok(folder.join(LIBRARY))
}
