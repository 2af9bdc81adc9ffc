//! The handshake, and the commands of an open attach channel.

use crate::error::{AttachError, SIGQUIT};
use crate::process::Process;
use crate::protocol::{Answer, Version, fits_v1, request};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, fchown};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time in which the JVM must open its socket.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Longest wait for a listener that another process has requested.
const OTHER_LISTENER: Duration = Duration::from_secs(2);
/// Timeout of a command that any JVM answers soon.
const ANSWER: Duration = Duration::from_secs(120);
/// Commands whose time grows with the heap or the threads of the JVM; they have no timeout.
const LONG: [&str; 4] = ["inspectheap", "dumpheap", "threaddump", "jcmd"];
/// Time until the first report of a wait, and between further ones.
const FIRST_REPORT: Duration = Duration::from_secs(4);
const NEXT_REPORT: Duration = Duration::from_secs(30);
/// Interval of checks of the JVM while a command waits for its answer.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Largest answer read, in bytes.
const ANSWER_LIMIT: u64 = 64 << 20;

/// Number of descriptors that the JVM needs for an attach command: its socket, the connection, and a file for the
/// command.
const DESCRIPTORS: u64 = 3;

/// A JVM with a started attach listener. Every command opens its own connection.
#[derive(Debug)]
pub struct Attachment {
    process: Process,
    socket: PathBuf,
    report: Report,
}

/// Receives the waits for answers that take long.
pub type Report = fn(&Pending<'_>);

/// A command that the JVM has not answered yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pending<'a> {
    /// The pid of the JVM.
    pub pid: i32,
    /// The command.
    pub command: &'a str,
    /// Seconds waited so far.
    pub seconds: u64,
}

impl Attachment {
    /// Starts the attach listener of the JVM `pid`, unless it is running.
    ///
    /// # Errors
    ///
    /// Any [`AttachError`] except those of commands. Nothing is left behind in the JVM or on disk.
    pub fn open(pid: i32) -> Result<Attachment, AttachError> {
        Self::open_reporting(pid, |_| ())
    }

    /// As [`Attachment::open`]; `report` receives each wait for an answer after some seconds.
    ///
    /// # Errors
    /// As [`Attachment::open`].
    pub fn open_reporting(pid: i32, report: Report) -> Result<Attachment, AttachError> {
        let process = Process::read(pid)?;
        process.check_permission()?; // the JVM accepts requests of its own user and of root
        if !process.is_jvm() {
            return Err(AttachError::NotJvm(pid));
        }
        process.check_answers()?;
        process.check_files()?;
        process.check_descriptors(DESCRIPTORS)?;
        let socket = process.path_in_root(&format!("/tmp/.java_pid{}", process.namespace_pid()));
        remove_left(&process, &socket);
        if !listens(&process, &socket)? {
            wake_listener(&process, &socket)?;
        }
        check_owner(&process, &socket)?;
        Ok(Attachment {
            process,
            socket,
            report,
        })
    }

    /// The process of the JVM.
    #[must_use]
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Runs one attach command.
    ///
    /// # Errors
    ///
    /// [`AttachError::Refused`] if the JVM answers with a status other than 0, or closes the connection.
    /// [`AttachError::Silent`] if it does not answer in time.
    pub fn command(&self, command: &str, arguments: &[&str]) -> Result<Answer, AttachError> {
        let version = if fits_v1(arguments) {
            Version::V1
        } else {
            self.long_argument_version()
        };
        let answer = self.exchange(&request(version, command, arguments)?, command)?;
        if answer.status == 0 {
            Ok(answer)
        } else {
            Err(refused(command, &answer.text))
        }
    }

    /// Loads an agent library (`load LIB true OPTIONS`): `Agent_OnAttach` runs in the JVM. `library` is a path in the
    /// JVM's file system.
    ///
    /// # Errors
    ///
    /// [`AttachError::Refused`] with the JVM's message, [`AttachError::AgentFailed`] with the result of
    /// `Agent_OnAttach`.
    pub fn load(&self, library: &Path, options: &str) -> Result<(), AttachError> {
        let path = library.to_string_lossy();
        let answer = self.command("load", &[&path, "true", options])?;
        match answer.agent_result() {
            Some(0) => Ok(()),
            Some(code) => Err(AttachError::AgentFailed(code)),
            None => Err(refused("load", &answer.text)),
        }
    }

    /// The JVM's system properties, as the text of `java.util.Properties`.
    ///
    /// # Errors
    /// As [`Attachment::command`].
    pub fn properties(&self) -> Result<String, AttachError> {
        Ok(self.command("properties", &[])?.text)
    }

    /// Runs a diagnostic command (`jcmd PID …`).
    ///
    /// # Errors
    /// As [`Attachment::command`].
    pub fn jcmd(&self, line: &str) -> Result<String, AttachError> {
        Ok(self.command("jcmd", &[line])?.text)
    }

    fn long_argument_version(&self) -> Version {
        let understood = request(Version::V1, "getversion", &[])
            .and_then(|bytes| self.exchange(&bytes, "getversion"))
            .is_ok_and(|answer| {
                answer.status == 0
                    && answer
                        .text
                        .split_whitespace()
                        .next()
                        .is_some_and(|v| v != "1")
            });
        if understood { Version::V2 } else { Version::V1 }
    }

    fn exchange(&self, bytes: &[u8], command: &str) -> Result<Answer, AttachError> {
        let failed =
            || AttachError::io(format!("talking to the JVM over {}", self.socket.display()));
        let mut stream = self
            .process
            .connect_as_its_user(&self.socket)
            .map_err(failed())?;
        stream
            .set_read_timeout(Some(CHECK_INTERVAL))
            .map_err(failed())?;
        stream.write_all(bytes).map_err(failed())?;
        let (mut answer, begun) = (Vec::new(), Instant::now());
        let mut stream = stream.take(ANSWER_LIMIT);
        let mut next_report = FIRST_REPORT;
        while let Err(error) = stream.read_to_end(&mut answer) {
            if error.kind() != ErrorKind::WouldBlock {
                return Err(failed()(error));
            }
            check_answers(&self.process, command)?;
            let (waited, pid) = (begun.elapsed(), self.process.pid());
            let seconds = waited.as_secs();
            if waited > ANSWER && !LONG.contains(&command) {
                let command = command.to_owned();
                return Err(AttachError::Silent {
                    pid,
                    command,
                    seconds,
                });
            }
            if waited >= next_report {
                next_report = waited + NEXT_REPORT;
                (self.report)(&Pending {
                    pid,
                    command,
                    seconds,
                });
            }
            if answer.is_empty() {
                self.process.check_descriptors(1)?; // one for this connection, which the JVM may not have accepted yet
            }
        }
        Answer::parse(&answer).ok_or_else(|| refused(command, &String::from_utf8_lossy(&answer)))
    }
}

/// Checks that the process can answer `command`, which was sent already.
fn check_answers(process: &Process, command: &str) -> Result<(), AttachError> {
    process.check_answers().map_err(|error| match error {
        AttachError::Stopped(pid) => AttachError::StoppedMeanwhile {
            pid,
            command: command.to_owned(),
        },
        other => other,
    })
}

fn refused(command: &str, text: &str) -> AttachError {
    let answer = if text.trim().is_empty() {
        "it closed the connection"
    } else {
        text.trim()
    };
    AttachError::Refused {
        command: command.to_owned(),
        answer: answer.to_owned(),
    }
}

/// Checks that the socket belongs to the JVM's user or to root.
fn check_owner(process: &Process, socket: &Path) -> Result<(), AttachError> {
    let metadata =
        fs::metadata(socket).map_err(AttachError::io(format!("reading {}", socket.display())))?;
    if metadata.uid() == process.effective_uid() || metadata.uid() == 0 {
        Ok(())
    } else {
        Err(AttachError::OtherUser {
            pid: process.pid(),
            owner: metadata.uid(),
            ours: process.effective_uid(),
        })
    }
}

/// Removes the socket that an earlier process of another user with the same pid has left.
///
/// Only root can: `/tmp` is sticky, so the JVM itself cannot replace it. A socket with a listener stays.
fn remove_left(process: &Process, socket: &Path) {
    let is_left = |found: fs::Metadata| {
        let is_dead = || {
            let connected = UnixStream::connect(socket);
            connected.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
        };
        found.file_type().is_socket() && found.uid() != process.effective_uid() && is_dead()
    };
    if rustix::process::geteuid().is_root() && fs::symlink_metadata(socket).is_ok_and(is_left) {
        let _ = fs::remove_file(socket); // if it stays, connecting reports the cause
    }
}

/// Checks whether a process accepts connections at the socket. A killed JVM leaves its socket behind, and the next
/// process with its pid does not listen. HotSpot ignores a connection without a request.
fn listens(process: &Process, socket: &Path) -> Result<bool, AttachError> {
    match process.connect_as_its_user(socket) {
        Ok(_) => Ok(true),
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::ConnectionRefused
            ) =>
        {
            Ok(false)
        }
        Err(error) => Err(AttachError::io(format!(
            "connecting to {}",
            socket.display()
        ))(error)),
    }
}

/// Requests the attach listener: creates the file `.attach_pidN` for the JVM, then sends SIGQUIT.
fn wake_listener(process: &Process, socket: &Path) -> Result<(), AttachError> {
    if !process.catches_sigquit() || disables_attach(process) {
        return Err(AttachError::Disabled(process.pid()));
    }
    check_tmp(process)?;
    if RequestFile::is_there(process) && await_other(process, socket)? {
        return Ok(());
    }
    let request = RequestFile::create(process)?;
    let pid = rustix::process::Pid::from_raw(process.pid())
        .ok_or(AttachError::NoProcess(process.pid()))?;
    let deadline = Instant::now() + HANDSHAKE;
    let mut pause = Duration::from_millis(2);
    rustix::process::kill_process(pid, rustix::process::Signal::QUIT).map_err(|error| {
        AttachError::io(format!("sending SIGQUIT to {}", process.pid()))(error.into())
    })?;
    while !listens(process, socket)? {
        check_answers(process, SIGQUIT)?;
        process.check_descriptors(1)?; // for the socket
        if Instant::now() > deadline {
            process.check_descriptors_of_silent()?;
            return Err(AttachError::NoAnswer {
                pid: process.pid(),
                socket: format!("/tmp/.java_pid{}", process.namespace_pid()),
                seconds: HANDSHAKE.as_secs(),
            });
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(100));
    }
    drop(request);
    Ok(())
}

/// Waits for the listener that another process has requested, and returns true once it is running. A second SIGQUIT
/// could make the JVM print its threads.
fn await_other(process: &Process, socket: &Path) -> Result<bool, AttachError> {
    let deadline = Instant::now() + OTHER_LISTENER;
    while Instant::now() < deadline {
        check_answers(process, SIGQUIT)?;
        if listens(process, socket)? {
            return Ok(true);
        }
        if !RequestFile::is_there(process) {
            return listens(process, socket);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(false)
}

/// Checks that the JVM has a writable `/tmp`. HotSpot opens its socket there, whatever `java.io.tmpdir` is; without it,
/// the wait would be in vain.
fn check_tmp(process: &Process) -> Result<(), AttachError> {
    let (pid, tmp) = (process.pid(), process.path_in_root("/tmp"));
    if !tmp.is_dir() {
        let found = "missing";
        return Err(AttachError::NoTmp { pid, found });
    }
    let read_only =
        |found: rustix::fs::StatVfs| found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY);
    if rustix::fs::statvfs(&tmp).is_ok_and(read_only) {
        let found = "read-only";
        return Err(AttachError::NoTmp { pid, found });
    }
    Ok(())
}

fn disables_attach(process: &Process) -> bool {
    process
        .command_line()
        .iter()
        .any(|argument| argument == "-XX:+DisableAttachMechanism")
}

/// The file `.attach_pidN`, removed when dropped.
struct RequestFile(PathBuf);

impl RequestFile {
    fn places(process: &Process) -> [PathBuf; 2] {
        let name = format!(".attach_pid{}", process.namespace_pid());
        [
            process.working_directory().join(&name),
            process.path_in_root(&format!("/tmp/{name}")),
        ]
    }

    /// Checks whether a process requests the listener now, or was killed while it did.
    fn is_there(process: &Process) -> bool {
        Self::places(process).iter().any(|place| place.exists())
    }

    /// Creates the file in the JVM's working directory, else in its `/tmp`: the JVM searches these two folders.
    fn create(process: &Process) -> Result<RequestFile, AttachError> {
        let mut last = None;
        for place in Self::places(process) {
            match fs::File::create(&place) {
                Ok(file) => {
                    let created = RequestFile(place);
                    // The JVM accepts files of its user and of root, which its user namespace may not map.
                    if rustix::process::geteuid().as_raw() != process.effective_uid() {
                        let _ = fchown(&file, Some(process.effective_uid()), None);
                    }
                    return Ok(created);
                }
                Err(error) => last = Some((place, error)),
            }
        }
        let (place, source) = last.unwrap_or_else(|| (PathBuf::new(), ErrorKind::NotFound.into()));
        Err(AttachError::Io {
            what: format!("creating {}", place.display()),
            source,
        })
    }
}

impl Drop for RequestFile {
    fn drop(&mut self) {
        // The JVM ignores a stale file, so an error here has no effect.
        let _ = fs::remove_file(&self.0);
    }
}
