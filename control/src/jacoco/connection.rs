//! One client: its input, its output and its timeouts.

use super::{Command, DONE, HEADER};
use nix::poll::{PollFd, PollFlags};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// Time in which a client must send the header.
const GREETING: Duration = Duration::from_secs(10);
/// Time in which a client must read one answer.
const ANSWER: Duration = Duration::from_secs(60);

/// A client.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    /// Bytes that were read and not handled yet: a part of a header or of a command.
    input: Vec<u8>,
    /// True once the client has sent the header.
    greeted: bool,
    /// Bytes to be written, from `written` on.
    output: Vec<u8>,
    written: usize,
    /// The time of the connection, or of the last answer.
    since: Instant,
    /// The client has closed its side: it sends no more.
    ended: bool,
    /// The connection is broken: nothing more is written either.
    gone: bool,
}

impl Connection {
    /// A client that has connected.
    pub(super) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            input: Vec::new(),
            greeted: false,
            output: HEADER.to_vec(),
            written: 0,
            since: Instant::now(),
            ended: false,
            gone: false,
        })
    }

    /// The time of the connection, or of the last answer.
    pub(super) fn since(&self) -> Instant {
        self.since
    }

    /// Number of bytes that the client has not taken yet.
    pub(super) fn pending(&self) -> usize {
        self.output.len() - self.written
    }

    /// The events to wait for. The client can send a command only after it has read its answer, and while `has_room`.
    pub(super) fn poll_fd(&self, has_room: bool) -> PollFd<'_> {
        let events = match (self.pending() > 0, has_room) {
            (true, _) => PollFlags::POLLOUT,
            (false, true) => PollFlags::POLLIN,
            (false, false) => PollFlags::empty(),
        };
        PollFd::new(self.stream.as_fd(), events)
    }

    /// Time until the client is dropped if it stays idle.
    pub(super) fn due(&self) -> Option<Duration> {
        let limit = self.limit()?;
        Some(limit.saturating_sub(self.since.elapsed()) + Duration::from_millis(1))
    }

    fn limit(&self) -> Option<Duration> {
        if self.pending() > 0 {
            Some(ANSWER)
        } else {
            (!self.greeted).then_some(GREETING)
        }
    }

    /// Reads the bytes that are ready, and answers at most one command.
    pub(super) fn serve(
        &mut self,
        events: PollFlags,
        answer: &mut impl FnMut(Command) -> Option<Vec<u8>>,
    ) {
        if self
            .limit()
            .is_some_and(|limit| self.since.elapsed() > limit)
        {
            self.gone = true;
            return;
        }
        if self.pending() == 0 && !events.is_empty() {
            self.read();
            self.handle_input(answer);
        }
        self.write();
    }

    /// Reads at most the rest of a header or of a command, so that no input piles up.
    fn read(&mut self) {
        let mut chunk = [0; HEADER.len()];
        let wanted = self.wanted() - self.input.len();
        let Some(chunk) = chunk.get_mut(..wanted) else {
            return;
        };
        match self.stream.read(chunk) {
            Ok(0) => self.ended = true,
            Ok(length) => self.input.extend(chunk.iter().take(length)),
            Err(error) if is_for_later(&error) => {}
            Err(_) => self.gone = true,
        }
    }

    fn wanted(&self) -> usize {
        match self.greeted {
            false => HEADER.len(),
            true => 3,
        }
    }

    fn handle_input(&mut self, answer: &mut impl FnMut(Command) -> Option<Vec<u8>>) {
        if !self.greeted {
            self.gone |= !HEADER.starts_with(&self.input);
            if self.input == HEADER {
                self.greeted = true;
                self.input.clear();
            }
            return;
        }
        self.gone |= self
            .input
            .first()
            .is_some_and(|kind| *kind != super::COMMAND);
        let Ok(bytes) = <[u8; 3]>::try_from(self.input.as_slice()) else {
            return;
        };
        self.input.clear();
        match Command::from_bytes(bytes).and_then(answer) {
            Some(data) => self.send_data(data),
            None => self.gone = true,
        }
    }

    fn send_data(&mut self, mut data: Vec<u8>) {
        data.push(DONE);
        (self.output, self.written) = (data, 0);
        self.since = Instant::now();
    }

    fn write(&mut self) {
        while !self.gone && self.pending() > 0 {
            let rest = self.output.get(self.written..).unwrap_or_default();
            match self.stream.write(rest) {
                Ok(0) => self.gone = true,
                Ok(length) => self.written += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_for_later(&error) => return,
                Err(_) => self.gone = true,
            }
        }
        (self.output, self.written) = (Vec::new(), 0);
    }

    /// Checks whether the connection can be closed: it is broken, or it has ended and everything is written.
    pub(super) fn is_over(&self) -> bool {
        self.gone || self.ended && self.pending() == 0
    }

    /// Checks whether the client is idle and can receive the coverage data at the end.
    pub(super) fn listens(&self) -> bool {
        self.greeted && !self.is_over() && self.pending() == 0
    }

    /// Sends the coverage data, or the rest of the answer that is under way, until `due` at the latest.
    pub(super) fn finish(mut self, data: Option<Vec<u8>>, due: Instant) {
        if let Some(data) = data {
            self.send_data(data);
        }
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() || self.stream.set_nonblocking(false).is_err() {
            return;
        }
        // One write takes no longer than this; a slow client gets a part of the data.
        let _ = self.stream.set_write_timeout(Some(left));
        let rest = self.output.get(self.written..).unwrap_or_default();
        let _ = self.stream.write(rest);
    }
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
