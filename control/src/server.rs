//! The agent's side: one thread that waits for clients, and a function that answers them.
//!
//! Requests are answered one after another. Without requests the thread sleeps in `poll`.
//! A client can neither block nor kill it: nothing is read or written that would wait, lines and the
//! number of connections are bounded, and who takes no answer is dropped.

use crate::error::ControlError;
use crate::message::{Refusal, Request, Said, line, read_request};
use crate::socket::Socket;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use serde_json::Value;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longest request, in bytes.
pub const REQUEST_LIMIT: usize = 32 << 20;
/// Longest answer, in bytes.
pub const ANSWER_LIMIT: usize = 64 << 20;
/// Connections at a time; for one more, the one that was silent for the longest time is closed.
const CONNECTIONS: usize = 16;
/// How long a client may take to read what it asked for.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long to wait when the system has no file descriptor left for a client.
const BREATHER: Duration = Duration::from_millis(200);
/// Bytes read in one turn.
const CHUNK: usize = 1 << 16;

/// What the agent answers.
#[derive(Debug)]
pub struct Reply {
    /// The answer that belongs to the request, or why there is none.
    pub outcome: Result<Value, Refusal>,
    /// Whether the server ends once this is said.
    pub last: bool,
}

impl Reply {
    /// An answer after which the server goes on.
    #[must_use]
    pub fn new(outcome: Result<Value, Refusal>) -> Self {
        Self {
            outcome,
            last: false,
        }
    }
}

/// Listens at the socket of this process.
#[derive(Debug)]
pub struct Server {
    listener: UnixListener,
    socket: Socket,
    stop: UnixStream,
}

/// Ends a server from another thread.
#[derive(Debug)]
pub struct Stopper(UnixStream);

impl Stopper {
    /// Wakes the server, which ends after what it is doing.
    pub fn stop(&self) {
        let _ = (&self.0).write(&[0]); // the server has ended, or the byte is there already
    }
}

/// A client.
#[derive(Debug)]
struct Connection {
    stream: UnixStream,
    /// Who it is.
    user: u32,
    /// Read and not answered yet.
    input: Vec<u8>,
    /// Where the first line of `input` ends, if it is whole.
    line_end: Option<usize>,
    /// To be written.
    output: Vec<u8>,
    /// When it last said or took something.
    active: Instant,
    /// It will say no more.
    ended: bool,
}

impl Server {
    /// Makes the socket of this process below `tmp` (see [`crate::socket`]).
    ///
    /// # Errors
    /// If it cannot be made, or its folder belongs to another user.
    pub fn open(tmp: &Path) -> Result<(Self, Stopper), ControlError> {
        let (socket, listener) = Socket::listen(tmp)?;
        let made = listener
            .set_nonblocking(true)
            .and_then(|()| UnixStream::pair());
        let (stop, stopper) = made.map_err(ControlError::socket("preparing the socket"))?;
        let server = Self {
            listener,
            socket,
            stop,
        };
        Ok((server, Stopper(stopper)))
    }

    /// The socket, for messages.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.socket.path()
    }

    /// Answers requests, each with the user who asks, until [`Stopper::stop`], or until an answer says that it is the last.
    /// The socket is gone afterwards.
    pub fn run(self, mut answer: impl FnMut(Request, u32) -> Reply) {
        let mut connections: Vec<Connection> = Vec::new();
        loop {
            let Some(ready) = self.wait(&connections) else {
                return;
            };
            let mut parties = connections.iter_mut().zip(&ready.connections);
            let last =
                parties.position(|(connection, events)| connection.serve(*events, &mut answer));
            if let Some(index) = last {
                drop(self); // whoever reads the answer finds no socket any more
                return connections.swap_remove(index).finish();
            }
            connections.retain(|connection| !connection.is_over());
            if ready.listener {
                self.accept(&mut connections);
            }
        }
    }

    /// Sleeps until a client connects or sends something; `None` when the server is to end.
    fn wait(&self, connections: &[Connection]) -> Option<Ready> {
        let mut fds = vec![
            PollFd::new(self.stop.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.listener.as_fd(), PollFlags::POLLIN),
        ];
        fds.extend(connections.iter().map(Connection::poll_fd));
        let timeout = connections.iter().filter_map(Connection::due).min();
        let timeout = timeout.map_or(PollTimeout::NONE, |left| {
            PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
        });
        if poll(&mut fds, timeout).is_err_and(|error| error != nix::Error::EINTR) {
            return None;
        }
        let mut events = fds
            .iter()
            .map(|fd| fd.revents().unwrap_or(PollFlags::empty()));
        let stop = events.next().is_some_and(|events| !events.is_empty());
        let listener = events.next().is_some_and(|events| !events.is_empty());
        (!stop).then(|| Ready {
            listener,
            connections: events.collect(),
        })
    }

    fn accept(&self, connections: &mut Vec<Connection>) {
        match self.listener.accept() {
            Ok((stream, _)) => {
                let Some(user) = who_may_ask(&stream) else {
                    return;
                };
                if stream.set_nonblocking(true).is_err() {
                    return;
                }
                if connections.len() >= CONNECTIONS {
                    let silent = connections
                        .iter()
                        .enumerate()
                        .min_by_key(|(_, connection)| connection.active);
                    if let Some(index) = silent.map(|(index, _)| index) {
                        connections.swap_remove(index);
                    }
                }
                connections.push(Connection::new(stream, user));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => {
                // `poll` would return at once, again and again, as long as there is no descriptor.
                let mut stop = [PollFd::new(self.stop.as_fd(), PollFlags::POLLIN)];
                let _ = poll(
                    &mut stop,
                    PollTimeout::try_from(BREATHER).unwrap_or(PollTimeout::ZERO),
                );
            }
        }
    }
}

/// Who wants something.
struct Ready {
    listener: bool,
    connections: Vec<PollFlags>,
}

/// The user that this process runs as, or root; others cannot even enter the folder.
fn who_may_ask(stream: &UnixStream) -> Option<u32> {
    let ours = rustix::process::geteuid().as_raw();
    let peer = getsockopt(stream, PeerCredentials).ok()?.uid();
    (peer == ours || peer == 0).then_some(peer)
}

impl Connection {
    fn new(stream: UnixStream, user: u32) -> Self {
        Self {
            stream,
            user,
            input: Vec::new(),
            line_end: None,
            output: Vec::new(),
            active: Instant::now(),
            ended: false,
        }
    }

    /// It is asked for more only when it has taken its answers.
    fn poll_fd(&self) -> PollFd<'_> {
        let events = if self.output.is_empty() {
            PollFlags::POLLIN
        } else {
            PollFlags::POLLOUT
        };
        PollFd::new(self.stream.as_fd(), events)
    }

    /// How long until something is to be done even if the client does nothing.
    fn due(&self) -> Option<Duration> {
        if self.output.is_empty() {
            return self.line_end.map(|_| Duration::ZERO);
        }
        let left = PATIENCE.saturating_sub(self.active.elapsed());
        Some(left + Duration::from_millis(1))
    }

    /// Takes what is ready and answers at most one request; true after the last answer.
    fn serve(&mut self, events: PollFlags, answer: &mut impl FnMut(Request, u32) -> Reply) -> bool {
        if self.output.is_empty() && !events.is_empty() {
            self.read();
        }
        let mut last = false;
        if self.output.is_empty()
            && let Some(line) = self.take_line()
        {
            last = self.answer(&line, answer);
        }
        if !last {
            self.write();
        }
        last
    }

    fn answer(&mut self, request: &[u8], answer: &mut impl FnMut(Request, u32) -> Reply) -> bool {
        let reply = match read_request(request) {
            Ok(request) => answer(request, self.user),
            Err(refusal) => Reply::new(Err(refusal)),
        };
        self.say(reply.outcome);
        reply.last
    }

    fn say(&mut self, outcome: Result<Value, Refusal>) {
        let refused = |refusal| line(&Said::new(Err(refusal))).unwrap_or_default();
        self.output = match line(&Said::new(outcome)) {
            Ok(said) if said.len() <= ANSWER_LIMIT => said,
            Ok(said) => refused(Refusal::new(
                "H0705",
                format!(
                    "the answer has {} bytes, at most {ANSWER_LIMIT} are sent",
                    said.len()
                ),
            )),
            Err(error) => refused(Refusal::new("H0705", error.to_string())),
        };
        self.active = Instant::now();
    }

    fn read(&mut self) {
        let mut chunk = vec![0; CHUNK];
        match self.stream.read(&mut chunk) {
            Ok(0) => self.ended = true,
            Ok(length) => {
                let chunk = chunk.get(..length).unwrap_or_default();
                let end = chunk.iter().position(|byte| *byte == b'\n');
                let before = self.input.len();
                self.line_end = self.line_end.or(end.map(|end| before + end));
                self.input.extend_from_slice(chunk);
                self.active = Instant::now();
                if self.line_end.is_none() && self.input.len() > REQUEST_LIMIT {
                    self.give_up();
                    let expected = format!("a line of at most {REQUEST_LIMIT} bytes");
                    let refusal = Refusal::new("H0705", "the request is too long");
                    self.say(Err(refusal.with("expected", expected)));
                }
            }
            Err(error) if is_for_later(&error) => {}
            Err(_) => self.give_up(),
        }
    }

    /// The first whole line, without its end.
    fn take_line(&mut self) -> Option<Vec<u8>> {
        let end = self.line_end.take()?;
        let rest = self.input.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.input, rest);
        line.pop();
        self.line_end = self.input.iter().position(|byte| *byte == b'\n');
        Some(line)
    }

    fn write(&mut self) {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(0) => return self.give_up(),
                Ok(length) => {
                    self.output.drain(..length);
                    self.active = Instant::now();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_for_later(&error) => {
                    if self.active.elapsed() > PATIENCE {
                        self.give_up();
                    }
                    return;
                }
                Err(_) => return self.give_up(),
            }
        }
    }

    /// Nothing more is taken from the client, and nothing that waits is written.
    fn give_up(&mut self) {
        self.input = Vec::new();
        self.line_end = None;
        self.output = Vec::new();
        self.ended = true;
    }

    /// Whether nothing is left to be said.
    fn is_over(&self) -> bool {
        self.ended && self.line_end.is_none() && self.output.is_empty()
    }

    /// Writes the rest of the last answer, blocking until the client has read if it must.
    fn finish(mut self) {
        let _ = self.stream.set_nonblocking(false);
        let _ = self.stream.set_write_timeout(Some(PATIENCE));
        let _ = self.stream.write_all(&self.output);
    }
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

#[cfg(test)]
mod tests;
