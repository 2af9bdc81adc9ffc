//! The agent thread: it copies the JVM's arrays into the snapshot and defines new arrays ahead of
//! need.
//!
//! No lock of ours is held while the JVM is called, but for the list of arrays, which the agent
//! thread alone extends once the live phase has begun.

use crate::agent::Agent;
use crate::ffi::callbacks::AGENT_THREAD;
use crate::ffi::live;
use crate::ffi::phases::Live;
use crate::ffi::refs::Local;
use crate::messages::{self, Code};
use crate::probe_class::ProbeClass;
use crate::{retransform, spans};
use probes::{Flush, ProbeTable};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often the arrays are copied; what is older than twice this survives a kill.
const INTERVAL: Duration = Duration::from_millis(50);
/// How long `VMDeath` waits for the agent thread to finish a write.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a class waits for the agent thread to define an array; if that is not enough, nobody
/// waits any more until one is defined.
const ROOM_PATIENCE: Duration = Duration::from_secs(2);
/// How long after a failure, doubled each time, another array is tried.
const FIRST_RETRY: Duration = Duration::from_millis(100);
/// The longest pause between two tries.
const LAST_RETRY: Duration = Duration::from_secs(60);

/// How other threads talk to the agent thread.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    started: bool,
    stop: bool,
    stopped: bool,
    wake: bool,
    flush: bool,
    /// Arrays do not come, so that waiting for one is of no use.
    hopeless: bool,
}

/// What the agent thread was woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Record,
    Flush,
    Stop,
}

impl Signal {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the pause of the agent thread.
    pub fn wake(&self) {
        self.state().wake = true;
        self.changed.notify_all();
    }

    /// Asks for a record right now.
    fn flush(&self) {
        let mut state = self.state();
        state.wake = true;
        state.flush = true;
        drop(state);
        self.changed.notify_all();
    }

    /// Stops the agent thread and waits until it touches nothing any more; false if it does not
    /// answer in time. True at once if there is none.
    pub fn stop(&self) -> bool {
        let mut state = self.state();
        state.stop = true;
        self.changed.notify_all();
        let until = Instant::now() + PATIENCE;
        while state.started && !state.stopped {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        true
    }

    /// Waits until arrays are defined ahead of need again, if there are few: threads that load classes
    /// faster than the agent thread is scheduled must not use them up.
    pub fn await_room(&self, table: &ProbeTable) {
        if !table.is_short() {
            return;
        }
        let until = Instant::now() + ROOM_PATIENCE;
        let mut state = self.state();
        while state.started && !state.stop && !state.stopped && !state.hopeless && table.is_short()
        {
            let left = until.saturating_duration_since(Instant::now());
            state.hopeless = left.is_zero();
            state.wake = true;
            self.changed.notify_all();
            state = self
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Says whether arrays can be defined, to those that wait for one.
    fn arrays_come(&self, come: bool) {
        self.state().hopeless = !come;
        self.changed.notify_all();
    }

    /// Waits for the next turn of the agent thread.
    fn pause(&self) -> Turn {
        let mut state = self.state();
        if !state.stop && !state.wake {
            state = self
                .changed
                .wait_timeout(state, INTERVAL)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        state.wake = false;
        let flush = std::mem::take(&mut state.flush);
        match (state.stop, flush) {
            (true, _) => Turn::Stop,
            (false, true) => Turn::Flush,
            (false, false) => Turn::Record,
        }
    }
}

/// Says that the agent thread has ended, also when it panics.
struct Stopped<'a>(&'a Signal);

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        self.0.state().stopped = true;
        self.0.changed.notify_all();
    }
}

/// Starts the agent thread, a daemon that the application does not see.
///
/// # Errors
///
/// Why not, in words.
pub(crate) fn start_thread(agent: &Agent, phase: Live, local: Local<'_>) -> Result<(), String> {
    let jvmti = agent.jvmti();
    let thread = live::new_thread(jvmti, local, phase, "Classhook")
        .map_err(|cause| format!("the agent thread cannot be made: {cause}"))?;
    agent.signal.state().started = true;
    jvmti
        .run_agent_thread(phase, &thread, AGENT_THREAD)
        .map_err(|error| {
            agent.signal.state().started = false;
            format!("the agent thread cannot be started: {error}")
        })
}

/// The body of the agent thread.
pub(crate) fn run(agent: &Agent, phase: Live, local: Local<'_>) {
    let _stopped = Stopped(&agent.signal);
    spans::await_natives(agent, phase, local);
    let mut growth = Growth::default();
    loop {
        let turn = agent.signal.pause();
        if turn == Turn::Stop {
            return;
        }
        retransform::retransform_prepared(agent, phase, local);
        while growth.is_due() && agent.table.wants_arrays() {
            let defined = define_arrays(agent, phase, local, 1);
            agent.signal.arrays_come(defined.is_ok());
            growth.note(defined);
        }
        if let Err((code, text)) = spans::define_counters(agent, phase, local) {
            messages::error(code, text);
        }
        let _ = copy(agent, phase, local); // said already, and tried again
        let all = turn == Turn::Flush;
        spans::drain(agent, phase, local, all);
        if all {
            messages::info("snapshot written on request");
        }
    }
}

/// When the next array may be tried: failures are told of once, and not repeated in each turn.
#[derive(Debug, Default)]
struct Growth {
    /// Not before; after a failure.
    due: Option<Instant>,
    pause: Duration,
    reported: bool,
}

impl Growth {
    fn is_due(&self) -> bool {
        self.due.is_none_or(|due| due <= Instant::now())
    }

    fn note(&mut self, defined: Result<(), (Code, String)>) {
        let Err((code, text)) = defined else {
            (self.due, self.pause) = (None, Duration::ZERO);
            return;
        };
        self.pause = (self.pause * 2).clamp(FIRST_RETRY, LAST_RETRY);
        self.due = Some(Instant::now() + self.pause);
        if !std::mem::replace(&mut self.reported, true) {
            let consequence = "classes for which no room is left stay unchanged";
            messages::error(code, format_args!("{text}; {consequence}"));
        }
    }
}

/// The `DataDumpRequest` event (SIGQUIT): the agent thread records at once.
pub(crate) fn request_flush(agent: &Agent) {
    agent.signal.flush();
}

/// Makes the arrays ready for the first class: defined, and empty if an agent was here before.
///
/// # Errors
///
/// Which class could not be defined, and why.
pub(crate) fn begin(agent: &Agent, phase: Live, local: Local<'_>) -> Result<(), (Code, String)> {
    agent.table.begin_again();
    let slots = agent.table.slots(None);
    zero(agent, phase, local, &slots).map_err(|cause| (Code::ProbeClass, cause))?;
    let missing = probes::ARRAYS_AHEAD.saturating_sub(agent.table.arrays());
    define_arrays(agent, phase, local, missing)?;
    spans::begin(agent, phase, local)
}

/// Sets slots to zero.
///
/// # Errors
///
/// Which array cannot be written, and why.
fn zero(
    agent: &Agent,
    phase: Live,
    local: Local<'_>,
    slots: &[probes::Slots],
) -> Result<(), String> {
    let arrays = agent.arrays.read().unwrap_or_else(PoisonError::into_inner);
    for slots in slots {
        let Some(array) = arrays.get(usize::from(slots.array)) else {
            continue;
        };
        live::zero_array(agent.jvmti(), local, phase, array, slots.base, slots.count)
            .map_err(|cause| format!("array {} cannot be written: {cause}", slots.array))?;
    }
    Ok(())
}

/// Forgets what was hit: all of it, or one plugin's. What is hit from now on is recorded, whatever
/// was hit before.
///
/// # Errors
///
/// Which array cannot be written, and why.
pub(crate) fn reset(
    agent: &Agent,
    phase: Live,
    local: Local<'_>,
    plugin: Option<&str>,
) -> Result<usize, String> {
    spans::reset(agent, phase, local, plugin)?;
    // No drain between: it might have read before, and would record afterwards what is forgotten.
    let _alone = agent
        .draining
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let slots = agent.table.slots(plugin);
    zero(agent, phase, local, &slots)?;
    if let Some(recorder) = agent.recorder().as_mut() {
        recorder.reset(plugin, &slots);
    }
    Ok(slots.iter().map(|slots| slots.count as usize).sum())
}

/// Defines `count` more probe classes and makes their arrays known.
///
/// # Errors
///
/// Which class could not be defined, and why.
pub(crate) fn define_arrays(
    agent: &Agent,
    phase: Live,
    local: Local<'_>,
    count: u16,
) -> Result<(), (Code, String)> {
    for _ in 0..count {
        let number = agent.table.arrays();
        let failed = |cause: &str| {
            (
                Code::ProbeClass,
                format!("probe class {number} cannot be defined: {cause}"),
            )
        };
        let class =
            ProbeClass::new(number, spans::thread_ids()).ok_or_else(|| failed("no name"))?;
        let array =
            live::define_probe_class(agent.jvmti(), local, phase, &class.name, &class.bytes)
                .map_err(|cause| failed(&cause))?;
        agent
            .arrays
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .push(array);
        agent.table.set_arrays(number + 1);
    }
    Ok(())
}

/// Writes all that is known: what [`copy`] does, and what spans have recorded.
///
/// # Errors
///
/// As for [`copy`].
pub(crate) fn drain(agent: &Agent, phase: Live, local: Local<'_>) -> Result<(), String> {
    spans::drain(agent, phase, local, true);
    copy(agent, phase, local)
}

/// Copies every array in use and writes what is new. Failures to write are reported when they begin;
/// what could not be written is kept for the next time.
///
/// # Errors
///
/// Why not everything is on disk.
fn copy(agent: &Agent, phase: Live, local: Local<'_>) -> Result<(), String> {
    let _alone = agent
        .draining
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let mut buffer = Vec::new();
    let arrays = agent.arrays.read().unwrap_or_else(PoisonError::into_inner);
    for (array, number) in arrays.iter().zip(0..) {
        let used = agent.table.used(number);
        if used == 0 {
            continue;
        }
        buffer.resize(used, 0);
        match live::read_array(agent.jvmti(), local, phase, array, &mut buffer) {
            Ok(()) => {
                if let Some(recorder) = agent.recorder().as_mut() {
                    recorder.absorb(number, &buffer);
                }
            }
            Err(cause) => messages::error(
                Code::ProbeClass,
                format_args!("array {number} cannot be read: {cause}"),
            ),
        }
    }
    drop(arrays);
    let failures = agent.take_failures();
    let flushed = agent.recorder().as_mut().map(|recorder| {
        failures
            .iter()
            .for_each(|failure| recorder.failure(failure));
        recorder.flush(agent.table)
    });
    match flushed {
        Some(Err(error)) => {
            messages::error(Code::Write, &error);
            Err(error.to_string())
        }
        Some(Ok(Flush::Stalled(bytes))) => Err(format!("{bytes} bytes wait to be written")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn stop_waits_for_the_thread_and_needs_none() {
        assert!(Signal::default().stop());
        let signal = Arc::new(Signal::default());
        signal.state().started = true;
        let thread = std::thread::spawn({
            let signal = Arc::clone(&signal);
            move || {
                let _stopped = Stopped(&signal);
                while signal.pause() != Turn::Stop {}
            }
        });
        assert!(signal.stop());
        thread.join().expect("the thread ends");
    }

    #[test]
    fn class_waits_for_room_only_while_there_is_hope() {
        let (signal, table) = (Signal::default(), ProbeTable::new());
        signal.await_room(&table); // no thread that could define an array
        signal.state().started = true;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !signal.state().wake {
                    std::thread::yield_now();
                }
                table.set_arrays(probes::ARRAYS_AHEAD);
                signal.arrays_come(true);
            });
            signal.await_room(&table);
        });
        assert!(!table.is_short());
        signal.arrays_come(false);
        signal.await_room(&ProbeTable::new());
        assert!(signal.state().hopeless);
    }

    #[test]
    fn array_that_cannot_be_defined_is_not_tried_in_each_turn() {
        let mut growth = Growth::default();
        assert!(growth.is_due());
        for _ in 0..20 {
            growth.note(Err((Code::ProbeClass, "no memory".to_owned())));
            assert!(growth.reported && growth.pause <= LAST_RETRY);
        }
        assert_eq!(growth.pause, LAST_RETRY);
        assert!(!growth.is_due());
        growth.note(Ok(()));
        assert!(growth.is_due());
    }

    #[test]
    fn a_request_to_flush_ends_the_pause_and_is_answered_once() {
        let signal = Signal::default();
        signal.flush();
        assert_eq!(signal.pause(), Turn::Flush);
        assert_eq!(signal.pause(), Turn::Record);
    }
}
