//! `dump` and `reset`: what was recorded so far, written or forgotten.

use super::context::Context;
use super::refusals::{known, unwritten};
use super::status;
use crate::messages::Code;
use crate::recorded;
use control::Refusal;
use control::message::{Dump, Reset};

/// Writes everything recorded so far.
pub(super) fn dump(context: Context<'_>) -> Result<Dump, Refusal> {
    let Context { agent, jvm } = context;
    recorded::write_all(agent, jvm).map_err(unwritten)?;
    Ok(Dump {
        snapshot: agent.snapshot.path().display().to_string(),
        length: agent.snapshot.length(),
        classes: status::counts(agent),
    })
}

/// Forgets everything recorded so far, or what one plugin's probes recorded.
pub(super) fn reset(context: Context<'_>, plugin: Option<&str>) -> Result<Reset, Refusal> {
    let Context { agent, jvm } = context;
    if let Some(plugin) = plugin {
        known(agent, plugin)?;
    }
    let probes = recorded::reset(agent, jvm, plugin)
        .map_err(|cause| Refusal::new(Code::ProbeClass.as_str(), cause))?;
    recorded::write_all(agent, jvm).map_err(unwritten)?;
    Ok(Reset { probes })
}
