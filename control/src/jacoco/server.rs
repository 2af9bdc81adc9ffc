//! The JVM's side: one thread that waits for clients, and a function that answers them.
//!
//! A client can neither block nor kill the server, nor make it keep much: nothing is read or written that would wait, no more
//! is read than a command has, the number of connections and the bytes that wait for their readers are bounded, and who
//! says something else, or does not read in time, is dropped.

use super::Command;
use super::connection::Connection;
use crate::server::{Stopper, breathe};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Connections at a time; for one more, the one that was silent for the longest time is closed.
const CONNECTIONS: usize = 16;
/// No command is read while so many bytes wait for clients to read them.
const PENDING: usize = 64 << 20;
/// How long clients are told something at the end, all of them together.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Listens at an address.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    stop: UnixStream,
}

impl Server {
    /// Listens at this address; with port 0, at a port that is free.
    ///
    /// # Errors
    /// If that cannot be, for example because the port is in use.
    pub fn open(address: SocketAddr) -> io::Result<(Self, Stopper)> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopper) = Stopper::pair()?;
        let server = Self {
            listener,
            address,
            stop,
        };
        Ok((server, stopper))
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers commands until [`Stopper::stop`]; clients that are there then are told once more what was executed.
    ///
    /// `answer` gives the blocks of an `.exec` file that were asked for, without a header; without an answer the client is
    /// dropped.
    pub fn run(self, mut answer: impl FnMut(Command) -> Option<Vec<u8>>) {
        let mut connections: Vec<Connection> = Vec::new();
        while let Some(ready) = self.wait(&connections) {
            for (connection, events) in connections.iter_mut().zip(&ready.connections) {
                connection.serve(*events, &mut answer);
            }
            connections.retain(|connection| !connection.is_over());
            if ready.listener {
                self.accept(&mut connections);
            }
        }
        drop(self); // nobody else comes
        finish(connections, &mut answer);
    }

    /// Sleeps until a client connects, sends or takes something; `None` when the server is to end.
    fn wait(&self, connections: &[Connection]) -> Option<Ready> {
        let pending: usize = connections.iter().map(Connection::pending).sum();
        let own = [self.stop.as_fd(), self.listener.as_fd()];
        let own = own.map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        let clients = connections.iter();
        let clients = clients.map(|connection| connection.poll_fd(pending < PENDING));
        let mut fds: Vec<PollFd<'_>> = own.into_iter().chain(clients).collect();
        let due = connections.iter().filter_map(Connection::due).min();
        let timeout = due.map_or(PollTimeout::NONE, |due| {
            PollTimeout::try_from(due).unwrap_or(PollTimeout::MAX)
        });
        if poll(&mut fds, timeout).is_err_and(|error| error != nix::Error::EINTR) {
            return None;
        }
        let events = fds.iter().map(|fd| fd.revents());
        let mut events = events.map(|events| events.unwrap_or(PollFlags::empty()));
        let mut any = || events.next().is_some_and(|events| !events.is_empty());
        let (stop, listener) = (any(), any());
        (!stop).then(|| Ready {
            listener,
            connections: events.collect(),
        })
    }

    fn accept(&self, connections: &mut Vec<Connection>) {
        let stream = match self.listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            Err(_) => return breathe(&self.stop),
        };
        let Ok(connection) = Connection::new(stream) else {
            return;
        };
        if connections.len() >= CONNECTIONS {
            let silent = connections.iter().enumerate();
            let silent = silent.filter(|(_, connection)| connection.pending() == 0);
            let silent = silent.min_by_key(|(_, connection)| connection.since());
            let Some(index) = silent.map(|(index, _)| index) else {
                return; // all of them are reading their answers
            };
            connections.swap_remove(index);
        }
        connections.push(connection);
    }
}

/// Who wants something.
struct Ready {
    listener: bool,
    connections: Vec<PollFlags>,
}

/// What JaCoCo's agent does when its JVM ends: it tells clients that are connected what was executed.
fn finish(connections: Vec<Connection>, answer: &mut impl FnMut(Command) -> Option<Vec<u8>>) {
    let due = Instant::now() + LAST_WORDS;
    let command = Command {
        dump: true,
        reset: false,
    };
    let listen = connections.iter().any(Connection::listens);
    let last = listen.then(|| answer(command)).flatten();
    for connection in connections {
        let data = last.clone().filter(|_| connection.listens());
        connection.finish(data, due);
    }
}
