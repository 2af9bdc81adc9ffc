//! Refusals of requests.

use crate::agent::Agent;
use crate::agent::plugins::PluginSet;
use crate::ffi::error::JvmtiError;
use crate::messages::Code;
use control::Refusal;
use control::message::Failure;
use errors::codes;
use std::sync::Arc;

/// The agent panicked.
pub(super) fn panicked() -> Refusal {
    let text = "internal error of the agent; its message is on the JVM's standard error";
    Refusal::new(Code::Panic.as_str(), text)
}

/// The JVM is out of memory.
pub(super) fn out_of_memory() -> Refusal {
    Refusal::new(
        Code::Refused.as_str(),
        "the JVM has no memory for this request",
    )
}

/// The snapshot cannot be written.
pub(super) fn unwritten(cause: String) -> Refusal {
    Refusal::new(Code::Write.as_str(), "the snapshot cannot be written now")
        .with("cause", cause)
        .with(
            "help",
            "no data is lost; free disk space there and try again",
        )
}

/// The plugin set in force.
///
/// # Errors
///
/// If the agent is leaving.
pub(super) fn current(agent: &Agent) -> Result<Arc<PluginSet>, Refusal> {
    agent.plugins.current().ok_or_else(leaving)
}

/// The agent is leaving.
pub(super) fn leaving() -> Refusal {
    Refusal::new(codes::H0704, control::message::LEAVING)
}

/// Checks that the agent has a plugin of this name.
///
/// # Errors
///
/// If the agent has no such plugin.
pub(super) fn known(agent: &Agent, plugin: &str) -> Result<(), Refusal> {
    let set = current(agent)?;
    let plugins = set.config.plugins.iter();
    let at_work = plugins.filter(|plugin| agent.results.sessions.has(plugin.session));
    let names: Vec<&str> = at_work.map(|plugin| plugin.name.as_str()).collect();
    if names.contains(&plugin) {
        return Ok(());
    }
    Err(
        Refusal::new(codes::H0708, format!("the agent has no plugin `{plugin}`"))
            .with("expected", names.join(", "))
            .with(
                "help",
                "`classhook enable` adds a bundled plugin or a .wasm file",
            ),
    )
}

/// The failures of classes that the JVM did not retransform.
pub(super) fn failures(failed: Vec<(String, JvmtiError)>) -> Vec<Failure> {
    let failure = |(class, error): (String, JvmtiError)| Failure {
        code: Code::Retransform.as_str().to_owned(),
        class,
        plugin: String::new(),
        cause: error.to_string(),
    };
    failed.into_iter().map(failure).collect()
}
