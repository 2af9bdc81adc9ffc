//! `release`: the end of a command that used a plugin.

use super::context::Context;
use super::{change, off, session};
use crate::agent::Agent;
use crate::{subscribers, test_runs};
use control::Refusal;
use control::message::{Holder, NO_PLUGIN, PluginState, Released, is_recording};

/// The plugin that measures coverage per test.
const COVERAGE: &str = "coverage";

/// Removes a plugin's edits from all classes. The agent leaves if it was loaded for a command that has ended, and has
/// no other work.
///
/// # Errors
///
/// If the agent has no such plugin, or is leaving already.
pub(super) fn release(context: Context<'_>, plugin: &str) -> Result<Released, Refusal> {
    let session = context.agent.results.sessions.find(plugin);
    let plugin = session
        .as_ref()
        .map_or(plugin, |session| session.plugin.as_str());
    context.agent.end_visit(plugin);
    if context.agent.subscribers.is_held_by(plugin) {
        subscribers::finish_recording(context.agent);
    }
    if is_needed(context.agent, plugin) {
        // An agent that was loaded for a single request has no plugin of that name.
        let failed = match plugin {
            plugin if plugin == NO_PLUGIN || is_recording(plugin) => Vec::new(),
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

/// Checks whether the agent must stay: it was not loaded for a command, its command has not ended, or it has other
/// work.
fn is_needed(agent: &Agent, plugin: &str) -> bool {
    let others = super::status::plugins(agent);
    let mut others = others.iter().filter(|other| other.name != plugin);
    let commands = agent.threads.control.holders();
    !agent.run.is_visit_over()
        || others.any(|other| other.state == PluginState::On)
        || commands.iter().any(|other| !is_of(agent, other, plugin))
        || agent.subscribers.recording().is_some()
        || !agent.patches.stack().is_empty()
}

/// Checks whether a command holds this plugin. A holder may use the id of a session instead of the plugin's name.
fn is_of(agent: &Agent, holder: &Holder, plugin: &str) -> bool {
    let session = agent.results.sessions.find(&holder.plugin);
    let held = session.as_ref().map(|session| session.plugin.as_str());
    held.unwrap_or(&holder.plugin) == plugin
}
