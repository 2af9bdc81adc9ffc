//! The sender's end of a connection.

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::address::Address;
use crate::channel::{Channel, HANDSHAKE};
use crate::deadline::Deadline;
use crate::frame::{Frame, Hello};
use crate::token::{PROOF, Side, Token};

/// Longest time for one step of the receiver.
const STEP: Duration = Duration::from_secs(20);

/// A refusal by the peer, in contrast to a failure of the network.
#[derive(Debug)]
pub struct Refusal {
    cause: String,
    /// Whether the next attempt must fail too, unless another receiver is started: it has another token or version, or
    /// is no receiver.
    pub is_for_good: bool,
}

impl Refusal {
    fn for_good(cause: String) -> io::Error {
        let is_for_good = true;
        io::Error::other(Self { cause, is_for_good })
    }

    /// The refusal that caused an error, if any.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cause)
    }
}

impl Error for Refusal {}

/// A connection to a receiver that has proved that it has the token.
pub struct Link(Channel);

impl Link {
    /// Connects. Each step then has 20 s, and the deadline after the end of the recording limits all of them.
    ///
    /// # Errors
    /// If nobody answers, or the peer is no receiver with this token.
    pub fn new(
        address: &Address,
        token: Option<&Token>,
        deadline: &Arc<Deadline>,
    ) -> io::Result<Self> {
        let mut channel = Channel::connect(address, deadline)?;
        channel.within(HANDSHAKE);
        let binding = channel.binding()?;
        let proof = match (token, &binding) {
            (Some(token), Some(binding)) => token.proof(Side::Sender, binding),
            (None, Some(_)) => return Err(io::Error::other("a token is needed for tcp")),
            (_, None) => [0; PROOF],
        };
        Hello { proof }.write(&mut channel)?;
        let answer = Hello::read(&mut channel).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => Refusal::for_good(error.to_string()),
            _ => error,
        })?;
        if let (Some(token), Some(binding)) = (token, &binding)
            && !token.proves(Side::Receiver, binding, &answer.proof)
        {
            let cause = "the receiver has another token".to_owned();
            return Err(Refusal::for_good(cause));
        }
        Ok(Self(channel))
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// If the connection fails, or the time is over.
    pub fn say(&mut self, frame: &Frame) -> io::Result<()> {
        frame.write(self.0.within(STEP))
    }

    /// Receives a frame.
    ///
    /// # Errors
    /// As [`Link::say`], and if the receiver refuses the frame before.
    pub fn hear(&mut self) -> io::Result<Frame> {
        match Frame::read(self.0.within(STEP))? {
            Frame::Refused(cause) => Err(io::Error::other(Refusal {
                cause: format!("the receiver refuses: {cause}"),
                is_for_good: false,
            })),
            frame => Ok(frame),
        }
    }

    /// Waits until the receiver confirms that it has written a file up to `expected` bytes. Returns `expected`.
    ///
    /// # Errors
    /// As [`Link::hear`], and if the receiver confirms another length.
    pub fn kept(&mut self, expected: u64) -> io::Result<u64> {
        match self.hear()? {
            Frame::Kept(length) if length == expected => Ok(length),
            other => Err(unexpected(&other)),
        }
    }
}

/// The error for an answer that does not fit the request.
pub fn unexpected(frame: &Frame) -> io::Error {
    let found = match frame {
        Frame::Kept(length) => format!("{length} bytes"),
        _ => "another answer".to_owned(),
    };
    io::Error::other(format!(
        "the receiver answers something else than it was asked: {found}"
    ))
}
