//! The agent thread: it copies the probe arrays into the snapshot, and writes to the event files.
//!
//! A killed JVM loses the data since the last turn, so this thread has no other task.

use crate::agent::Agent;
use crate::agent::thread_signal::{Stopped, Turn};
use crate::ffi::jvm::Jvm;
use crate::ffi::{live, process, thread};
use crate::messages;
use crate::recorded;
use std::time::{Duration, Instant};

/// The name of the agent thread, also for the system.
pub(crate) const NAME: &str = "Classhook";
/// The shortest rest between two turns.
const SHORTEST_REST: Duration = Duration::from_millis(5);
/// The longest rest: for programs whose many probes take long to read, while no array is in use, and while nothing can
/// be written.
const LONGEST_REST: Duration = Duration::from_millis(50);
/// The rest as a multiple of the CPU time for waking up and reading the arrays, so that these take at most 0.4 % of a
/// processor. Writing does not count: its amount does not depend on the rest.
const REST_FOR_READING: u32 = 250;

/// Starts the agent thread, a daemon that the application does not see.
///
/// # Errors
///
/// The reason why it cannot be started.
pub(crate) fn start(agent: &'static Agent, jvm: Jvm<'_>) -> Result<(), String> {
    let thread = live::new_thread(jvm, NAME)
        .map_err(|cause| format!("the agent thread cannot be created: {cause}"))?;
    agent.threads.signal.set_started(true);
    thread::start(jvm, &thread, move |jvm| run(agent, jvm)).map_err(|error| {
        agent.threads.signal.set_started(false);
        format!("the agent thread cannot be started: {error}")
    })
}

/// The body of the agent thread.
fn run(agent: &'static Agent, jvm: Jvm<'_>) {
    let _stopped = Stopped(&agent.threads.signal);
    let mut rest = SHORTEST_REST;
    let mut events_due = Instant::now();
    loop {
        let used = process::thread_cpu_time();
        let turn = agent.threads.signal.pause(rest);
        if turn == Turn::Stop {
            return;
        }
        let is_any = recorded::copy_hits(agent, jvm);
        let took = process::thread_cpu_time().saturating_sub(used);
        rest = match recorded::write_copied(agent) {
            Ok(()) if is_any => rest_after(took),
            _ => LONGEST_REST, // a failure is reported already, and the next turn tries again
        };
        let all = turn == Turn::WriteAll;
        if all || events_due <= Instant::now() {
            agent
                .results
                .sessions
                .each_file(|file| file.write(jvm, all));
            events_due = Instant::now() + LONGEST_REST;
        }
        if all {
            messages::info("snapshot written on request");
        }
    }
}

/// The rest after a turn that took this much CPU time to wake up and to read the arrays.
fn rest_after(took: Duration) -> Duration {
    let rest = took.saturating_mul(REST_FOR_READING);
    rest.clamp(SHORTEST_REST, LONGEST_REST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_grows_with_the_time_for_reading() {
        let after = |micros| rest_after(Duration::from_micros(micros));
        assert_eq!(after(3), SHORTEST_REST);
        assert_eq!(after(40), Duration::from_millis(10));
        assert_eq!(after(100_000), LONGEST_REST);
    }
}
