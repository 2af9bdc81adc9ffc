//! `status`.

use crate::agent::Agent;
use crate::ffi::phases::Live;
use control::message::{ClassCounts, Failure, Plugin, PluginState, Status};

/// Failures told of; the snapshot holds all.
const FAILURES: usize = 20;

/// How the agent is.
pub(super) fn status(agent: &Agent, phase: Live) -> Status {
    let property = |name| {
        agent
            .jvmti()
            .system_property(phase, name)
            .unwrap_or_default()
    };
    let (summary, own_failures) = agent.numbers();
    Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        jvm: format!(
            "{} {}",
            property(c"java.vm.name"),
            property(c"java.vm.version")
        ),
        uptime_ms: agent.uptime().as_millis().try_into().unwrap_or(u64::MAX),
        snapshot: agent.recorder().path().display().to_string(),
        run: agent.config().agent.run.clone().unwrap_or_default(),
        plugins: plugins(agent),
        classes: ClassCounts {
            seen: summary.seen,
            selected: summary.selected,
            changed: summary.transformed,
            failed: summary.failed,
            skipped_methods: summary.skipped_methods,
        },
        arrays: agent.table.arrays(),
        failures: failures(agent),
        own_failures,
    }
}
