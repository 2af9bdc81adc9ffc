//! Requests that the agent receives, and their answers.

use crate::message::{Refusal, Request};
use serde_json::Value;

/// An answer of the agent.
#[derive(Debug)]
pub struct Reply {
    /// The answer's value, or the reason of the refusal.
    pub outcome: Result<Value, Refusal>,
    /// True if the server ends after this answer.
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

/// The time of an answer.
#[derive(Debug)]
pub enum Answer {
    /// At once.
    Now(Reply),
    /// Later, through [`crate::Answers::send`] with the ticket of the request.
    Later,
}

/// Links a later answer to its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket(pub(crate) u64);

/// A request, its user, and the ticket for its answer.
#[derive(Debug)]
pub struct IncomingRequest {
    /// The request.
    pub request: Request,
    /// The id of the user who sent the request.
    pub user: u32,
    /// The ticket for a later answer.
    pub ticket: Ticket,
}
