//! `dump` and `reset`: write or clear the recorded data.

use super::context::Context;
use super::refusals::{known, unwritten};
use super::status;
use crate::agent::Agent;
use crate::messages::Code;
use crate::recorded;
use control::Refusal;
use control::message::{Dump, Reset};

/// Writes all recorded data.
pub(super) fn dump(context: Context<'_>) -> Result<Dump, Refusal> {
    let Context { agent, jvm } = context;
    recorded::write_all(agent, jvm).map_err(unwritten)?;
    Ok(dumped(agent, agent.results.snapshot.length()))
}

/// Writes the hits so far, and clears them in the same step.
pub(super) fn dump_and_reset(context: Context<'_>) -> Result<Dump, Refusal> {
    let Context { agent, jvm } = context;
    let length = recorded::take(agent, jvm).map_err(unwritten)?;
    Ok(dumped(agent, length))
}

fn dumped(agent: &Agent, length: u64) -> Dump {
    Dump {
        snapshot: agent.results.snapshot.path().display().to_string(),
        length,
        classes: status::counts(agent),
    }
}

/// Clears all recorded data, or that of one plugin's probes and the failures of its former versions.
pub(super) fn reset(context: Context<'_>, plugin: Option<&str>) -> Result<Reset, Refusal> {
    let Context { agent, jvm } = context;
    if let Some(session) = plugin.and_then(|plugin| agent.results.sessions.find(plugin)) {
        agent.plugins.forget_failures(&session.plugin);
        session.file.reset(jvm, None);
        session.file.write(jvm, true);
        return Ok(Reset { probes: 0 });
    }
    if let Some(plugin) = plugin {
        known(agent, plugin)?;
        agent.plugins.forget_failures(plugin);
    }
    let probes = recorded::reset(agent, jvm, plugin)
        .map_err(|cause| Refusal::new(Code::ProbeClass.as_str(), cause))?;
    recorded::write_all(agent, jvm).map_err(unwritten)?;
    Ok(Reset { probes })
}
