//! What the agent does when it is asked: one function per [`Request`], on the control thread.

mod change;
mod classes;
mod off;
mod status;

use crate::agent::Agent;
use crate::ffi::error::JvmtiError;
use crate::ffi::phases::Live;
use crate::ffi::refs::Local;
use crate::messages::Code;
use crate::patch;
use crate::recording;
use control::message::{Dump, Failure, Reset};
use control::{Refusal, Reply, Request};
use host::HostError;
use probes::Recorder;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The JVM, as a command needs it.
#[derive(Clone, Copy)]
struct Jvm<'a> {
    agent: &'a Agent,
    phase: Live,
    local: Local<'a>,
}

impl<'a> Jvm<'a> {
    fn for_user(self, uid: u32) -> patch::Context<'a> {
        patch::Context {
            agent: self.agent,
            phase: self.phase,
            local: self.local,
            uid,
        }
    }
}

/// Carries out a request of a user; a panic becomes a refusal.
pub(crate) fn answer(
    agent: &Agent,
    phase: Live,
    local: Local<'_>,
    request: Request,
    uid: u32,
) -> Reply {
    let jvm = Jvm {
        agent,
        phase,
        local,
    };
    let last = request == Request::Off;
    let outcome =
        catch_unwind(AssertUnwindSafe(|| dispatch(jvm, request, uid))).unwrap_or_else(|_| {
            let text = "a fault of the agent's own; its message is on the JVM's standard error";
            Err(Refusal::new(Code::Panic.as_str(), text))
        });
    Reply {
        last: last && outcome.is_ok(),
        outcome,
    }
}

/// The JVM has no room for a frame of local references.
pub(crate) fn no_memory() -> Reply {
    Reply::new(Err(out_of_memory()))
}

fn dispatch(jvm: Jvm<'_>, request: Request, uid: u32) -> Result<Value, Refusal> {
    match request {
        Request::Status => value(status::status(jvm)),
        Request::Dump => value(dump(jvm)?),
        Request::Reset { plugin } => value(reset(jvm, plugin.as_deref())?),
        Request::Enable { plugin, options } => {
            value(change::enable(jvm, &plugin, options.as_deref())?)
        }
        Request::Disable { plugin } => value(change::disable(jvm, &plugin)?),
        Request::Reload { options } => value(change::reload(jvm, &options)?),
        Request::Classes {
            filter,
            changed,
            skip,
            limit,
        } => value(classes::classes(
            jvm,
            filter.as_deref(),
            changed,
            skip,
            limit,
        )?),
        Request::Patch(request) => value(patch::patch(jvm.for_user(uid), &request)?),
        Request::Rollback { which } => value(patch::rollback(jvm.for_user(uid), which)?),
        Request::Patches => value(patch::list(jvm.agent)),
        Request::Off => value(off::off(jvm)),
    }
}

/// An answer as it is sent.
fn value(answer: impl serde::Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(answer)
        .map_err(|error| Refusal::new(Code::Panic.as_str(), error.to_string()))
}

/// Writes everything recorded so far.
fn dump(jvm: Jvm<'_>) -> Result<Dump, Refusal> {
    recording::drain(jvm.agent, jvm.phase, jvm.local).map_err(unwritten)?;
    let recorder = jvm.agent.recorder();
    Ok(Dump {
        snapshot: jvm.agent.snapshot.display().to_string(),
        length: recorder.as_ref().map_or(0, Recorder::length),
        classes: status::counts(jvm.agent),
    })
}

fn reset(jvm: Jvm<'_>, plugin: Option<&str>) -> Result<Reset, Refusal> {
    if let Some(plugin) = plugin {
        change::known(jvm.agent, plugin)?;
    }
    let probes = recording::reset(jvm.agent, jvm.phase, jvm.local, plugin)
        .map_err(|cause| Refusal::new(Code::ProbeClass.as_str(), cause))?;
    recording::drain(jvm.agent, jvm.phase, jvm.local).map_err(unwritten)?;
    Ok(Reset { probes })
}

fn unwritten(cause: String) -> Refusal {
    Refusal::new(Code::Write.as_str(), "the snapshot cannot be written now")
        .with("cause", cause)
        .with("help", "nothing is lost; make room there and ask again")
}

fn out_of_memory() -> Refusal {
    Refusal::new(
        Code::Refused.as_str(),
        "the JVM has no memory left for this",
    )
}

/// Configuration or plugins cannot be.
fn not_configured(error: &HostError) -> Refusal {
    let refusal = Refusal::new(error.code(), error.message());
    error
        .notes()
        .fold(refusal, |refusal, (label, text)| refusal.with(label, text))
}

/// Classes that the JVM did not let be retransformed.
fn failures(failed: Vec<(String, JvmtiError)>) -> Vec<Failure> {
    let failure = |(class, error): (String, JvmtiError)| Failure {
        code: Code::Retransform.as_str().to_owned(),
        class,
        plugin: String::new(),
        cause: error.to_string(),
    };
    failed.into_iter().map(failure).collect()
}
