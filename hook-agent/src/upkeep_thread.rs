//! The upkeep thread: it defines arrays ahead of need, retransforms classes that became modifiable, and writes the plan
//! cache. It is separate so that slow tasks do not delay the agent thread.

use crate::agent::Agent;
use crate::agent::thread_signal::{Stopped, Turn};
use crate::ffi::jvm::Jvm;
use crate::ffi::{live, thread};
use crate::messages::{self, Code};
use crate::spans::counters;
use crate::{probe_arrays, retransform};
use std::time::{Duration, Instant};

/// Rest between two turns.
const REST: Duration = Duration::from_millis(50);
/// Pause after the first failure to define an array; it doubles with each failure.
const FIRST_RETRY: Duration = Duration::from_millis(100);
/// The longest pause between two attempts.
const LAST_RETRY: Duration = Duration::from_secs(60);
/// Longest wait for the return of `Agent_OnAttach`.
const BIND_TIMEOUT: Duration = Duration::from_secs(60);

/// Starts the upkeep thread, a daemon that the application does not see.
///
/// # Errors
///
/// The reason why it cannot be started.
pub(crate) fn start(agent: &'static Agent, jvm: Jvm<'_>) -> Result<(), String> {
    let thread = live::new_thread(jvm, "Classhook upkeep")
        .map_err(|cause| format!("the upkeep thread cannot be created: {cause}"))?;
    agent.threads.upkeep.set_started(true);
    thread::start(jvm, &thread, move |jvm| run(agent, jvm)).map_err(|error| {
        agent.threads.upkeep.set_started(false);
        format!("the upkeep thread cannot be started: {error}")
    })
}

/// The body of the upkeep thread.
fn run(agent: &'static Agent, jvm: Jvm<'_>) {
    let _stopped = Stopped(&agent.threads.upkeep);
    bind_spans(agent, jvm);
    let mut growth = Growth::default();
    while agent.threads.upkeep.pause(REST) != Turn::Stop {
        retransform::retransform_prepared(agent, jvm);
        while growth.is_due() && agent.results.table.wants_arrays() {
            let defined = probe_arrays::define(jvm, 1);
            agent.threads.upkeep.arrays_come(defined.is_ok());
            growth.note(defined);
        }
        if let Err((code, text)) = counters::define(jvm) {
            messages::error(code, text);
        }
        agent.plugins.write_plans(false);
    }
}

/// Waits until methods may get spans, or never will.
pub(crate) fn await_spans(agent: &Agent) {
    let until = Instant::now() + BIND_TIMEOUT;
    while agent.results.table.spans().is_held() && agent.run.is_running() && Instant::now() < until
    {
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until the JVM finds the agent's native methods, which requires that `Agent_OnAttach` has returned. Then it
/// instruments the classes whose spans were postponed.
fn bind_spans(agent: &Agent, jvm: Jvm<'_>) {
    let spans = agent.results.table.spans();
    if !spans.is_held() {
        return;
    }
    let until = Instant::now() + BIND_TIMEOUT;
    while !live::bind_natives(jvm) {
        if !agent.run.is_running() || Instant::now() > until {
            return messages::error(
                Code::Thread,
                "the JVM does not find the agent's native methods; no spans are recorded",
            );
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut postponed = false;
    for spans in agent.results.table.all_spans() {
        spans.hold(false);
        postponed |= spans.take_postponed();
    }
    // Otherwise the worker thread waits for this and does it.
    if postponed && !agent.instruments_later() {
        retransform::retransform_loaded(agent, jvm);
    }
}

/// The time of the next attempt to define an array. A failure is reported once, and not retried in each turn.
#[derive(Debug, Default)]
struct Growth {
    /// The earliest time of the next attempt, after a failure.
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
            let consequence = "classes without room in an array stay unchanged";
            messages::error(code, format_args!("{text}; {consequence}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_array_definition_is_not_retried_in_each_turn() {
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
}
