//! The channel from other threads to the threads that receive requests: the control thread with its worker thread, and
//! the JaCoCo thread.

use control::message::Holder;
use control::{Leases, Stopper};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longest wait of `VMDeath` for the request that is being carried out.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The stopper of these threads, and the number that are running.
#[derive(Debug, Default)]
pub(crate) struct ControlChannel {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Number of running threads.
    threads: usize,
    /// Ends the thread that has the socket, and with it the others.
    stopper: Option<Stopper>,
    /// The leases of clients.
    leases: Leases,
}

impl ControlChannel {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the stopper of the threads.
    pub fn set(&self, stopper: Stopper) {
        self.state().stopper = Some(stopper);
    }

    /// Sets the leases of clients.
    pub fn set_leases(&self, leases: Leases) {
        self.state().leases = leases;
    }

    /// The commands that hold leases.
    pub fn holders(&self) -> Vec<Holder> {
        let leases = self.state().leases.clone();
        leases.holders()
    }

    /// Counts a thread that is about to start. The thread ends when the value is dropped.
    pub fn begin(&self) -> RunningThread<'_> {
        self.state().threads += 1;
        RunningThread(self)
    }

    /// Ends the threads and waits until they and their socket are gone. Returns false if they do not end in time.
    /// Returns true at once if no thread runs.
    pub fn stop(&self) -> bool {
        if let Some(stopper) = &self.state().stopper {
            stopper.stop();
        }
        self.await_threads(0)
    }

    /// Waits until at most `left` threads run. Returns false on a timeout.
    pub fn await_threads(&self, left: usize) -> bool {
        let mut state = self.state();
        let until = Instant::now() + TIMEOUT;
        while state.threads > left {
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return false;
            }
            state = self
                .changed
                .wait_timeout(state, rest)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        true
    }
}

/// A running thread, or one that is about to start. It is dropped when the thread ends, also by a panic.
#[derive(Debug)]
pub(crate) struct RunningThread<'a>(&'a ControlChannel);

impl Drop for RunningThread<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.threads -= 1;
        if state.threads == 0 {
            state.stopper = None; // and its file descriptor
        }
        drop(state);
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_waits_until_both_threads_have_ended() {
        let channel = ControlChannel::default();
        assert!(channel.stop());
        let (one, other) = (channel.begin(), channel.begin());
        std::thread::scope(|scope| {
            scope.spawn(move || drop(one));
            assert!(channel.await_threads(1));
            scope.spawn(move || drop(other));
            assert!(channel.stop());
        });
    }
}
