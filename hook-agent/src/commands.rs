//! What the agent does when it is asked: one function per [`Request`], on the control thread.

mod status;

use crate::agent::Agent;
use crate::ffi::phases::Live;
use crate::ffi::refs::Local;
use crate::messages::Code;
use crate::recording;
use control::message::Dump;
use control::{Refusal, Reply, Request};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Carries out a request; a panic becomes a refusal.
pub(crate) fn answer(agent: &Agent, phase: Live, local: Local<'_>, request: Request) -> Reply {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        dispatch(agent, phase, local, request)
    }));
    Reply::new(outcome.unwrap_or_else(|_| {
        Err(Refusal::new(
            Code::Panic.as_str(),
            "a fault of the agent's own; its message is on the JVM's standard error",
        ))
    }))
}

/// The JVM has no room for a frame of local references.
pub(crate) fn no_memory() -> Reply {
    Reply::new(Err(Refusal::new(
        Code::Refused.as_str(),
        "the JVM has no memory left for this",
    )))
}

fn dispatch(
    agent: &Agent,
    phase: Live,
    local: Local<'_>,
    request: Request,
) -> Result<Value, Refusal> {
    match request {
        Request::Status => value(status::status(agent, phase)),
        Request::Dump => value(dump(agent, phase, local)?),
        other => Err(Refusal::new("H0702", format!("no {other:?} yet"))),
    }
}

/// An answer as it is sent.
fn value(answer: impl serde::Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(answer)
        .map_err(|error| Refusal::new(Code::Panic.as_str(), error.to_string()))
}

/// Writes everything recorded so far.
fn dump(agent: &Agent, phase: Live, local: Local<'_>) -> Result<Dump, Refusal> {
    recording::drain(agent, phase, local).map_err(|error| {
        Refusal::new(Code::Write.as_str(), error.to_string()).with("help", "make room there")
    })?;
    let snapshot = agent.recorder().path().display().to_string();
    Ok(Dump { snapshot })
}
