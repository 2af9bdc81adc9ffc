//! The command's side: one connection to an agent.

use crate::error::ControlError;
use crate::message::{ANSWER_LIMIT, AnswerLine, PROTOCOL, Request, write_request};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, getsockopt, recv, sockopt::PeerCredentials};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest wait for any answer.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Interval at which the client checks whether an answer can still arrive.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The expected process at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// The process id, in our pid namespace.
    pub pid: i32,
    /// Its effective user, in our user namespace.
    pub uid: u32,
}

/// An open connection to an agent.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<UnixStream>,
}

impl Client {
    /// Connects, and checks that the listening process is `peer`.
    ///
    /// # Errors
    ///
    /// [`ControlError::NoAgent`] if no process listens, [`ControlError::NotTrusted`] if another process does.
    pub fn connect(socket: &Path, peer: Peer) -> Result<Self, ControlError> {
        Self::over(UnixStream::connect(socket), socket, peer)
    }

    /// As [`Client::connect`], over a connection that was made to this socket.
    ///
    /// # Errors
    ///
    /// As [`Client::connect`].
    pub fn over(
        stream: io::Result<UnixStream>,
        socket: &Path,
        peer: Peer,
    ) -> Result<Self, ControlError> {
        let stream = stream.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                ControlError::NoAgent(socket.display().to_string())
            }
            _ => ControlError::socket(format!("connecting to {}", socket.display()))(error),
        })?;
        let failed = || ControlError::socket(format!("looking at {}", socket.display()));
        let found = getsockopt(&stream, PeerCredentials).map_err(|error| failed()(error.into()))?;
        if (found.pid(), found.uid()) != (peer.pid, peer.uid) {
            return Err(ControlError::NotTrusted(format!(
                "process {} of user {} listens at {}, not process {} of user {}",
                found.pid(),
                found.uid(),
                socket.display(),
                peer.pid,
                peer.uid
            )));
        }
        stream
            .set_read_timeout(Some(CHECK_INTERVAL))
            .map_err(failed())?;
        stream.set_write_timeout(Some(TIMEOUT)).map_err(failed())?;
        Ok(Self {
            stream: BufReader::new(stream),
        })
    }

    /// Checks whether the agent has closed the connection, as it does when it leaves.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
        let found = recv(self.stream.get_ref().as_raw_fd(), &mut [0], flags);
        matches!(found, Ok(0) | Err(Errno::ECONNRESET))
    }

    /// Sends a request and returns the agent's answer.
    ///
    /// # Errors
    ///
    /// [`ControlError::Refused`] with the agent's reason, or [`ControlError::NoAnswer`].
    pub fn ask(&mut self, request: &Request) -> Result<Value, ControlError> {
        let begun = Instant::now();
        self.ask_while(request, &mut || {
            let quiet = || ControlError::NoAnswer(format!("nothing for {} s", TIMEOUT.as_secs()));
            (begun.elapsed() < TIMEOUT).then_some(()).ok_or_else(quiet)
        })
    }

    /// As [`Client::ask`], until `look`, which is called every second, returns an error.
    ///
    /// # Errors
    ///
    /// As [`Client::ask`], or the error of `look`.
    pub fn ask_while(
        &mut self,
        request: &Request,
        look: &mut dyn FnMut() -> Result<(), ControlError>,
    ) -> Result<Value, ControlError> {
        let no_answer = |error: io::Error| ControlError::NoAnswer(error.to_string());
        let bytes = write_request(request).map_err(|error| {
            ControlError::NoAnswer(format!("the request cannot be serialized: {error}"))
        })?;
        self.stream.get_mut().write_all(&bytes).map_err(no_answer)?;
        let mut line = Vec::new();
        let limit = u64::try_from(ANSWER_LIMIT).unwrap_or(u64::MAX);
        let mut stream = (&mut self.stream).take(limit);
        while let Err(error) = stream.read_until(b'\n', &mut line) {
            if error.kind() != io::ErrorKind::WouldBlock {
                return Err(no_answer(error));
            }
            look()?;
        }
        read_answer(&line)
    }

    /// As [`Client::ask`], with the answer deserialized.
    ///
    /// # Errors
    ///
    /// As [`Client::ask`].
    pub fn ask_for<T: DeserializeOwned>(&mut self, request: &Request) -> Result<T, ControlError> {
        serde_json::from_value(self.ask(request)?).map_err(|error| unreadable(&error.to_string()))
    }
}

fn read_answer(line: &[u8]) -> Result<Value, ControlError> {
    if line.is_empty() {
        return Err(ControlError::NoAnswer(
            "it closed the connection".to_owned(),
        ));
    }
    let said: AnswerLine =
        serde_json::from_slice(line).map_err(|error| unreadable(&error.to_string()))?;
    if said.protocol != PROTOCOL {
        return Err(ControlError::OtherProtocol(said.protocol));
    }
    match (said.ok, said.error) {
        (_, Some(refusal)) => Err(ControlError::Refused(refusal)),
        (ok, None) => Ok(ok.unwrap_or_default()),
    }
}

fn unreadable(error: &str) -> ControlError {
    ControlError::NoAnswer(format!("its answer cannot be read: {error}"))
}
