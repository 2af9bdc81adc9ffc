//! `dump` and `reset`: what was recorded so far, written or forgotten.

use super::context::Context;
use super::refusals::{known, unwritten};
use super::status;
use crate::agent::Agent;
use crate::messages::Code;
use crate::recorded;
use control::Refusal;
use control::message::{Dump, Reset};

/// Writes everything recorded so far.
pub(super) fn dump(context: Context<'_>) -> Result<Dump, Refusal> {
    let Context { agent, jvm } = context;
    recorded::write_all(agent, jvm).map_err(unwritten)?;
    Ok(dumped(agent, agent.snapshot.length()))
}

/// Writes what was hit so far, and forgets it in the same moment.
pub(super) fn dump_and_reset(context: Context<'_>) -> Result<Dump, Refusal> {
    let Context { agent, jvm } = context;
    let length = recorded::take(agent, jvm).map_err(unwritten)?;
    Ok(dumped(agent, length))
}

fn dumped(agent: &Agent, length: u64) -> Dump {
    Dump {
        snapshot: agent.snapshot.path().display().to_string(),
        length,
        classes: status::counts(agent),
    }
}

/// Forgets everything recorded so far, or what one plugin's probes recorded and what its former versions failed on.
pub(super) fn reset(context: Context<'_>, plugin: Option<&str>) -> Result<Reset, Refusal> {
    let Context { agent, jvm } = context;
    if let Some(session) = plugin.and_then(|plugin| agent.sessions.find(plugin)) {
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
