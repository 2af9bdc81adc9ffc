//! What probes and spans have recorded: made ready, written to disk, and forgotten on request.
//!
//! No lock of ours is held while the JVM is called, but for the list of arrays, which the agent
//! thread alone extends once the live phase has begun.

use crate::agent::Agent;
use crate::ffi::jvm::Jvm;
use crate::ffi::live;
use crate::messages::Code;
use crate::spans::{counters, runtime};
use crate::{probe_arrays, self_removal};

/// Makes the arrays and counters ready for the first class: defined, and zero if an agent was here before.
///
/// # Errors
///
/// Which class could not be defined, and why.
pub(crate) fn begin(agent: &Agent, jvm: Jvm<'_>) -> Result<(), (Code, String)> {
    agent.table.begin_again();
    let ranges = agent.table.ranges(None);
    probe_arrays::zero(jvm, &ranges).map_err(|cause| (Code::ProbeClass, cause))?;
    let missing = probes::ARRAYS_AHEAD.saturating_sub(agent.table.arrays());
    probe_arrays::define(jvm, missing)?;
    begin_spans(agent, jvm)
}

fn begin_spans(agent: &Agent, jvm: Jvm<'_>) -> Result<(), (Code, String)> {
    let spans = agent.table.spans();
    spans.begin_again();
    if let Some(runtime) = runtime::get() {
        runtime.begin_again(agent.event_file.base());
        // Threads that have called spans before do not join again.
        agent.event_file.record();
    }
    spans.hold(!live::natives_are_bound(jvm));
    counters::zero(jvm).map_err(|cause| (Code::ProbeClass, cause))?;
    counters::define(jvm)
}

/// Writes everything: what [`write_hits`] does, and what spans have recorded.
///
/// # Errors
///
/// As for [`write_hits`].
pub(crate) fn write_all(agent: &Agent, jvm: Jvm<'_>) -> Result<(), String> {
    agent.event_file.write(jvm, true);
    write_hits(agent, jvm)
}

/// Copies every array in use and writes what is new. Failures to write are reported when they begin;
/// what could not be written is kept for the next time.
///
/// # Errors
///
/// Why not everything is on disk.
pub(crate) fn write_hits(agent: &Agent, jvm: Jvm<'_>) -> Result<(), String> {
    let snapshot = &agent.snapshot;
    let _exclusive = snapshot.exclusive();
    probe_arrays::read(jvm, |array, hits| snapshot.absorb(array, hits));
    let failures = agent.failures.take_fresh();
    snapshot.flush(agent.table, &failures)
}

/// Forgets what was hit: all of it, or one plugin's. What is hit from now on is recorded, whatever
/// was hit before.
///
/// # Errors
///
/// Which array cannot be written, and why.
pub(crate) fn reset(agent: &Agent, jvm: Jvm<'_>, plugin: Option<&str>) -> Result<usize, String> {
    agent.event_file.reset(jvm, plugin)?;
    let ranges = agent.table.ranges(plugin);
    self_removal::put_back(agent, jvm, &ranges);
    // Nobody copies in between: a copy made before would be written afterwards.
    let _exclusive = agent.snapshot.exclusive();
    probe_arrays::zero(jvm, &ranges)?;
    agent.snapshot.reset(plugin, &ranges);
    Ok(ranges.iter().map(|range| range.count as usize).sum())
}
