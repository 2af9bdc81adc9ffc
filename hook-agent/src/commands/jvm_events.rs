//! `record-jvm-events` and `end-jvm-events`, a recording of JVM events; `heap-paths`, the references that keep objects alive.

use super::context::Context;
use crate::ffi::vm::Vm;
use crate::messages::Code;
use crate::{current, subscribers};
use control::Refusal;
use control::message::{HeapPaths, JvmEventsFile};
use errors::codes;
use jvm_events::{EventSubscription, Subscription};
use std::path::PathBuf;
use std::time::Duration;

/// Begins a recording, which ends when its holder is released.
///
/// # Errors
///
/// If a recording is under way, or the JVM refuses a capability or event.
pub(super) fn record(
    context: Context<'_>,
    subscription: &str,
    holder: Option<String>,
) -> Result<JvmEventsFile, Refusal> {
    let jvm = context.jvm;
    let subscription = Subscription::parse(subscription).map_err(refused)?;
    let agent = current::get().ok_or_else(super::refusals::leaving)?;
    let vm = Vm::of(jvm.local);
    let environment = subscribers::equipped(
        vm,
        jvm.live,
        &EventSubscription::of_recording(&subscription),
    )
    .map_err(refused)?;
    let file = subscribers::begin(agent, jvm, environment, subscription).map_err(refused)?;
    agent.subscribers.set_holder(holder);
    Ok(answer(file))
}

/// Ends the recording that is under way.
///
/// # Errors
///
/// If no recording is under way, or its file is not complete.
pub(super) fn end(context: Context<'_>) -> Result<(), Refusal> {
    if context.agent.subscribers.recording().is_none() {
        return Err(refused("no recording is under way in this JVM".to_owned()));
    }
    subscribers::end_recording(context.agent).map_err(refused)
}

/// The reference paths that keep the instances of a class alive.
///
/// # Errors
///
/// If no such class is loaded, or the JVM cannot follow its references.
pub(super) fn heap_paths(
    context: Context<'_>,
    class: &str,
    max_ms: Option<u64>,
) -> Result<HeapPaths, Refusal> {
    let still = max_ms.map(Duration::from_millis);
    let found = subscribers::paths(context.agent, context.jvm, class, still);
    found.map_err(|cause| Refusal::new(codes::H0664, cause))
}

fn answer(file: PathBuf) -> JvmEventsFile {
    JvmEventsFile {
        file: file.display().to_string(),
    }
}

fn refused(cause: String) -> Refusal {
    Refusal::new(Code::JvmEvents.as_str(), cause)
}
