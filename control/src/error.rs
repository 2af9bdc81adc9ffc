//! What can go wrong between command and agent, with stable codes.

use crate::message::{Refusal, other_protocol};
use std::io;

/// Why a client got no answer, or an agent has no socket.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// Nobody listens where the agent would.
    #[error("no agent listens at {0}")]
    NoAgent(String),
    /// The socket or its folder is not the JVM's.
    #[error("{0}")]
    NotTrusted(String),
    /// Nothing came back.
    #[error("the agent did not answer: {0}")]
    NoAnswer(String),
    /// The other end speaks another version.
    #[error("the agent speaks version {0} of the protocol")]
    OtherProtocol(u32),
    /// The agent says no, for a reason of its own.
    #[error("{}", .0.message)]
    Refused(Refusal),
    /// The socket cannot be made.
    #[error("{what}: {source}")]
    Socket {
        /// What was being done.
        what: String,
        /// The system's error.
        source: io::Error,
    },
}

impl ControlError {
    /// The same with its code and what to do, as the agent itself would put it.
    #[must_use]
    pub fn refusal(self) -> Refusal {
        let text = self.to_string();
        match self {
            Self::NoAgent(_) => Refusal::new("H0701", text),
            Self::Refused(refusal) => refusal,
            Self::OtherProtocol(version) => other_protocol(version),
            Self::NoAnswer(_) => Refusal::new("H0704", text).with(
                "help",
                "the JVM may be stopped, in a very long pause, or at its end; look at it and try again",
            ),
            Self::NotTrusted(_) => Refusal::new("H0706", text).with(
                "help",
                "remove it if it is none of yours: nothing was sent there",
            ),
            Self::Socket { .. } => Refusal::new("H0707", text),
        }
    }

    pub(crate) fn socket(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        |source| Self::Socket { what, source }
    }
}
