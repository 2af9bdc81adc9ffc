//! One client of the server: its input, its output, and the lease that ends with it.

use crate::answer::{Answer, IncomingRequest, Reply, Ticket};
use crate::client_process::ProcessState;
use crate::leases::{Lease, Leases};
use crate::message::{
    ANSWER_LIMIT, AnswerLine, Holder, REQUEST_LIMIT, Refusal, Request, line, read_request,
};
use errors::codes;
use nix::poll::{PollFd, PollFlags};
use serde_json::Value;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Time in which a client must read its answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes read in one turn.
const CHUNK: usize = 1 << 16;

/// The result of one turn of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The server goes on.
    More,
    /// The connection has the last answer.
    Last,
}

/// A client.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: UnixStream,
    client: ClientId,
    ticket: Ticket,
    /// Bytes that were read and not answered yet.
    input: Vec<u8>,
    /// The end of the first line of `input`, if that line is whole.
    line_end: Option<usize>,
    /// Bytes to be written.
    output: Vec<u8>,
    /// The time of the last read or write.
    active: Instant,
    /// The client has closed its side: it sends no more.
    ended: bool,
    /// The connection is broken: the client takes no answer either.
    gone: bool,
    /// A later answer is pending.
    waits: bool,
    lease: Option<Lease>,
    /// The leases of all clients.
    leases: Leases,
}

/// The client, as the system knows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientId {
    /// The id of its user.
    pub(crate) user: u32,
    /// Its process id; 0 in another pid namespace.
    pub(crate) pid: i32,
}

impl Connection {
    pub(crate) fn new(
        stream: UnixStream,
        client: ClientId,
        ticket: Ticket,
        leases: Leases,
    ) -> Self {
        Self {
            stream,
            client,
            ticket,
            input: Vec::new(),
            line_end: None,
            output: Vec::new(),
            active: Instant::now(),
            ended: false,
            gone: false,
            waits: false,
            lease: None,
            leases,
        }
    }

    pub(crate) fn ticket(&self) -> Ticket {
        self.ticket
    }

    /// The time of the last read or write.
    pub(crate) fn active(&self) -> Instant {
        self.active
    }

    /// Checks whether the client's lease ends with this request.
    pub(crate) fn has_lease_for(&self, request: &Request) -> bool {
        let lease = self.lease.as_ref();
        lease.is_some_and(|lease| lease.request == *request)
    }

    /// Checks whether the client waits for an answer or holds a lease.
    pub(crate) fn is_at_work(&self) -> bool {
        self.waits || self.lease.is_some()
    }

    /// The events to wait for. The client can send a request only after it has read its answers.
    pub(crate) fn poll_fd(&self) -> PollFd<'_> {
        let events = if !self.output.is_empty() {
            PollFlags::POLLOUT
        } else if self.waits {
            PollFlags::empty() // `poll` reports a hang-up all the same
        } else {
            PollFlags::POLLIN
        };
        PollFd::new(self.stream.as_fd(), events)
    }

    /// Time until the connection needs a turn even if the client stays idle.
    pub(crate) fn due(&self) -> Option<Duration> {
        let lease = self.lease.as_ref().filter(|_| !self.waits);
        let lease = lease.and_then(Lease::due);
        let output = match (&self.output, self.line_end) {
            (output, _) if !output.is_empty() => {
                Some(TIMEOUT.saturating_sub(self.active.elapsed()) + Duration::from_millis(1))
            }
            (_, Some(_)) if !self.waits => Some(Duration::ZERO),
            _ => None,
        };
        lease.into_iter().chain(output).min()
    }

    /// Reads the bytes that are ready, and answers at most one request.
    pub(crate) fn serve(
        &mut self,
        events: PollFlags,
        answer: &mut impl FnMut(IncomingRequest) -> Answer,
    ) -> Turn {
        if self.waits {
            // A request is carried out to its end even if the client hangs up.
            self.gone |= events.intersects(PollFlags::POLLHUP | PollFlags::POLLERR);
            return Turn::More;
        }
        if self.output.is_empty() && !events.is_empty() {
            self.read();
        }
        let mut turn = Turn::More;
        if self.output.is_empty()
            && let Some(line) = self.take_line()
        {
            turn = self.answer(&line, answer);
        }
        if turn == Turn::More {
            self.write();
        }
        turn
    }

    fn answer(
        &mut self,
        request: &[u8],
        answer: &mut impl FnMut(IncomingRequest) -> Answer,
    ) -> Turn {
        let (user, ticket) = (self.client.user, self.ticket);
        let answer = match read_request(request) {
            Ok(Request::Lease { plugin, ms, holder }) => {
                Answer::Now(self.hold(plugin, ms, holder.unwrap_or_default()))
            }
            Ok(request) => answer(IncomingRequest {
                request,
                user,
                ticket,
            }),
            Err(refusal) => Answer::Now(Reply::new(Err(refusal))),
        };
        let Answer::Now(reply) = answer else {
            self.waits = true;
            return Turn::More;
        };
        self.send_outcome(reply.outcome);
        if reply.last { Turn::Last } else { Turn::More }
    }

    /// Takes a lease, or returns it.
    fn hold(&mut self, plugin: Option<String>, ms: Option<u64>, holder: Holder) -> Reply {
        self.lease = plugin.map(|plugin| {
            let entry = self.leases.add(Holder {
                plugin: plugin.clone(),
                ..holder
            });
            let request = Request::Release { plugin };
            Lease::new(request, ms.map(Duration::from_millis), entry)
        });
        Reply::new(Ok(Value::Null))
    }

    /// The request of a lease that has ended, and its user: the client is gone, or its time is over and it is stopped or
    /// hangs. `look` reads the state of a process. Returned once.
    pub(crate) fn ended_lease(
        &mut self,
        look: impl FnOnce(i32) -> ProcessState,
    ) -> Option<(Request, u32)> {
        let (is_asked, client) = (self.waits, self.client);
        let lease = self.lease.as_mut()?;
        let is_gone = self.ended || self.gone;
        if !is_gone && (is_asked || !lease.is_over(|| look(client.pid))) {
            return None;
        }
        self.lease.take().map(|lease| (lease.request, client.user))
    }

    /// Sends the later answer.
    pub(crate) fn send_later(&mut self, reply: Reply) {
        self.waits = false;
        self.send_outcome(reply.outcome);
        if !reply.last {
            self.write();
        }
    }

    fn send_outcome(&mut self, outcome: Result<Value, Refusal>) {
        let refused = |refusal| line(&AnswerLine::new(Err(refusal))).unwrap_or_default();
        self.output = match line(&AnswerLine::new(outcome)) {
            Ok(said) if said.len() <= ANSWER_LIMIT => said,
            Ok(said) => refused(Refusal::new(
                codes::H0705,
                format!(
                    "the answer has {} bytes, and the limit is {ANSWER_LIMIT}",
                    said.len()
                ),
            )),
            Err(error) => refused(Refusal::new(codes::H0705, error.to_string())),
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
                    let refusal = Refusal::new(codes::H0705, "the request is too long");
                    self.send_outcome(Err(refusal.with("expected", expected)));
                }
            }
            Err(error) if is_for_later(&error) => {}
            Err(_) => self.give_up(),
        }
    }

    /// The first whole line, without its newline.
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
                    if self.active.elapsed() > TIMEOUT {
                        self.give_up();
                    }
                    return;
                }
                Err(_) => return self.give_up(),
            }
        }
    }

    /// Drops all input and output of the client.
    fn give_up(&mut self) {
        self.input = Vec::new();
        self.line_end = None;
        self.output = Vec::new();
        self.ended = true;
    }

    /// Checks whether the connection can be closed: everything is answered and written, or it is broken.
    pub(crate) fn is_over(&self) -> bool {
        let idle = self.line_end.is_none() && self.output.is_empty() && !self.waits;
        self.gone || self.ended && idle
    }

    /// Writes the rest of the last answer, and blocks until the client has read it or `TIMEOUT` is over.
    pub(crate) fn finish(mut self) {
        let _ = self.stream.set_nonblocking(false);
        let _ = self.stream.set_write_timeout(Some(TIMEOUT));
        let _ = self.stream.write_all(&self.output);
    }
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
