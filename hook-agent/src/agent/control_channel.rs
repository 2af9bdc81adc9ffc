//! How other threads talk to the control thread.

use control::{Server, Stopper};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long `VMDeath` waits for the command that is being carried out.
const PATIENCE: Duration = Duration::from_secs(10);

/// The socket, and what ends the thread that serves it.
#[derive(Debug, Default)]
pub(crate) struct ControlChannel {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Handed to the thread when it begins.
    server: Option<Server>,
    /// There while the thread runs.
    stopper: Option<Stopper>,
}

impl ControlChannel {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread is about to be started with this server.
    pub fn set(&self, server: Server, stopper: Stopper) {
        let mut state = self.state();
        state.server = Some(server);
        state.stopper = Some(stopper);
    }

    /// The server, for the thread.
    pub fn take_server(&self) -> Option<Server> {
        self.state().server.take()
    }

    /// Ends the thread and waits until its socket is gone; false if it does not end in time. True at
    /// once if there is none.
    pub fn stop(&self) -> bool {
        let mut state = self.state();
        let until = Instant::now() + PATIENCE;
        while let Some(stopper) = &state.stopper {
            stopper.stop();
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
}

/// Says that the thread has ended, also when it panics.
#[derive(Debug)]
pub(crate) struct Ended<'a>(pub &'a ControlChannel);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        (state.server, state.stopper) = (None, None);
        drop(state);
        self.0.changed.notify_all();
    }
}
