//! The agent's side: one thread that waits for clients, and a function that answers them.
//!
//! Requests of one client are answered one after another. A slow answer is sent by another thread, so it does not delay
//! other clients. A client can neither block nor kill the server: every read and write is non-blocking, the length of
//! lines and the number of connections are bounded, and a client that does not read its answer is dropped.

use crate::answer::{Answer, IncomingRequest, Reply, Ticket};
use crate::client_process::ProcessState;
use crate::connection::{ClientId, Connection, Turn};
use crate::error::ControlError;
use crate::leases::Leases;
use crate::message::Request;
use crate::socket::Socket;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// Largest number of connections. One more closes the connection that has been idle for the longest time.
const CONNECTIONS: usize = 16;
/// Pause while the system has no file descriptor left for a client.
const DESCRIPTOR_PAUSE: Duration = Duration::from_millis(200);
/// Time in which the command that loaded the agent must take a lease.
const LEASE_TIMEOUT: Duration = Duration::from_secs(30);
/// Interval of checks for the socket if the system has no inotify watch, and of attempts to create it again.
const SOCKET_CHECK: Duration = Duration::from_secs(1);

/// The ticket of a request without a client: its lease ended.
const NO_CLIENT: Ticket = Ticket(0);

/// Sends later answers to the server, from any thread.
#[derive(Debug, Clone)]
pub struct Answers {
    sender: mpsc::Sender<(Ticket, Reply)>,
    wake: Arc<UnixStream>,
}

impl Answers {
    /// Hands an answer to the server, which sends it if the client still waits.
    pub fn send(&self, ticket: Ticket, reply: Reply) {
        if self.sender.send((ticket, reply)).is_ok() {
            let _ = (&*self.wake).write(&[0]); // the server has ended, or the pipe is full
        }
    }
}

/// A server that listens at the socket of this process.
#[derive(Debug)]
pub struct Server {
    tmp: PathBuf,
    listener: UnixListener,
    socket: Socket,
    stop: UnixStream,
    woken: UnixStream,
    answers: Answers,
    later: mpsc::Receiver<(Ticket, Reply)>,
    /// The error of the last attempt to create the socket again, reported once.
    lost: Option<String>,
    /// The request to carry out if no client takes the lease in time.
    awaited: Option<(Request, Instant)>,
    leases: Leases,
    /// Reads the state of a client's process.
    look: fn(i32) -> ProcessState,
}

/// Ends a server from another thread.
#[derive(Debug)]
pub struct Stopper(UnixStream);

impl Stopper {
    /// A stream to poll, and the stopper that wakes it.
    ///
    /// # Errors
    ///
    /// If the system has no file descriptors left.
    pub(crate) fn pair() -> io::Result<(UnixStream, Self)> {
        UnixStream::pair().map(|(stop, stopper)| (stop, Self(stopper)))
    }

    /// Wakes the server, which ends after its current work.
    pub fn stop(&self) {
        let _ = (&self.0).write(&[0]); // the server has ended, or the pipe is full
    }
}

impl Server {
    /// Creates the socket of this process below `tmp` (see [`crate::socket`]).
    ///
    /// # Errors
    ///
    /// If the socket cannot be created.
    pub fn open(tmp: &Path) -> Result<(Self, Stopper), ControlError> {
        let (socket, listener) = Socket::listen(tmp)?;
        let streams = || {
            listener.set_nonblocking(true)?;
            let (stop, stopper) = Stopper::pair()?;
            let (woken, wake) = UnixStream::pair()?;
            woken.set_nonblocking(true)?;
            wake.set_nonblocking(true)?;
            Ok((stop, stopper, woken, wake))
        };
        let (stop, stopper, woken, wake) =
            streams().map_err(ControlError::socket("preparing the socket"))?;
        let (sender, later) = mpsc::channel();
        let server = Self {
            tmp: tmp.to_path_buf(),
            listener,
            socket,
            stop,
            woken,
            answers: Answers {
                sender,
                wake: Arc::new(wake),
            },
            later,
            lost: None,
            awaited: None,
            leases: Leases::default(),
            look: ProcessState::read,
        };
        Ok((server, stopper))
    }

    /// The path of the socket, for messages.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.socket.path()
    }

    /// Carries out a request of this process's own user, unless a client soon takes the lease that ends with it. The
    /// command that was to take it may have been killed.
    pub fn await_lease(&mut self, request: Request) {
        self.awaited = Some((request, Instant::now() + LEASE_TIMEOUT));
    }

    /// The leases that clients hold.
    #[must_use]
    pub fn leases(&self) -> Leases {
        self.leases.clone()
    }

    /// A handle for later answers.
    #[must_use]
    pub fn answers(&self) -> Answers {
        self.answers.clone()
    }

    /// Answers requests until [`Stopper::stop`], or until an answer is marked as the last. The socket is removed
    /// afterwards. If another process removes the socket, the server creates it again and reports the outcome to
    /// `report`.
    pub fn run(
        mut self,
        mut answer: impl FnMut(IncomingRequest) -> Answer,
        mut report: impl FnMut(Result<&Path, &str>),
    ) {
        let mut connections: Vec<Connection> = Vec::new();
        let mut number = NO_CLIENT.0;
        loop {
            let Some(ready) = self.wait(&connections) else {
                return;
            };
            let mut parties = connections.iter_mut().zip(&ready.connections);
            let mut last = parties.position(|(connection, events)| {
                connection.serve(*events, &mut answer) == Turn::Last
            });
            for (ticket, reply) in self.take_answers() {
                let found = connections
                    .iter()
                    .position(|found| found.ticket() == ticket);
                let ends = reply.last;
                if let Some(connection) = found.and_then(|index| connections.get_mut(index)) {
                    connection.send_later(reply);
                }
                if ends && found.is_none() {
                    return;
                }
                last = last.or(found.filter(|_| ends));
            }
            if let Some(index) = last {
                drop(self); // a client that reads the answer finds no socket any more
                return connections.swap_remove(index).finish();
            }
            // A lease of another command does not replace the awaited one.
            self.awaited.take_if(|(request, _)| {
                connections
                    .iter()
                    .any(|connection| connection.has_lease_for(request))
            });
            let look = self.look;
            let leases = connections.iter_mut();
            let leases = leases.filter_map(|connection| connection.ended_lease(look));
            for (request, user) in leases.chain(self.ended_wait()).collect::<Vec<_>>() {
                let ticket = NO_CLIENT;
                let asked = IncomingRequest {
                    request,
                    user,
                    ticket,
                };
                if matches!(answer(asked), Answer::Now(reply) if reply.last) {
                    return;
                }
            }
            connections.retain(|connection| !connection.is_over());
            if ready.listener {
                number += 1;
                self.accept(&mut connections, Ticket(number));
            }
            self.restore(&mut report);
        }
    }

    /// The awaited request, once the time for its lease is over.
    fn ended_wait(&mut self) -> Option<(Request, u32)> {
        let ended = self.awaited.take_if(|(_, due)| *due <= Instant::now());
        ended.map(|(request, _)| (request, rustix::process::geteuid().as_raw()))
    }

    /// Creates the socket again if another process removed it.
    fn restore(&mut self, report: &mut impl FnMut(Result<&Path, &str>)) {
        self.socket.take_events();
        if self.socket.is_there() {
            return;
        }
        let made = Socket::listen(&self.tmp).and_then(|(socket, listener)| {
            listener
                .set_nonblocking(true)
                .map_err(ControlError::socket("preparing the socket"))?;
            Ok((socket, listener))
        });
        match made {
            Ok((socket, listener)) => {
                (self.socket, self.listener) = (socket, listener);
                self.lost = None;
                report(Ok(&self.socket.path()));
            }
            Err(error) => {
                let text = error.to_string();
                if self.lost.as_ref() != Some(&text) {
                    report(Err(&text));
                    self.lost = Some(text);
                }
            }
        }
    }

    fn take_answers(&mut self) -> Vec<(Ticket, Reply)> {
        while self.woken.read(&mut [0; 64]).is_ok_and(|read| read > 0) {}
        self.later.try_iter().collect()
    }

    /// Sleeps until a client connects or sends bytes. Returns `None` if the server shall end.
    fn wait(&self, connections: &[Connection]) -> Option<Ready> {
        let watch = self.socket.watch();
        let own = [&self.stop, &self.woken].map(AsFd::as_fd);
        let own = own.into_iter().chain([self.listener.as_fd()]);
        let watched = watch.unwrap_or(self.woken.as_fd());
        let mut fds: Vec<PollFd<'_>> = own
            .chain([watched])
            .map(|fd| PollFd::new(fd, PollFlags::POLLIN))
            .collect();
        fds.extend(connections.iter().map(Connection::poll_fd));
        let check = (watch.is_none() || self.lost.is_some()).then_some(SOCKET_CHECK);
        let awaited = self.awaited.as_ref();
        let awaited = awaited.map(|(_, due)| due.saturating_duration_since(Instant::now()));
        let due = connections.iter().filter_map(Connection::due);
        let left = due.chain(check).chain(awaited).min();
        let timeout = left.map_or(PollTimeout::NONE, |left| {
            PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
        });
        if poll(&mut fds, timeout).is_err_and(|error| error != nix::Error::EINTR) {
            return None;
        }
        let mut events = fds
            .iter()
            .map(|fd| fd.revents().unwrap_or(PollFlags::empty()));
        let mut any = || events.next().is_some_and(|events| !events.is_empty());
        let (stop, _woken, listener, _watch) = (any(), any(), any(), any());
        (!stop).then(|| Ready {
            listener,
            connections: events.collect(),
        })
    }

    fn accept(&self, connections: &mut Vec<Connection>, ticket: Ticket) {
        match self.listener.accept() {
            Ok((stream, _)) => {
                let Some(client) = permitted_client(&stream) else {
                    return;
                };
                if stream.set_nonblocking(true).is_err() {
                    return;
                }
                if connections.len() >= CONNECTIONS {
                    let silent = connections.iter().enumerate();
                    let silent = silent.filter(|(_, connection)| !connection.is_at_work());
                    let silent = silent.min_by_key(|(_, connection)| connection.active());
                    let Some(index) = silent.map(|(index, _)| index) else {
                        return; // all clients wait for an answer, or hold a lease
                    };
                    connections.swap_remove(index);
                }
                let leases = self.leases.clone();
                connections.push(Connection::new(stream, client, ticket, leases));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => pause_for_descriptors(&self.stop),
        }
    }
}

/// Waits for file descriptors for a moment, unless the server shall end. Without this pause `poll` would return at
/// once, again and again, while no descriptor is free for the client.
pub(crate) fn pause_for_descriptors(stop: &UnixStream) {
    let mut stop = [PollFd::new(stop.as_fd(), PollFlags::POLLIN)];
    let _ = poll(
        &mut stop,
        PollTimeout::try_from(DESCRIPTOR_PAUSE).unwrap_or(PollTimeout::ZERO),
    );
}

/// The sockets that are ready.
struct Ready {
    listener: bool,
    connections: Vec<PollFlags>,
}

/// The client if its user is that of this process, or root. Other users cannot even enter the folder.
fn permitted_client(stream: &UnixStream) -> Option<ClientId> {
    let ours = rustix::process::geteuid().as_raw();
    let peer = getsockopt(stream, PeerCredentials).ok()?;
    let (user, pid) = (peer.uid(), peer.pid());
    (user == ours || user == 0).then_some(ClientId { user, pid })
}

#[cfg(test)]
mod tests;
