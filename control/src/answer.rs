//! Requests on their way to the agent, and when they are answered.

use crate::message::{Refusal, Request};
use serde_json::Value;

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

/// When a request is answered.
#[derive(Debug)]
pub enum Answer {
    /// At once.
    Now(Reply),
    /// By [`crate::Answers::send`], with the ticket of the request.
    Later,
}

/// Which request a later answer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket(pub(crate) u64);

/// A request, who makes it, and the ticket for its answer.
#[derive(Debug)]
pub struct Asked {
    /// What is asked for.
    pub request: Request,
    /// The user who asks.
    pub user: u32,
    /// Where a later answer goes.
    pub ticket: Ticket,
}
