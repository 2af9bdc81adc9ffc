//! The agent in a running JVM, spoken to over its control channel.

use std::path::PathBuf;

use attach::{AttachError, Attachment, Process};
use control::{Client, ControlError, Peer, Refusal, Request};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::args::Target;
use crate::checked_options::CheckedOptions;
use crate::launch::{self, AGENT_LIBRARY};
use crate::problem::Problem;
use crate::show::show;

/// What `Agent_OnAttach` returns when the agent is there: `JNI_EEXIST`.
const ALREADY_THERE: i32 = -5;

/// An agent that listens.
#[derive(Debug)]
pub struct Agent {
    client: Client,
    process: Process,
}

impl Agent {
    /// Connects to the agent in the JVM `pid`.
    ///
    /// # Errors
    /// `H05xx` if there is no such JVM or it is another user's, `H07xx` if no agent listens in it.
    pub fn connect(pid: i32) -> Result<Self, Problem> {
        match Self::find(pid)? {
            Ok(agent) => Ok(agent),
            Err(process) => Err(absent(&process)),
        }
    }

    /// The agent in the JVM `pid`, or the JVM if no agent listens in it.
    ///
    /// # Errors
    /// As for [`Agent::connect`].
    pub fn find(pid: i32) -> Result<Result<Self, Process>, Problem> {
        let process = Process::read(pid).map_err(unreached)?;
        process.check_permission().map_err(unreached)?;
        if !process.maps("libjvm.so") {
            return Err(unreached(AttachError::NotJvm(pid)));
        }
        let path = control::socket::socket_path(process.namespace_uid(), process.namespace_pid());
        let peer = Peer {
            pid,
            uid: process.effective_uid(),
        };
        match Client::connect(&process.path_in_root(&path), peer) {
            Ok(client) => Ok(Ok(Self { client, process })),
            Err(ControlError::NoAgent(_)) => Ok(Err(process)),
            Err(error) => Err(refused(error)),
        }
    }

    /// Asks, and gives the answer as it came.
    ///
    /// # Errors
    /// What the agent refused, or that it did not answer (`H07xx`).
    pub fn ask(&mut self, request: &Request) -> Result<Value, Problem> {
        self.client.ask(request).map_err(refused)
    }

    /// Sends a request and returns the decoded answer.
    ///
    /// # Errors
    /// As [`Agent::ask`].
    pub fn ask_for<T: DeserializeOwned>(&mut self, request: &Request) -> Result<T, Problem> {
        read(self.ask(request)?)
    }

    /// A file that the agent named, as this process sees it.
    #[must_use]
    pub fn path(&self, theirs: &str) -> PathBuf {
        let path = PathBuf::from(theirs);
        if self.process.sees(&path) {
            return path;
        }
        self.process.path_in_root(theirs)
    }
}

impl Target {
    /// Asks the JVM's agent and shows its answer, as JSON or as `text` puts it.
    ///
    /// # Errors
    /// As [`Agent::connect`] and [`Agent::ask`], or if standard output cannot be written.
    pub fn answer<T: DeserializeOwned>(
        &self,
        request: &Request,
        text: impl FnOnce(&T) -> String,
    ) -> Result<u8, Problem> {
        let mut agent = Agent::connect(self.pid)?;
        let answer = agent.ask(request)?;
        if self.json {
            show(&format!("{answer:#}\n"))?;
        } else {
            show(&text(&read(answer)?))?;
        }
        Ok(0)
    }
}

/// Loads the agent into a JVM that has none.
///
/// # Errors
/// If there is no library (`H0601`), the JVM cannot be reached (`H05xx`), sees other files (`H0607`), or has
/// an agent that takes no commands (`H0608`).
pub fn load(pid: i32, checked: &CheckedOptions) -> Result<(), Problem> {
    let library = launch::agent_library()?;
    let jvm = Attachment::open(pid).map_err(unreached)?;
    if !jvm.process().sees(&library) {
        return Err(other_root(pid));
    }
    let options = checked.options.to_text();
    jvm.load(&library, &options.to_string_lossy())
        .map_err(|error| match error {
            AttachError::AgentFailed(ALREADY_THERE) => already_there()
                .with(
                    "found",
                    "it was started with control=off, so it cannot be given other settings",
                )
                .with("help", "report what it records, or restart the JVM"),
            error => unreached(error),
        })
}

/// An agent is there, and what is asked for does not go with it.
#[must_use]
pub fn already_there() -> Problem {
    Problem::user("H0608", "the agent is in this JVM already")
}

/// The library and the output folder are paths of this file system.
fn other_root(pid: i32) -> Problem {
    Problem::user(
        "H0607",
        format!("the JVM {pid} sees another file system than this command"),
    )
    .with(
        "found",
        "another root or mount namespace: a container, most likely",
    )
    .with(
        "help",
        "run classhook in that container, or copy it and libclasshook.so there first",
    )
}

/// A decoded answer.
///
/// # Errors
/// `H0704` if it is another than the one expected.
pub fn read<T: DeserializeOwned>(answer: Value) -> Result<T, Problem> {
    serde_json::from_value(answer).map_err(|error| {
        Problem::ours("H0704", "the agent's answer cannot be read").with("found", error.to_string())
    })
}

/// The answer of the attach protocol.
pub fn unreached(error: AttachError) -> Problem {
    Problem::user(error.code(), error.to_string()).with("help", error.help())
}

fn refused(error: ControlError) -> Problem {
    let Refusal {
        code,
        message,
        notes,
    } = error.refusal();
    let problem = Problem::user(code, message);
    notes
        .into_iter()
        .fold(problem, |problem, (label, text)| problem.with(label, text))
}

/// No agent listens in a JVM: there is none, or its control channel is off.
fn absent(process: &Process) -> Problem {
    let pid = process.pid();
    let problem = Problem::user("H0701", format!("no agent listens in the JVM {pid}"));
    if process.maps(AGENT_LIBRARY) {
        return problem
            .with("found", format!("{AGENT_LIBRARY} is loaded, so an agent is or was there"))
            .with("help", format!("it was started with control=off, has left (then `classhook attach {pid}` brings it back), or has told on the JVM's standard error why it does not listen"));
    }
    problem.with(
        "help",
        format!("`classhook attach {pid}` loads one; no restart is needed"),
    )
}
