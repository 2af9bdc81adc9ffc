//! The control thread: it waits for commands of `classhook` and answers them.
//!
//! Commands that need JNI or JVM TI are carried out on this thread, one after another.

use crate::agent::Agent;
use crate::commands;
use crate::ffi::callbacks::CONTROL_THREAD;
use crate::ffi::live;
use crate::ffi::phases::Live;
use crate::ffi::refs::Local;
use crate::messages::{self, Code};
use control::{Server, Stopper};
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long `VMDeath` waits for the command that is being carried out.
const PATIENCE: Duration = Duration::from_secs(10);
/// Local references that one command may hold outside frames of its own.
const CAPACITY: i32 = 64;

/// How other threads talk to the control thread.
#[derive(Debug, Default)]
pub(crate) struct Channel {
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

impl Channel {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
struct Ended<'a>(&'a Channel);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        (state.server, state.stopper) = (None, None);
        drop(state);
        self.0.changed.notify_all();
    }
}

/// Makes the socket and starts the thread, a daemon that the application does not see. Without a
/// socket the agent works as before, and says so once.
pub(crate) fn start(agent: &Agent, phase: Live, local: Local<'_>) {
    if let Err(cause) = try_start(agent, phase, local) {
        let consequence = "the agent works, and nobody can speak to it";
        messages::warning(Code::Control, format_args!("{cause}; {consequence}"));
    }
}

fn try_start(agent: &Agent, phase: Live, local: Local<'_>) -> Result<(), String> {
    let (server, stopper) =
        Server::open(Path::new(control::place::TMP)).map_err(|error| error.to_string())?;
    messages::info(format_args!("listening at {}", server.path().display()));
    let thread = live::new_thread(agent.jvmti(), local, phase, "Classhook control")
        .map_err(|cause| format!("the control thread cannot be made: {cause}"))?;
    {
        let mut state = agent.channel.state();
        state.server = Some(server);
        state.stopper = Some(stopper);
    }
    agent
        .jvmti()
        .run_agent_thread(phase, &thread, CONTROL_THREAD)
        .map_err(|error| {
            drop(Ended(&agent.channel));
            format!("the control thread cannot be started: {error}")
        })
}

/// The body of the control thread.
pub(crate) fn run(agent: &Agent, phase: Live, local: Local<'_>) {
    let _ended = Ended(&agent.channel);
    let Some(server) = agent.channel.state().server.take() else {
        return;
    };
    server.run(|request, uid| {
        let answer = |local: Local<'_>| commands::answer(agent, phase, local, request, uid);
        local
            .with_frame(CAPACITY, answer)
            .unwrap_or_else(commands::no_memory)
    });
    if agent.has_left() {
        agent.jvmti().dispose();
    }
}
