//! The JVM's side: one thread that waits for clients, and a function that answers them.
//!
//! A client can neither block nor kill the server, nor make it use much memory. Every read and write is non-blocking. A
//! read takes no more bytes than a command has. The number of connections and the bytes that wait for clients are
//! bounded. A client that speaks another protocol, or does not read in time, is dropped.

use super::Command;
use super::connection::Connection;
use crate::server::{Stopper, pause_for_descriptors};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Largest number of connections. One more closes the connection that has been idle for the longest time.
const CONNECTIONS: usize = 16;
/// No command is read while this many bytes wait for clients to read them.
const PENDING: usize = 64 << 20;
/// Time at the end in which the server sends the coverage data to connected clients, for all of them together.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// A server of JaCoCo's protocol at one address.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    stop: UnixStream,
}

impl Server {
    /// Listens at this address. Port 0 selects a free port.
    ///
    /// # Errors
    ///
    /// If the system refuses, for example because the port is in use.
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

    /// The address at which the server listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers commands until [`Stopper::stop`], then sends the coverage data once more to the clients that are
    /// connected.
    ///
    /// `answer` returns the requested blocks of an `.exec` file, without a header. If it returns `None`, the client is
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
        drop(self); // accepts no more clients
        finish(connections, &mut answer);
    }

    /// Sleeps until a client connects, sends or can take bytes. Returns `None` if the server shall end.
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
            Err(_) => return pause_for_descriptors(&self.stop),
        };
        let Ok(connection) = Connection::new(stream) else {
            return;
        };
        if connections.len() >= CONNECTIONS {
            let silent = connections.iter().enumerate();
            let silent = silent.filter(|(_, connection)| connection.pending() == 0);
            let silent = silent.min_by_key(|(_, connection)| connection.since());
            let Some(index) = silent.map(|(index, _)| index) else {
                return; // all clients are reading their answers
            };
            connections.swap_remove(index);
        }
        connections.push(connection);
    }
}

/// The sockets that are ready.
struct Ready {
    listener: bool,
    connections: Vec<PollFlags>,
}

/// Sends the coverage data to connected clients, as JaCoCo's agent does when its JVM ends.
fn finish(connections: Vec<Connection>, answer: &mut impl FnMut(Command) -> Option<Vec<u8>>) {
    let due = Instant::now() + LAST_ANSWERS;
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
