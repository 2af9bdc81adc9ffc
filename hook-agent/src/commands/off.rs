//! `off`: everything undone, and the agent gone.

use super::context::Context;
use super::refusals::failures;
use crate::{shutdown, structural_edits};
use control::message::Off;

/// Undoes every edit, completes the snapshot, and makes room for another agent. The control thread
/// ends with the answer; the JVM TI environment goes with it.
pub(super) fn off(context: Context<'_>) -> Off {
    let Context { agent, jvm } = context;
    let report = shutdown::undo(agent, jvm);
    Off {
        restored: report.retransformed,
        failed: failures(report.failed),
        snapshot: agent.snapshot.path().display().to_string(),
        natives: structural_edits::natives(),
        structures: structural_edits::structures(),
    }
}
