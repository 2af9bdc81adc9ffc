//! `off`: undo everything and remove the agent.

use super::context::Context;
use super::refusals::failures;
use crate::{shutdown, structural_edits};
use control::message::Off;

/// Undoes every edit, completes the snapshot, and allows another agent. After the answer the control thread ends and
/// disposes of the JVM TI environment.
pub(super) fn off(context: Context<'_>) -> Off {
    let Context { agent, jvm } = context;
    let report = shutdown::undo(agent, jvm);
    Off {
        restored: report.retransformed,
        failed: failures(report.failed),
        snapshot: agent.results.snapshot.path().display().to_string(),
        natives: structural_edits::natives(),
        structures: structural_edits::structures(),
    }
}
