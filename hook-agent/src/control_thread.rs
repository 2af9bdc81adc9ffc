//! The control thread: it waits for commands of `classhook` and answers them.
//!
//! Commands that need JNI or JVM TI are carried out on this thread, one after another.

use crate::agent::Agent;
use crate::agent::control_channel::Ended;
use crate::commands;
use crate::ffi::jvm::Jvm;
use crate::ffi::{live, thread};
use crate::messages::{self, Code};
use control::Server;
use std::path::Path;

/// Local references that one command may hold outside frames of its own.
const CAPACITY: i32 = 64;

/// Makes the socket and starts the thread, a daemon that the application does not see. Without a
/// socket the agent works as before, and reports that once.
pub(crate) fn start(agent: &'static Agent, jvm: Jvm<'_>) {
    if let Err(cause) = try_start(agent, jvm) {
        let consequence = "the agent works, and takes no commands";
        messages::warning(Code::Control, format_args!("{cause}; {consequence}"));
    }
}

fn try_start(agent: &'static Agent, jvm: Jvm<'_>) -> Result<(), String> {
    let (server, stopper) =
        Server::open(Path::new(control::socket::TMP)).map_err(|error| error.to_string())?;
    messages::info(format_args!("listening at {}", server.path().display()));
    let thread = live::new_thread(jvm, "Classhook control")
        .map_err(|cause| format!("the control thread cannot be made: {cause}"))?;
    agent.control.set(server, stopper);
    thread::start(jvm, &thread, move |jvm| run(agent, jvm)).map_err(|error| {
        drop(Ended(&agent.control));
        format!("the control thread cannot be started: {error}")
    })
}

/// The body of the control thread.
fn run(agent: &'static Agent, jvm: Jvm<'_>) {
    let _ended = Ended(&agent.control);
    let Some(server) = agent.control.take_server() else {
        return;
    };
    server.run(|request, uid| {
        jvm.with_frame(CAPACITY, |jvm| commands::answer(agent, jvm, request, uid))
            .unwrap_or_else(commands::no_memory)
    });
    if agent.has_left() {
        agent.jvmti.dispose();
    }
}
