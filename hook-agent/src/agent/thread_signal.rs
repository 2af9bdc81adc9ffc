//! The signal from other threads to the agent thread and the upkeep thread.

use probes::ProbeTable;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longest wait of `VMDeath` for the thread's current task.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Longest wait of a class for the upkeep thread to define an array. After a timeout no class waits until an array is
/// defined.
const ROOM_TIMEOUT: Duration = Duration::from_secs(2);

/// Requests to such a thread, and its state.
#[derive(Debug, Default)]
pub(crate) struct ThreadSignal {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    started: bool,
    stop: bool,
    stopped: bool,
    wake: bool,
    /// Number of requests to write all data, and how many of them the thread has begun and ended.
    flushes: u64,
    flushes_begun: u64,
    flushes_ended: u64,
    /// True if arrays cannot be defined, so that waiting for one is useless.
    hopeless: bool,
}

/// The task of the thread for this turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Write new data.
    Write,
    /// Write all data, because a user requested it.
    WriteAll,
    /// To end.
    Stop,
}

impl ThreadSignal {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the pause of the thread.
    pub fn wake(&self) {
        self.state().wake = true;
        self.changed.notify_all();
    }

    /// Requests that the agent thread writes all data now. Returns the number of the request.
    pub fn flush(&self) -> u64 {
        let mut state = self.state();
        state.wake = true;
        state.flushes += 1;
        let request = state.flushes;
        drop(state);
        self.changed.notify_all();
        request
    }

    /// As [`ThreadSignal::flush`], and waits at most this time until it is done. Returns true if it was.
    pub fn flush_within(&self, timeout: Duration) -> bool {
        let request = self.flush();
        let goes_on =
            |state: &State| state.flushes_ended < request && state.started && !state.stopped;
        self.wait_while(self.state(), timeout, goes_on)
            .flushes_ended
            >= request
    }

    /// Waits at most this time while `holds` is true.
    fn wait_while<'s>(
        &'s self,
        state: MutexGuard<'s, State>,
        timeout: Duration,
        holds: impl Fn(&State) -> bool,
    ) -> MutexGuard<'s, State> {
        let waited = self
            .changed
            .wait_timeout_while(state, timeout, |state| holds(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Notes that the thread is being started, or could not be.
    pub fn set_started(&self, started: bool) {
        self.state().started = started;
    }

    /// Stops the thread and waits until it has ended. Returns false if it does not end in time. Returns true at once if
    /// it does not run.
    pub fn stop(&self) -> bool {
        let mut state = self.state();
        state.stop = true;
        self.changed.notify_all();
        let runs = |state: &State| state.started && !state.stopped;
        !runs(&self.wait_while(state, TIMEOUT, runs))
    }

    /// Waits until arrays are defined ahead of need again, if few are left. Otherwise threads that load classes could
    /// use them up before the upkeep thread is scheduled.
    pub fn await_room(&self, table: &ProbeTable) {
        if !table.is_short() {
            return;
        }
        let until = Instant::now() + ROOM_TIMEOUT;
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

    /// Sets whether arrays can be defined.
    pub fn arrays_come(&self, come: bool) {
        self.state().hopeless = !come;
        self.changed.notify_all();
    }

    /// Waits for the next turn of the thread, at most this time.
    pub fn pause(&self, longest: Duration) -> Turn {
        let mut state = self.state();
        if state.flushes_ended < state.flushes_begun {
            state.flushes_ended = state.flushes_begun;
            self.changed.notify_all();
        }
        if !state.stop && !state.wake {
            state = self
                .changed
                .wait_timeout(state, longest)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        state.wake = false;
        let flush = state.flushes_begun < state.flushes;
        state.flushes_begun = state.flushes;
        match (state.stop, flush) {
            (true, _) => Turn::Stop,
            (false, true) => Turn::WriteAll,
            (false, false) => Turn::Write,
        }
    }
}

/// Marks the thread as ended when dropped, also by a panic.
#[derive(Debug)]
pub(crate) struct Stopped<'a>(pub &'a ThreadSignal);

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        self.0.state().stopped = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn stop_waits_for_the_thread_and_needs_none() {
        assert!(ThreadSignal::default().stop());
        let signal = Arc::new(ThreadSignal::default());
        signal.set_started(true);
        let thread = std::thread::spawn({
            let signal = Arc::clone(&signal);
            move || {
                let _stopped = Stopped(&signal);
                while signal.pause(Duration::from_millis(1)) != Turn::Stop {}
            }
        });
        assert!(signal.stop());
        thread.join().expect("the thread ends");
    }

    #[test]
    fn class_waits_for_an_array_only_while_arrays_can_be_defined() {
        let (signal, table) = (ThreadSignal::default(), ProbeTable::new());
        signal.await_room(&table); // no thread that could define an array
        signal.set_started(true);
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
    fn flush_waits_until_done_or_the_timeout() {
        let signal = ThreadSignal::default();
        assert!(!signal.flush_within(Duration::from_secs(60)), "no thread");
        signal.set_started(true);
        assert!(!signal.flush_within(Duration::from_millis(1)));
        let written = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while signal.pause(Duration::from_secs(60)) != Turn::Stop {
                    written.store(true, std::sync::atomic::Ordering::Relaxed);
                }
            });
            assert!(signal.flush_within(Duration::from_secs(60)));
            assert!(written.load(std::sync::atomic::Ordering::Relaxed));
            signal.state().stop = true;
            signal.wake();
        });
    }

    #[test]
    fn request_to_flush_ends_the_pause_and_is_answered_once() {
        let signal = ThreadSignal::default();
        signal.flush();
        assert_eq!(signal.pause(Duration::from_secs(60)), Turn::WriteAll);
        assert_eq!(signal.pause(Duration::from_millis(1)), Turn::Write);
    }
}
