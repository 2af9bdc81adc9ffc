//! The agent thread: it copies the JVM's arrays into the snapshot, and adds to the event file. A killed JVM loses what came
//! after its last turn, so it does nothing else.

use crate::agent::Agent;
use crate::agent::thread_signal::{Stopped, Turn};
use crate::ffi::jvm::Jvm;
use crate::ffi::{live, thread};
use crate::messages;
use crate::recorded;

/// Starts the agent thread, a daemon that the application does not see.
///
/// # Errors
///
/// Why it cannot be started.
pub(crate) fn start(agent: &'static Agent, jvm: Jvm<'_>) -> Result<(), String> {
    let thread = live::new_thread(jvm, "Classhook")
        .map_err(|cause| format!("the agent thread cannot be made: {cause}"))?;
    agent.signal.set_started(true);
    thread::start(jvm, &thread, move |jvm| run(agent, jvm)).map_err(|error| {
        agent.signal.set_started(false);
        format!("the agent thread cannot be started: {error}")
    })
}

/// The body of the agent thread.
fn run(agent: &'static Agent, jvm: Jvm<'_>) {
    let _stopped = Stopped(&agent.signal);
    loop {
        let turn = agent.signal.pause();
        if turn == Turn::Stop {
            return;
        }
        let _ = recorded::write_hits(agent, jvm); // reported already, and tried again
        let all = turn == Turn::WriteAll;
        agent.event_file.write(jvm, all);
        if all {
            messages::info("snapshot written on request");
        }
    }
}
