//! Errors between command and agent, with stable codes.

use crate::message::{Refusal, other_protocol};
use errors::codes;
use std::io;

/// The reason why a client got no answer, or an agent has no socket.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// No process listens at the agent's socket.
    #[error("no agent listens at {0}")]
    NoAgent(String),
    /// The socket or its folder is not the JVM's.
    #[error("{0}")]
    NotTrusted(String),
    /// The agent sent no answer.
    #[error("the agent did not answer: {0}")]
    NoAnswer(String),
    /// The agent speaks another version of the protocol.
    #[error("the agent speaks version {0} of the protocol")]
    OtherProtocol(u32),
    /// The agent refused the request.
    #[error("{}", .0.message)]
    Refused(Refusal),
    /// The socket cannot be created.
    #[error("{what}: {source}")]
    Socket {
        /// The step that failed.
        what: String,
        /// The system's error.
        source: io::Error,
    },
}

impl ControlError {
    /// The error as a refusal, with its code and help.
    #[must_use]
    pub fn refusal(self) -> Refusal {
        let text = self.to_string();
        match self {
            Self::NoAgent(_) => Refusal::new(codes::H0701, text),
            Self::Refused(refusal) => refusal,
            Self::OtherProtocol(version) => other_protocol(version),
            Self::NoAnswer(_) => Refusal::new(codes::H0704, text).with(
                "help",
                "the JVM may be stopped, in a very long pause, or at its end; check it and try again",
            ),
            Self::NotTrusted(_) => Refusal::new(codes::H0706, text).with(
                "help",
                "remove it if it is not yours; nothing was sent to it",
            ),
            Self::Socket { .. } => Refusal::new(codes::H0707, text),
        }
    }

    pub(crate) fn socket(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        |source| Self::Socket { what, source }
    }
}
