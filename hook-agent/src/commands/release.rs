//! `release`: a plugin is not needed any more.

use super::context::Context;
use super::{change, off, session};
use crate::agent::Agent;
use crate::{observe, test_runs};
use control::Refusal;
use control::message::{Holder, NO_PLUGIN, PluginState, Released, is_observation};

/// The plugin that tests belong to.
const COVERAGE: &str = "coverage";

/// Takes a plugin's edits out of all classes; leaves if the agent came for a command alone that needs it no more, and
/// has no other work.
///
/// # Errors
///
/// If there is no such plugin, or the agent is leaving already.
pub(super) fn release(context: Context<'_>, plugin: &str) -> Result<Released, Refusal> {
    let session = context.agent.sessions.find(plugin);
    let plugin = session
        .as_ref()
        .map_or(plugin, |session| session.plugin.as_str());
    context.agent.end_visit(plugin);
    if context.agent.observation.is_held_by(plugin) {
        observe::finish_recording(context.agent);
    }
    if is_needed(context.agent, plugin) {
        // An agent that came for a request alone has no plugin of that name.
        let failed = match plugin {
            plugin if plugin == NO_PLUGIN || is_observation(plugin) => Vec::new(),
            plugin => change::disable(context, plugin)?.failed,
        };
        match &session {
            Some(session) => session::end(context, session),
            None if plugin == COVERAGE => test_runs::forget(context.agent, context.jvm),
            None => {}
        }
        return Ok(Released {
            stays: true,
            failed,
        });
    }
    let failed = off::off(context).failed;
    Ok(Released {
        stays: false,
        failed,
    })
}

/// Whether the agent was there before, is still needed by the command that it came for, or was asked for something else.
fn is_needed(agent: &Agent, plugin: &str) -> bool {
    let others = super::status::plugins(agent);
    let mut others = others.iter().filter(|other| other.name != plugin);
    let commands = agent.control.holders();
    !agent.is_visit_over()
        || others.any(|other| other.state == PluginState::On)
        || commands.iter().any(|other| !is_of(agent, other, plugin))
        || agent.observation.recording().is_some()
        || !agent.patches.stack().is_empty()
}

/// Whether a command holds this plugin; it knows a session by an id of its own.
fn is_of(agent: &Agent, holder: &Holder, plugin: &str) -> bool {
    let session = agent.sessions.find(&holder.plugin);
    let held = session.as_ref().map(|session| session.plugin.as_str());
    held.unwrap_or(&holder.plugin) == plugin
}
