//! Prepares, writes and resets the data that probes and spans record.
//!
//! No lock of the agent is held during calls of the JVM, except for the list of arrays.

use crate::agent::Agent;
use crate::ffi::jvm::Jvm;
use crate::ffi::live;
use crate::messages::Code;
use crate::spans::event_file::EventFile;
use crate::spans::{counters, runtime};
use crate::{hit_code, probe_arrays};
use probes::{ProbeRange, ProbeTable};

/// Prepares the arrays and counters for the first class: they are defined, and zeroed if an agent was loaded before.
///
/// # Errors
///
/// The class that cannot be defined, with the reason.
pub(crate) fn begin(agent: &Agent, jvm: Jvm<'_>) -> Result<(), (Code, String)> {
    agent.results.table.begin_again();
    let ranges = agent.results.table.ranges(None);
    probe_arrays::zero(jvm, &ranges).map_err(|cause| (Code::ProbeClass, cause))?;
    if !ranges.is_empty() {
        // Methods that an earlier agent instrumented may still run.
        probe_arrays::discard_compiled(jvm).map_err(|cause| (Code::ProbeClass, cause))?;
    }
    hit_code::choose(agent);
    let missing = probes::ARRAYS_AHEAD.saturating_sub(agent.results.table.arrays());
    probe_arrays::define(jvm, missing)?;
    begin_spans(agent, jvm)
}

fn begin_spans(agent: &Agent, jvm: Jvm<'_>) -> Result<(), (Code, String)> {
    begin_session(agent.results.table, 0, agent.results.sessions.own());
    runtime::resolve_unwound(jvm.local);
    let is_held = !live::bind_natives(jvm);
    let all = agent.results.table.all_spans();
    all.for_each(|spans| spans.hold(is_held));
    counters::zero(jvm).map_err(|cause| (Code::ProbeClass, cause))?;
    counters::define(jvm)
}

/// Begins another recording in a session. It has the spans that are requested from now on, and the calls that are
/// entered since its file was begun. Its limits count from zero.
pub(crate) fn begin_session(table: &ProbeTable, session: u8, file: &EventFile) {
    let spans = table.spans_of(session);
    spans.begin_again();
    spans.reset_limits(None);
    if let Some(runtime) = runtime::get(session) {
        runtime.begin_again(file.base());
        // Threads that have called spans before do not join again.
        file.record();
    }
}

/// Writes all data: hit probes, new classes, and calls of spans. Failures to write are reported when they begin;
/// unwritten data is kept for the next attempt.
///
/// # Errors
///
/// The reason why data is not on disk.
pub(crate) fn write_all(agent: &Agent, jvm: Jvm<'_>) -> Result<(), String> {
    agent
        .results
        .sessions
        .each_file(|file| file.write(jvm, true));
    copy_hits(agent, jvm);
    write_copied(agent)
}

/// Copies every array in use, and returns true if there is one.
pub(crate) fn copy_hits(agent: &Agent, jvm: Jvm<'_>) -> bool {
    let snapshot = &agent.results.snapshot;
    let _exclusive = snapshot.exclusive();
    snapshot.begin_reading();
    let mut is_any = false;
    probe_arrays::read(jvm, |array, hits| {
        is_any = true;
        snapshot.absorb(array, hits);
    });
    is_any
}

/// Writes new hits from the copies, and new classes.
///
/// # Errors
///
/// As for [`write_all`].
pub(crate) fn write_copied(agent: &Agent) -> Result<(), String> {
    let failures = agent.results.failures.take_fresh();
    agent.results.snapshot.flush(agent.results.table, &failures)
}

/// The hit probes of one class.
#[derive(Debug)]
pub(crate) struct Executed {
    /// The internal name of the class.
    pub name: String,
    /// JaCoCo's id of the class.
    pub fingerprint: u64,
    /// For each probe, true if it was hit.
    pub probes: Vec<bool>,
}

/// The hit probes of one plugin, for each class with a hit. With `reset` they are cleared in the same step, so each hit
/// is in this answer or in a later one.
///
/// # Errors
///
/// The array that cannot be read or written, with the reason.
pub(crate) fn executed(
    agent: &Agent,
    jvm: Jvm<'_>,
    plugin: &str,
    reset: bool,
) -> Result<Vec<Executed>, String> {
    let snapshot = &agent.results.snapshot;
    let ranges = agent.results.table.ranges(Some(plugin));
    let exclusive = snapshot.exclusive();
    snapshot.begin_reading();
    if reset {
        probe_arrays::take(jvm, &ranges, |array, taken| snapshot.note(array, taken))?;
    } else {
        probe_arrays::read(jvm, |array, hits| snapshot.absorb(array, hits));
    }
    let executed = known_hits(agent, plugin);
    drop(exclusive);
    if reset {
        hit_code::cleared(agent, jvm)?;
        snapshot.reset(Some(plugin), &ranges);
    }
    let _ = snapshot.flush(agent.results.table, &agent.results.failures.take_fresh()); // reported already; the next attempt writes it
    Ok(executed)
}

/// Writes all hits so far and clears them in the same step. Returns the length of the snapshot with these hits.
///
/// # Errors
///
/// The array that cannot be read or written, or the reason why data is not on disk. No hit is cleared then.
pub(crate) fn take(agent: &Agent, jvm: Jvm<'_>) -> Result<u64, String> {
    let snapshot = &agent.results.snapshot;
    let ranges = agent.results.table.ranges(None);
    let exclusive = snapshot.exclusive();
    snapshot.begin_reading();
    probe_arrays::take(jvm, &ranges, |array, taken| snapshot.note(array, taken))?;
    snapshot.flush(agent.results.table, &agent.results.failures.take_fresh())?;
    let length = snapshot.length();
    drop(exclusive);
    hit_code::cleared(agent, jvm)?;
    snapshot.reset(None, &ranges);
    let _ = snapshot.flush(agent.results.table, &[]); // reported already; the next attempt writes it
    Ok(length)
}

/// The recorded hits of the classes of one plugin.
fn known_hits(agent: &Agent, plugin: &str) -> Vec<Executed> {
    let arrays = 0..agent.results.table.arrays();
    let arrays: Vec<Vec<i8>> = arrays
        .map(|array| agent.results.snapshot.known(array))
        .collect();
    let probes = |range: &ProbeRange| {
        let array = arrays.get(usize::from(range.array))?;
        let base = usize::from(range.base);
        let bytes = array.get(base..base + range.count as usize)?;
        let hit = bytes.iter().any(|byte| *byte != 0);
        hit.then(|| bytes.iter().map(|byte| *byte != 0).collect())
    };
    let classes = agent.results.table.classes_of(plugin).into_iter();
    let executed = classes.filter_map(|(name, fingerprint, range)| {
        let mut probes: Vec<bool> = probes(&range)?;
        agent.results.table.add_implied(range, &mut probes);
        Some(Executed {
            name,
            fingerprint,
            probes,
        })
    });
    executed.collect()
}

/// Clears the hits of one plugin, or all. Hits from now on are recorded, whether or not the probe was hit before.
///
/// A copy between the clearing and the end contains later hits alone, which the next copy finds in the arrays too.
///
/// # Errors
///
/// The array that cannot be written, with the reason.
pub(crate) fn reset(agent: &Agent, jvm: Jvm<'_>, plugin: Option<&str>) -> Result<usize, String> {
    agent.results.sessions.own().reset(jvm, plugin);
    let ranges = agent.results.table.ranges(plugin);
    let exclusive = agent.results.snapshot.exclusive();
    probe_arrays::zero(jvm, &ranges)?;
    drop(exclusive);
    hit_code::cleared(agent, jvm)?;
    agent.results.snapshot.reset(plugin, &ranges);
    Ok(ranges.iter().map(|range| range.count as usize).sum())
}
