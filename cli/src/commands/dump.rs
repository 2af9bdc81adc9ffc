//! `classhook dump`: writes the recorded data of a running JVM.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

use agent_connection::agent::Agent;
use agent_connection::decoded_answers::read;
use clap::Args;
use control::Request;
use control::jacoco::{self, AskError, Command};
use control::message::Dump as Answer;
use coverage::report::exec;
use errors::{Error, codes};
use local_files::atomic;
use local_files::output_files::Content;
use probes::Summary;
use serde_json::json;
use standard_streams::show::{path, say, show, show_json};
use trace::numbers::counted;

use crate::args::{JSON, output_path};

const AFTER_HELP: &str = "\
The snapshot then holds all data recorded so far, and the JVM continues to record to it.
--to writes a copy that changes no more. --reset also resets the data of the copy in the JVM, in the same step.

ADDRESS:PORT is the address of JaCoCo's agent with output=tcpserver, or of Classhook's agent with the option jacoco-tcp.
Its answer is written as an .exec file.

Examples:
  classhook dump 4711
  classhook dump 4711 --to now.hook && classhook report now.hook --html html
  classhook dump localhost:6300 --reset --to part.exec && classhook report part.exec --classes app.jar";

/// Writes the recorded data of a running JVM to its snapshot, or to a copy.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Dump {
    /// Select the running JVM by process id, or JaCoCo's protocol by address
    #[arg(value_name = "PID|ADDRESS:PORT", value_parser = DumpSource::parse)]
    pub source: DumpSource,
    /// Write the recorded data to this file
    #[arg(long, value_name = "FILE", value_parser = output_path())]
    pub to: Option<PathBuf>,
    /// Reset the copied data in the JVM, in the same step
    #[arg(long, requires = "to")]
    pub reset: bool,
    /// Prints JSON.
    #[arg(long, help = JSON)]
    pub json: bool,
}

/// The agent that holds the recorded data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DumpSource {
    /// A process of this machine.
    Process(i32),
    /// The address of an agent that answers over JaCoCo's protocol.
    Address(String),
}

impl DumpSource {
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
    /// Writes snapshot and copy, and prints the path.
    ///
    /// # Errors
    /// If the JVM has no agent, or snapshot or copy cannot be written.
    pub fn run(&self) -> Result<u8, Error> {
        match &self.source {
            DumpSource::Process(pid) => self.of_process(*pid),
            DumpSource::Address(address) => self.of_address(address),
        }
    }

    fn of_process(&self, pid: i32) -> Result<u8, Error> {
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

    fn of_address(&self, address: &str) -> Result<u8, Error> {
        let Some(to) = &self.to else {
            let message = format!("no file to dump {address} to");
            return Err(Error::mistake(codes::H0514, message)
                .with("help", format!("classhook dump {address} --to jacoco.exec")));
        };
        // The file exists before the request, which may reset the data: the answer must not get lost.
        let file = atomic::temporary(to).map_err(|error| Error::unwritable(to, &error))?;
        let command = Command {
            dump: true,
            reset: self.reset,
        };
        let bytes = resolve(address).and_then(|found| jacoco::ask(found, command));
        let bytes = bytes.map_err(|error| unanswered(address, &error))?;
        let data = exec::read(&bytes).map_err(|error| damaged(address, &error))?;
        let written = std::fs::write(file.path(), &bytes).and_then(|()| atomic::publish(file, to));
        written.map_err(|error| {
            let problem = Error::unwritable(to, &error);
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

/// Folders for an answer that does not fit at its path. The second is in memory.
const FALLBACKS: [&str; 2] = ["/tmp", "/dev/shm"];

/// Writes the answer to a fallback folder, because the JVM has reset the data, and adds its path to the problem.
fn kept(problem: Error, content: Content<'_>) -> Error {
    let keep = |folder: &str| {
        let mut builder = tempfile::Builder::new();
        let mut file = builder.prefix("classhook-dump-").tempfile_in(folder).ok()?;
        content(&mut file).ok()?;
        file.keep().ok()
    };
    match FALLBACKS.into_iter().find_map(keep) {
        Some((_, kept)) => problem.with(
            "note",
            format!("the data that was reset in the JVM is in {}", path(&kept)),
        ),
        None => problem.with("note", "the data that was reset in the JVM is lost"),
    }
}

/// Resolves an address and prefers IPv4: `localhost` has two addresses, and the agent listens at one.
fn resolve(address: &str) -> Result<SocketAddr, AskError> {
    let found = address.to_socket_addrs().map_err(AskError::Connect)?;
    let found: Vec<SocketAddr> = found.collect();
    let old = found.iter().find(|address| address.is_ipv4());
    let none = || AskError::Connect(std::io::ErrorKind::NotFound.into());
    old.or(found.first()).copied().ok_or_else(none)
}

/// Code of an address at which no process listens. The Maven goal `dump` recognises it and tries again.
const NOTHING_LISTENS: &str = codes::H0517;

fn unanswered(address: &str, error: &AskError) -> Error {
    let message = format!("{address} does not answer with execution data");
    let (code, help) = match error {
        AskError::Connect(_) => (
            NOTHING_LISTENS,
            "start the JVM with `-javaagent:jacocoagent.jar=output=tcpserver`, or with our agent and its option `jacoco-tcp=6300`",
        ),
        _ => (
            codes::H0514,
            "name the port of JaCoCo's agent, or of ours with `jacoco-tcp`",
        ),
    };
    Error::mistake(code, message)
        .with("found", error.to_string())
        .with("help", help)
}

fn damaged(address: &str, error: &exec::ReadError) -> Error {
    Error::mistake(codes::H0611, format!("{address} answers with damaged data"))
        .with("found", error.to_string())
}

/// Copies the dumped part of a snapshot, which the JVM continues to write, to a complete snapshot.
pub(crate) fn copy(dump: &Answer, snapshot: &Path, to: &Path) -> Result<(), Error> {
    File::open(snapshot).map_err(|error| Error::unreadable(snapshot, &error))?;
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
    fn dump_source_is_a_process_or_an_address() {
        let address = |text: &str| Ok(DumpSource::Address(text.to_owned()));
        assert_eq!(DumpSource::parse("4711"), Ok(DumpSource::Process(4711)));
        for text in ["localhost:6300", "10.0.0.1:1", "[::1]:6300"] {
            assert_eq!(DumpSource::parse(text), address(text));
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
            assert!(DumpSource::parse(wrong).is_err(), "{wrong}");
        }
    }
}
