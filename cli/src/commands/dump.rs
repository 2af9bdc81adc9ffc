//! `classhook dump`: what a running JVM has recorded so far.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

use clap::Args;
use control::Request;
use control::jacoco::{self, AskError, Command};
use control::message::Dump as Answer;
use coverage::report::exec;
use probes::Summary;
use serde_json::json;
use trace::numbers::counted;

use crate::agent::Agent;
use crate::args::place;
use crate::outputs::atomic;
use crate::outputs::files::Content;
use crate::problem::Problem;
use crate::show::{path, read, say, show, show_json};

const AFTER_HELP: &str = "\
Everything recorded up to now is in the snapshot afterwards; the JVM goes on recording to it.
With --to, a copy is made that does not change any more; with --reset, the JVM forgets in the same moment what is in the copy.

ADDRESS:PORT is a JVM that JaCoCo's agent measures with output=tcpserver, or ours with the option jacoco-tcp;
what it says is kept as an .exec file.

Examples:
  classhook dump 4711
  classhook dump 4711 --to now.hook && classhook report now.hook --html html
  classhook dump localhost:6300 --reset --to part.exec && classhook report part.exec --classes app.jar";

/// Writes what a running JVM has recorded so far.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Dump {
    /// The JVM's process id (`classhook ps` lists them), or where its agent speaks JaCoCo's protocol
    #[arg(value_name = "PID|ADDRESS:PORT", value_parser = Whom::parse)]
    pub whom: Whom,
    /// Copy what was recorded to this file
    #[arg(long, value_name = "FILE", value_parser = place())]
    pub to: Option<PathBuf>,
    /// Let the JVM forget in the same moment what is in the copy
    #[arg(long, requires = "to")]
    pub reset: bool,
    /// Print the agent's answer as JSON
    #[arg(long)]
    pub json: bool,
}

/// Whom to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whom {
    /// A process of this machine.
    Process(i32),
    /// An agent that speaks JaCoCo's protocol.
    Address(String),
}

impl Whom {
    fn parse(text: &str) -> Result<Self, String> {
        if let Some((host, port)) = text.rsplit_once(':')
            && !host.is_empty()
            && port.parse::<u16>().is_ok()
        {
            return Ok(Self::Address(text.to_owned()));
        }
        let pid = text.parse().ok().filter(|pid| *pid > 0);
        let wrong = "expected a process id, or an address and a port: 4711, localhost:6300";
        pid.map(Self::Process).ok_or_else(|| wrong.to_owned())
    }
}

impl Dump {
    /// Asks, copies, and prints where the snapshot is.
    ///
    /// # Errors
    /// If there is no agent to ask, it cannot write, or the copy cannot be made.
    pub fn run(&self) -> Result<u8, Problem> {
        match &self.whom {
            Whom::Process(pid) => self.of_process(*pid),
            Whom::Address(address) => self.of_address(address),
        }
    }

    fn of_process(&self, pid: i32) -> Result<u8, Problem> {
        let mut agent = Agent::connect(pid)?;
        let answer = agent.ask(match self.reset {
            true => &Request::DumpAndReset,
            false => &Request::Dump,
        })?;
        let dump: Answer = read(answer.clone())?;
        let snapshot = agent.path(&dump.snapshot);
        if let Some(to) = &self.to {
            let copied = copy(&dump, &snapshot, to);
            copied.map_err(|problem| match self.reset {
                true => kept(problem, &|out| write_copy(&dump, &snapshot, out)),
                false => problem,
            })?;
        }
        if self.json {
            show_json(&answer)?;
        } else {
            show(&format!(
                "{}\n",
                path(self.to.as_ref().unwrap_or(&snapshot))
            ))?;
        }
        Ok(0)
    }

    fn of_address(&self, address: &str) -> Result<u8, Problem> {
        let Some(to) = &self.to else {
            let message = format!("it is not said which file {address} is dumped to");
            return Err(Problem::user("H0514", message)
                .with("help", format!("classhook dump {address} --to jacoco.exec")));
        };
        // Before it is asked, which may make it forget: the answer must find its place.
        let file = atomic::temporary(to).map_err(|error| Problem::unwritable(to, &error))?;
        let command = Command {
            dump: true,
            reset: self.reset,
        };
        let bytes = resolve(address).and_then(|found| jacoco::ask(found, command));
        let bytes = bytes.map_err(|error| unanswered(address, &error))?;
        let data = exec::read(&bytes).map_err(|error| damaged(address, &error))?;
        let written = std::fs::write(file.path(), &bytes).and_then(|()| atomic::publish(file, to));
        written.map_err(|error| {
            let problem = Problem::unwritable(to, &error);
            match self.reset {
                true => kept(problem, &|out| out.write_all(&bytes)),
                false => problem,
            }
        })?;
        let (classes, sessions) = (data.classes.len(), data.sessions.len());
        if self.json {
            show_json(&json!({"file": to, "classes": classes, "sessions": sessions}))?;
        } else {
            say(format_args!(
                "{} with executed code",
                counted(classes, "class")
            ));
            show(&format!("{}\n", path(to)))?;
        }
        Ok(0)
    }
}

/// Where an answer is kept that finds no room in its place: the second is memory.
const ELSEWHERE: [&str; 2] = ["/tmp", "/dev/shm"];

/// The problem that an answer cannot be written, with where it is instead: the JVM has forgotten what is in it.
fn kept(problem: Problem, content: Content<'_>) -> Problem {
    let keep = |folder: &str| {
        let mut builder = tempfile::Builder::new();
        let mut file = builder.prefix("classhook-dump-").tempfile_in(folder).ok()?;
        content(&mut file).ok()?;
        file.keep().ok()
    };
    match ELSEWHERE.into_iter().find_map(keep) {
        Some((_, kept)) => problem.with(
            "note",
            format!("what the JVM has forgotten now is in {}", path(&kept)),
        ),
        None => problem.with("note", "what the JVM has forgotten now is lost"),
    }
}

/// The first address of a name; one of this machine can have two, of which one is listened at.
fn resolve(address: &str) -> Result<SocketAddr, AskError> {
    let found = address.to_socket_addrs().map_err(AskError::Connect)?;
    let found: Vec<SocketAddr> = found.collect();
    let old = found.iter().find(|address| address.is_ipv4());
    let none = || AskError::Connect(std::io::ErrorKind::NotFound.into());
    old.or(found.first()).copied().ok_or_else(none)
}

fn unanswered(address: &str, error: &AskError) -> Problem {
    let message = format!("{address} does not say what was executed");
    let help = match error {
        AskError::Connect(_) => {
            "start the JVM with `-javaagent:jacocoagent.jar=output=tcpserver`, or with our agent and its option `jacoco-tcp=6300`"
        }
        _ => "name the port of JaCoCo's agent, or of ours with `jacoco-tcp`",
    };
    Problem::user("H0514", message)
        .with("found", error.to_string())
        .with("help", help)
}

fn damaged(address: &str, error: &exec::ReadError) -> Problem {
    Problem::user("H0611", format!("{address} answers with damaged data"))
        .with("found", error.to_string())
}

/// A copy of what a dump has written, complete in itself; the JVM goes on writing to the snapshot.
pub(crate) fn copy(dump: &Answer, snapshot: &Path, to: &Path) -> Result<(), Problem> {
    File::open(snapshot).map_err(|error| Problem::unreadable(snapshot, &error))?;
    atomic::file(to, &|out| write_copy(dump, snapshot, out))
}

fn write_copy(dump: &Answer, snapshot: &Path, mut out: &mut dyn Write) -> io::Result<()> {
    let classes = &dump.classes;
    let summary = Summary {
        seen: classes.seen,
        selected: classes.selected,
        transformed: classes.changed,
        failed: classes.failed,
        skipped_methods: classes.skipped_methods,
        ..Summary::default()
    };
    io::copy(&mut File::open(snapshot)?.take(dump.length), &mut out)?;
    probes::end_copy(&mut out, &summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_or_address_is_asked() {
        let address = |text: &str| Ok(Whom::Address(text.to_owned()));
        assert_eq!(Whom::parse("4711"), Ok(Whom::Process(4711)));
        for text in ["localhost:6300", "10.0.0.1:1", "[::1]:6300"] {
            assert_eq!(Whom::parse(text), address(text));
        }
        for wrong in [
            "",
            "0",
            "-1",
            "app",
            ":6300",
            "localhost:",
            "localhost:65536",
        ] {
            assert!(Whom::parse(wrong).is_err(), "{wrong}");
        }
    }
}
