//! Forgets what is known of the classes of loaders that have been collected.

use crate::agent::Agent;
use crate::ffi::refs::Local;
use crate::structural_edits;

/// A program that makes loader after loader leaves nothing behind in the agent.
pub(crate) fn forget(agent: &Agent, local: Local<'_>) {
    let collected = agent.loaders.forget_collected(local);
    if collected.is_empty() {
        return;
    }
    agent
        .instrumented
        .forget_loaders(|loader| collected.contains(&loader));
    agent
        .helpers
        .forget_loaders(|loader| collected.contains(&loader));
    structural_edits::forget_loaders(|loader| collected.contains(&loader));
}
