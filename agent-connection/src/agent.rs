//! The agent in a running JVM, reached over its control channel.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agent_launch::attachment::{self, AgentWait};
use agent_launch::checked_options::CheckedOptions;
use agent_launch::precompiled::Precompiled;
use agent_launch::start::{self, AGENT_LIBRARY};
use attach::{AttachError, PlacedFile, Process};
use control::classes::Details;
use control::message::{Class, Classes, Status};
use control::{Client, ControlError, Peer, Refusal, Request};
use errors::{Error, codes};
use local_files::jvm_files;
use local_files::jvm_tmp::JvmTmp;
use local_files::temporary;
use serde::de::DeserializeOwned;
use serde_json::Value;
use standard_streams::show::say;
use tempfile::NamedTempFile;

use crate::decoded_answers::read;
use crate::holder::this_command;
use crate::recording_folder;

/// Name of the agent's control thread in the operating system.
const CONTROL_THREAD: &str = "Classhook ctl";
/// Maximum time in which an agent replaces a removed socket.
const SOCKET_PATIENCE: Duration = Duration::from_secs(3);
const TURN: Duration = Duration::from_millis(50);
/// Classes per request.
const PAGE: usize = 2_000;
/// Maximum time for an answer of the agent.
const PATIENCE: Duration = Duration::from_secs(120);
/// After this time without an answer, the command checks whether the JVM has too few descriptors to
/// accept the connection.
const SILENCE: Duration = Duration::from_secs(5);

/// Code of a stopped JVM.
pub const STOPPED: &str = codes::H0510;
/// Help for a stopped JVM.
const GO_ON: &str = "resume it: with kill -CONT, or in its debugger";

/// Maximum time in which an agent leaves the JVM, and the time between attempts to load another.
const LEAVING: Duration = Duration::from_millis(600);
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(200);
/// Maximum time in which one of several simultaneous commands loads the agent.
const CROWD: Duration = Duration::from_secs(30);
/// Code of the agent's message about an attempt to load a second agent.
const IGNORED: &str = codes::H0403;

/// Result of `Agent_OnAttach` when an agent is loaded already: `JNI_EEXIST`.
const ALREADY_THERE: i32 = -5;

/// A connection to an agent.
#[derive(Debug)]
pub struct Agent {
    client: Client,
    process: Process,
    /// True once the agent has answered over this connection, and so has accepted it.
    is_accepted: bool,
}

impl Agent {
    /// Connects to the agent in the JVM `pid`.
    ///
    /// # Errors
    /// `H05xx` if there is no such JVM or it is another user's, `H07xx` if no agent listens in it.
    pub fn connect(pid: i32) -> Result<Self, Error> {
        match Self::find(pid)? {
            Ok(agent) => Ok(agent),
            Err(process) => Err(absent(&process)),
        }
    }

    /// Returns the agent in the JVM `pid`, or the process if no agent listens in it.
    ///
    /// # Errors
    /// As for [`Agent::connect`].
    pub fn find(pid: i32) -> Result<Result<Self, Process>, Error> {
        let process = Process::read(pid).map_err(Error::from)?;
        process.check_permission().map_err(Error::from)?;
        if !process.is_jvm() {
            return Err(Error::from(AttachError::NotJvm(pid)));
        }
        process.check_answers().map_err(Error::from)?;
        process.check_files().map_err(Error::from)?;
        let begun = Instant::now();
        loop {
            match connect(&process)? {
                Some(client) => {
                    let is_accepted = false;
                    return Ok(Ok(Self {
                        client,
                        process,
                        is_accepted,
                    }));
                }
                // An agent replaces its socket after a removal.
                None if process.has_thread(CONTROL_THREAD) && begun.elapsed() < SOCKET_PATIENCE => {
                    std::thread::sleep(TURN);
                }
                None => return Ok(Err(process)),
            }
        }
    }

    /// Sends a request and returns the raw answer.
    ///
    /// # Errors
    /// The agent's refusal, or a missing answer (`H07xx`).
    pub fn ask(&mut self, request: &Request) -> Result<Value, Error> {
        let (process, begun, is_accepted) = (&self.process, Instant::now(), self.is_accepted);
        let mut wait = AgentWait::new(process.pid());
        let mut look = || match begun.elapsed() {
            time if time < PATIENCE => {
                wait.tell(time, || name_of(request));
                look_at(process, is_accepted, time)
            }
            time => Err(ControlError::NoAnswer(format!(
                "no answer for {} s",
                time.as_secs()
            ))),
        };
        let answer = self.client.ask_while(request, &mut look);
        let answer = answer.map_err(|error| unanswered(error, request))?;
        self.is_accepted = true;
        Ok(answer)
    }

    /// As [`Agent::ask_for`], for long requests: waits as long as the JVM can answer.
    ///
    /// # Errors
    /// As [`Agent::ask`].
    pub fn ask_patiently<T: DeserializeOwned>(&mut self, request: &Request) -> Result<T, Error> {
        let (process, begun, is_accepted) = (&self.process, Instant::now(), self.is_accepted);
        let mut look = || look_at(process, is_accepted, begun.elapsed());
        let answer = self.client.ask_while(request, &mut look);
        let answer = answer.map_err(|error| unanswered(error, request))?;
        self.is_accepted = true;
        read(answer)
    }

    /// Checks whether the agent has closed the connection: it has left, or its JVM ends.
    #[must_use]
    pub fn has_left(&self) -> bool {
        self.client.is_closed()
    }

    /// Checks whether a request failed because the agent leaves the JVM, or has left it.
    #[must_use]
    pub fn leaves(&self, problem: &Error) -> bool {
        self.has_left() || problem.to_string().contains(control::message::LEAVING)
    }

    /// Returns the JVM's process.
    #[must_use]
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Returns the process id of the JVM.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.process.pid()
    }

    /// Sends a request and returns the decoded answer.
    ///
    /// # Errors
    /// As [`Agent::ask`].
    pub fn ask_for<T: DeserializeOwned>(&mut self, request: &Request) -> Result<T, Error> {
        read(self.ask(request)?)
    }

    /// Lets the agent release the plugin when this connection ends or `time` is over. Without a
    /// plugin, the earlier lease ends.
    ///
    /// # Errors
    /// As [`Agent::ask`].
    pub fn lease(&mut self, plugin: Option<&str>, time: Option<Duration>) -> Result<(), Error> {
        let ms = time.map(|time| time.as_millis());
        let request = Request::Lease {
            plugin: plugin.map(str::to_owned),
            ms: ms.map(|ms| ms.try_into().unwrap_or(u64::MAX)),
            holder: Some(this_command()),
        };
        self.ask(&request).map(drop)
    }

    /// Returns all loaded classes.
    ///
    /// # Errors
    /// As [`Agent::ask`].
    pub fn classes(&mut self) -> Result<Vec<Class>, Error> {
        self.listed(None, Details::default())
    }

    /// Returns all loaded classes that a selector matches. Each request fetches one page: an answer
    /// is text in the JVM's memory, and the C library keeps memory that grew for a large one.
    ///
    /// # Errors
    /// As [`Agent::ask`].
    pub fn listed(&mut self, filter: Option<&str>, details: Details) -> Result<Vec<Class>, Error> {
        let mut all = Vec::new();
        loop {
            let page: Classes = self.ask_for(&Request::Classes {
                filter: filter.map(str::to_owned),
                changed: false,
                skip: all.len(),
                limit: PAGE,
                details,
            })?;
            let count = page.classes.len();
            all.extend(page.classes);
            if count < PAGE {
                return Ok(all);
            }
        }
    }

    /// Returns the path under which this process sees a file that the agent named.
    #[must_use]
    pub fn path(&self, theirs: &str) -> PathBuf {
        let path = PathBuf::from(theirs);
        if self.process.sees(&path) {
            return path;
        }
        self.process.path_in_root(theirs)
    }
}

/// Connects to the agent's socket, or nothing if no socket exists.
fn connect(process: &Process) -> Result<Option<Client>, Error> {
    let peer = Peer {
        pid: process.pid(),
        uid: process.effective_uid(),
    };
    let candidates = control::socket::candidates(
        &process.path_in_root(control::socket::TMP),
        process.namespace_uid(),
        process.namespace_pid(),
        peer.uid,
    );
    let mut untrusted = None;
    for socket in candidates {
        match Client::over(process.connect(&socket), &socket, peer) {
            Ok(client) => return Ok(Some(client)),
            Err(ControlError::NoAgent(_)) => {}
            // A socket of another user does not end the search.
            Err(error) => untrusted = untrusted.or(Some(error)),
        }
    }
    match untrusted {
        Some(error) if process.has_thread(CONTROL_THREAD) => Err(refused(error)),
        _ => Ok(None),
    }
}

/// Fails if the JVM cannot answer after the wait `waited`: it has ended, is stopped, or lacks a
/// file descriptor for this connection.
fn look_at(process: &Process, is_accepted: bool, waited: Duration) -> Result<(), ControlError> {
    let looked = process.check_answers().and_then(|()| match is_accepted {
        true => Ok(()),
        false if waited < SILENCE => process.check_descriptors(1),
        false => process.check_descriptors_of_silent(),
    });
    looked.map_err(|error| {
        let help = match error {
            AttachError::Stopped(_) => GO_ON,
            _ => error.help(),
        };
        let refusal = Refusal::new(error.code(), error.to_string());
        ControlError::Refused(refusal.with("help", help))
    })
}

/// Returns the error for a request without an answer. For a stopped JVM it names the request.
fn unanswered(error: ControlError, request: &Request) -> Error {
    let problem = refused(error);
    if problem.code() != STOPPED {
        return problem;
    }
    let asked = name_of(request);
    problem.with(
        "asked",
        format!("`{asked}`, which runs once the JVM resumes"),
    )
}

/// Returns the name of a request.
fn name_of(request: &Request) -> String {
    let request = serde_json::to_value(request).unwrap_or_default();
    request["request"].as_str().unwrap_or_default().to_owned()
}

/// An agent that was found in a JVM, or loaded into it.
#[derive(Debug)]
pub struct ConnectedAgent {
    /// The agent.
    pub agent: Agent,
    /// The agent's state.
    pub status: Status,
    /// True if another command has loaded the agent.
    pub guest: bool,
}

/// Connects to the agent in the JVM `pid`; loads the agent if it is missing. One of several
/// simultaneous commands loads it, and the others connect.
///
/// # Errors
/// As [`Agent::connect`] and [`load`].
pub fn find_or_load(pid: i32, checked: &CheckedOptions) -> Result<ConnectedAgent, Error> {
    let begun = Instant::now();
    loop {
        match try_find_or_load(pid, checked)? {
            Some(found) => return Ok(found),
            None if begun.elapsed() < CROWD => std::thread::sleep(TURN),
            None => return Err(not_free(true)),
        }
    }
}

/// As [`find_or_load`], or nothing while another command loads the agent or ends it.
fn try_find_or_load(pid: i32, checked: &CheckedOptions) -> Result<Option<ConnectedAgent>, Error> {
    let (mut agent, guest) = match Agent::find(pid)? {
        Ok(agent) => (agent, true),
        Err(_) => match load(pid, checked)? {
            Loaded::RecordingTo(_) => (Agent::connect(pid)?, false),
            Loaded::ByAnother => return Ok(None),
        },
    };
    match agent.ask_for(&Request::Status) {
        Ok(status) => Ok(Some(ConnectedAgent {
            agent,
            status,
            guest,
        })),
        Err(problem) if agent.leaves(&problem) => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// Outcome of [`load`].
#[derive(Debug)]
pub enum Loaded {
    /// The agent records to this folder, as the JVM sees it.
    RecordingTo(PathBuf),
    /// Another command has loaded the agent meanwhile.
    ByAnother,
}

/// Loads the agent into a JVM without an agent, and prints the agent's messages.
///
/// # Errors
/// If the library is missing (`H0601`), the JVM cannot be reached (`H05xx`), the JVM does not see a
/// file that the agent must read (`H0607`), the JVM has an agent without a control channel
/// (`H0608`), a plugin cannot be compiled (`H01xx`), or the agent refuses to start (`H0508`).
pub fn load(pid: i32, checked: &CheckedOptions) -> Result<Loaded, Error> {
    let library = start::agent_library()?;
    let jvm = attachment::open(pid).map_err(Error::from)?;
    let process = jvm.process();
    process.check_libc().map_err(Error::from)?;
    let compiled = Precompiled::for_jvm(&checked.config, pid)?;
    let mut options = checked.options.clone();
    compiled.add_to(&mut options);
    options.metaspace = checked.metaspace.of_jvm(&jvm);
    let settings = checked.options.config.as_deref();
    settings.map_or(Ok(()), |file| jvm_files::check(process, file))?;
    options.output = Some(recording_folder::of_jvm(process, &library, checked)?);
    let placed = match jvm_files::reads(process, &library) {
        true => None,
        false => {
            let placed = PlacedFile::new(process, &library, &folder_of(&library));
            Some(placed.map_err(Error::from)?)
        }
    };
    let library = placed.as_ref().map_or(library.as_path(), PlacedFile::path);
    let messages = AgentMessages::new(process);
    options.later = true;
    options.messages = messages.as_ref().map(|messages| messages.path.clone());
    let output = options.output.clone().unwrap_or_default();
    let options = options.to_text();
    let (loaded, other) = load_when_free(
        || jvm.load(library, &options.to_string_lossy()),
        || process.has_thread(CONTROL_THREAD),
    );
    let said = messages.map(AgentMessages::take).unwrap_or_default();
    match loaded {
        Ok(()) => {
            // The refusals of earlier attempts are no longer true.
            let said = said.iter();
            said.filter(|line| !line.contains(IGNORED)).for_each(say);
            Ok(Loaded::RecordingTo(output))
        }
        Err(AttachError::AgentFailed(ALREADY_THERE)) if other => Ok(Loaded::ByAnother),
        Err(AttachError::AgentFailed(ALREADY_THERE)) => Err(not_free(other)),
        Err(error @ AttachError::AgentFailed(_)) if !said.is_empty() => {
            let problem = Error::mistake(error.code(), "the agent did not start in the JVM");
            let found = said.into_iter();
            Err(found.fold(problem, |problem, line| problem.with("found", line)))
        }
        Err(error) => Err(Error::from(error)),
    }
}

/// Loads an agent, and tries again while another agent is leaving the JVM. The second result is
/// true if another agent was seen listening.
fn load_when_free(
    mut load: impl FnMut() -> Result<(), AttachError>,
    listens: impl Fn() -> bool,
) -> (Result<(), AttachError>, bool) {
    let is_taken = |loaded: &Result<(), AttachError>| {
        matches!(loaded, Err(AttachError::AgentFailed(ALREADY_THERE)))
    };
    let mut loaded = load();
    let mut other = false;
    let begun = Instant::now();
    while is_taken(&loaded) && begun.elapsed() < LEAVING {
        other |= listens();
        std::thread::sleep(BETWEEN_ATTEMPTS);
        if !listens() {
            loaded = load();
        }
    }
    (loaded, other)
}

/// Returns the error for a JVM with an earlier agent: that of another command, or one without a
/// control channel.
fn not_free(other: bool) -> Error {
    if other {
        return already_there()
            .with(
                "found",
                "another command is attaching to this JVM or leaving it",
            )
            .with("help", "try again");
    }
    already_there()
        .with("found", "its control channel is off (control=off), or it is starting or leaving for another command")
        .with("help", "try again; if it fails again, report the existing recording, or restart the JVM")
}

/// The file in which an agent leaves its messages for the command that attaches it.
struct AgentMessages {
    file: NamedTempFile,
    /// Keeps the folder open: the file's path leads through it.
    _tmp: JvmTmp,
    /// The path under which the JVM sees the file.
    path: PathBuf,
}

impl AgentMessages {
    /// Creates the file in the JVM's `/tmp`, owned by the JVM's user. Returns nothing if that fails: the
    /// messages are also on the JVM's standard error.
    fn new(process: &Process) -> Option<Self> {
        let tmp = JvmTmp::open(process).ok()?;
        let file = temporary::file(&tmp.path()).ok()?;
        tmp.give(file.path()).ok()?;
        Some(Self {
            path: tmp.seen(file.path()),
            file,
            _tmp: tmp,
        })
    }

    /// Returns the lines without their `classhook: ` prefix.
    fn take(self) -> Vec<String> {
        let text = std::fs::read(self.file.path()).unwrap_or_default();
        let line = |line: &str| line.strip_prefix("classhook: ").unwrap_or(line).to_owned();
        String::from_utf8_lossy(&text).lines().map(line).collect()
    }
}

/// Returns the error for a request that conflicts with an agent already in the JVM.
#[must_use]
pub fn already_there() -> Error {
    Error::mistake(codes::H0608, "the agent is in this JVM already")
}

/// Returns the name of the folder for the copied library, for a JVM that cannot see or read the
/// original. It depends on the library alone, so a JVM that had the copy before finds it loaded by
/// its path.
#[must_use]
pub fn folder_of(library: &Path) -> String {
    let found = std::fs::metadata(library);
    let (length, time) = found.map_or((0, 0), |found| (found.len(), found.mtime()));
    let version = env!("CARGO_PKG_VERSION");
    format!(".classhook-library-{version}-{length:x}-{time:x}")
}

fn refused(error: ControlError) -> Error {
    error.refusal().into()
}

/// Returns the error for a JVM in which no agent listens: no agent is loaded, or the control
/// channel is off.
fn absent(process: &Process) -> Error {
    let pid = process.pid();
    let problem = Error::mistake(codes::H0701, format!("no agent listens in the JVM {pid}"));
    if process.maps(AGENT_LIBRARY) == Some(true) {
        return problem
            .with("found", format!("{AGENT_LIBRARY} is loaded: an agent has left the JVM, as after every visit"))
            .with("help", format!("`classhook attach {pid}` loads it again. If an agent is there, its control channel is off (control=off), or the JVM's standard error has the cause"));
    }
    problem.with(
        "help",
        format!("`classhook attach {pid}` loads one; no restart is needed"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn leaving_agent_is_awaited_and_staying_agent_is_an_error() {
        let there = || Err(AttachError::AgentFailed(ALREADY_THERE));
        let attempts = Cell::new(0);
        let leaving = || {
            attempts.set(attempts.get() + 1);
            if attempts.get() < 2 { there() } else { Ok(()) }
        };
        let asked = Cell::new(0);
        let listens = || {
            asked.set(asked.get() + 1);
            asked.get() < 3
        };
        let (loaded, other) = load_when_free(leaving, listens);
        assert!(loaded.is_ok() && other);
        let (loaded, other) = load_when_free(there, || true);
        assert!(loaded.is_err() && other);
        let text = not_free(other).to_string();
        assert!(
            text.contains("error[H0608]") && text.contains("another command"),
            "{text}"
        );
        assert!(!text.contains("control=off"), "{text}");
        let (loaded, other) = load_when_free(there, || false);
        assert!(loaded.is_err() && not_free(other).to_string().contains("control=off"));
    }
}
