//! Removes the state of classes whose loaders have been collected.

use crate::agent::Agent;
use crate::ffi::refs::Local;
use crate::structural_edits;

/// Removes the state of collected loaders, so that a program that creates loader after loader does not fill the agent's
/// memory.
pub(crate) fn remove(agent: &Agent, local: Local<'_>) {
    let collected = agent.classes.loaders.remove_collected(local);
    if collected.is_empty() {
        return;
    }
    agent
        .classes
        .instrumented
        .remove_loaders(|loader| collected.contains(&loader));
    agent
        .classes
        .helpers
        .remove_loaders(|loader| collected.contains(&loader));
    structural_edits::remove_loaders(|loader| collected.contains(&loader));
}
