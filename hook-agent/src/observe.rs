//! What the JVM says of itself, recorded: samples of threads and allocations, contention, exceptions, collections.
//!
//! A recording has a JVM TI environment of its own, which goes with it and takes events, tags and capabilities along.
//! Events are copied on the threads that cause them; a thread of the agent reads them, looks at the threads, and writes
//! the file.

mod environment;
mod events;
mod file;
mod frames;
mod identity;
mod reader;
mod threads;

pub(crate) use environment::equipped;
pub(crate) use events::observed;

use crate::agent::Agent;
use crate::agent::observation::Running;
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::Jvmti;
use crate::ffi::{live, thread};
use crate::messages::{self, Code};
use file::File;
use observations::Subscription;
use reader::Reader;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use threads::Threads;

/// The thread that records.
const THREAD: &str = "Classhook obs";
/// How often events are read.
const TURN: Duration = Duration::from_millis(20);
/// How often the file is written while the recording goes on.
const WRITE: Duration = Duration::from_secs(5);

/// Records what the agent was started with, if anything.
pub(crate) fn begin_prepared(agent: &'static Agent, jvm: Jvm<'_>) {
    let (Some(subscription), Some(jvmti)) = (
        agent.settings.observe.clone(),
        agent.observation.take_prepared(),
    ) else {
        return;
    };
    if let Err(cause) = begin(agent, jvm, jvmti, subscription) {
        agent.failures.agent_failed();
        messages::error(
            Code::Observe,
            format_args!("nothing is recorded of the JVM's own events: {cause}"),
        );
    }
}

/// Begins a recording in an environment that [`equipped`] made; it is disposed of if that fails.
///
/// # Errors
///
/// What the JVM refuses, or that another recording is under way.
pub(crate) fn begin(
    agent: &'static Agent,
    jvm: Jvm<'_>,
    jvmti: Jvmti,
    subscription: Subscription,
) -> Result<PathBuf, String> {
    let Some(running) = agent.observation.begin(jvmti, subscription) else {
        jvmti.dispose();
        return Err("another recording is under way in this JVM".to_owned());
    };
    let file = File::new(agent);
    let path = file.path().to_owned();
    let begun = start(agent, jvm, running, file);
    if begun.is_err() {
        agent.observation.forget();
        jvmti.dispose();
    }
    begun.map(|()| path)
}

fn start(
    agent: &'static Agent,
    jvm: Jvm<'_>,
    running: Arc<Running>,
    file: File,
) -> Result<(), String> {
    environment::enable(jvm.live, &running)?;
    let thread = live::new_thread(jvm, THREAD)?;
    let jvm = Jvm::new(running.jvmti, jvm.live, jvm.local);
    thread::start(jvm, &thread, move |jvm| run(agent, jvm, &running, file))
        .map_err(|error| error.to_string())
}

/// Ends the recording that is under way, if any; its file is complete then.
///
/// # Errors
///
/// Why the file is not complete.
pub(crate) fn end(agent: &Agent) -> Result<(), String> {
    stop(agent, false)
}

fn stop(agent: &Agent, dying: bool) -> Result<(), String> {
    match agent.observation.running() {
        Some(running) => running.stop(dying),
        None => Ok(()),
    }
}

/// As [`end`], perhaps because the JVM ends; a failure is reported.
pub(crate) fn finish(agent: &Agent, dying: bool) {
    if let Err(cause) = stop(agent, dying) {
        messages::error(
            Code::Observe,
            format_args!("the recording of the JVM's own events is incomplete: {cause}"),
        );
    }
}

/// The body of the thread that records.
fn run(agent: &'static Agent, jvm: Jvm<'_>, running: &Running, mut file: File) {
    let mut reader = Reader::new(agent, running);
    let mut threads = Threads::new(jvm, &running.subscription);
    let mut write = Instant::now() + WRITE;
    loop {
        let turn = Instant::now() + TURN;
        let stops = running.pause(threads.due().map_or(turn, |due| due.min(turn)));
        threads.look(jvm, running, &mut reader);
        reader.read(jvm, running);
        if stops {
            break;
        }
        if write <= Instant::now() {
            // Reported when it ends, if it is still so then.
            let _ = file.write(reader.recorded(false));
            write = Instant::now() + WRITE;
        }
    }
    environment::disable(jvm.live, running);
    threads.finish(&mut reader);
    reader.read(jvm, running);
    reader.count_live(jvm, running);
    let outcome = file.write(reader.recorded(true));
    running.jvmti.dispose();
    agent.observation.forget();
    running.ended(outcome);
}
