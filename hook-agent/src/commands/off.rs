//! `off`: everything undone, and the agent gone.

use super::{Jvm, failures};
use crate::{foundation, patch, retransform};
use control::message::Off;

/// Undoes every edit, completes the snapshot, and makes room for another agent. The control thread
/// ends with the answer; the JVM TI environment goes with it.
pub(super) fn off(jvm: Jvm<'_>) -> Off {
    let agent = jvm.agent;
    patch::forget_all(agent);
    // The hook stays on meanwhile, so that classes on their way through it come out known.
    agent.plugins.exchange(None);
    let report = retransform::settle(agent, jvm.phase, jvm.local, |_| true, |_| false);
    agent.leave(jvm.phase, jvm.local);
    Off {
        restored: report.retransformed,
        failed: failures(report.failed),
        snapshot: agent.snapshot.display().to_string(),
        natives: foundation::natives(),
        structures: foundation::structures(),
    }
}
