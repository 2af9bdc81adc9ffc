//! Recordings of events of the JVM, for files and for plugins: samples of threads and allocations, contention,
//! exceptions, collections, and more.
//!
//! Each recording, and each plugin, has its own JVM TI environment. Disposing of the environment ends its events, tags
//! and capabilities. The threads that cause events copy them; a thread of the agent reads them, samples the threads,
//! and writes the file.

mod about;
mod answers;
mod environment;
mod events;
mod file;
mod frames;
mod identity;
mod inbox;
mod locks;
mod look;
mod paths;
mod plugin;
mod reader;
mod references;
mod reported;
mod status;
mod tasks;
mod threads;
mod unfinished;
mod waits;
mod wall;

pub(crate) use environment::{equip_for_owners, equipped};
pub(crate) use events::{freed, observed, observed_of_jvm};
pub(crate) use paths::paths;
pub(crate) use references::{created, deleted};

use crate::agent::Agent;
use crate::agent::observation::{Listener, Running};
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::Jvmti;
use crate::ffi::vm::Vm;
use crate::ffi::{live, thread};
use crate::messages::{self, Code};
use file::File;
use host::Observer;
use inbox::Inbox;
use locks::Locks;
use observations::{Group, Subscription, Wish};
use plugin::Listening;
use reader::Reader;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tasks::Tasks;
use threads::Threads;
use wall::Wall;

/// The name of the threads that record or run plugins.
const THREAD: &str = "Classhook obs";
/// Interval at which events are read.
const TURN: Duration = Duration::from_millis(20);
/// Interval at which the file is written during a recording.
const WRITE: Duration = Duration::from_secs(5);

/// Begins the recording of the option `observe`, if it is set.
pub(crate) fn begin_prepared(agent: &'static Agent, jvm: Jvm<'_>) {
    let (Some(subscription), Some(jvmti)) = (
        agent.settings.observe.clone(),
        agent.observation.take_prepared(Listener::Recording),
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

/// Begins a recording in an environment that [`equipped`] created. The environment is disposed of if that fails.
///
/// # Errors
///
/// The capability or event that the JVM refuses, or that another recording is under way.
pub(crate) fn begin(
    agent: &'static Agent,
    jvm: Jvm<'_>,
    jvmti: Jvmti,
    subscription: Subscription,
) -> Result<PathBuf, String> {
    let (wishes, live) = (Wish::of_recording(&subscription), subscription.live);
    let running = agent
        .observation
        .begin(Listener::Recording, jvmti, wishes, live)
        .inspect_err(|_| jvmti.dispose())?;
    let file = File::new(agent, Listener::Recording);
    let path = file.path().to_owned();
    let at_once = subscription.after.is_zero();
    start(agent, jvm, running, at_once, move |jvm, running| {
        record(agent, jvm, running, subscription, &file)
    })?;
    Ok(path)
}

/// Starts the plugins in force that subscribe to events, and stops those that are not in force any more.
pub(crate) fn settle_plugins(agent: &'static Agent, jvm: Jvm<'_>) {
    let current = agent.plugins.current();
    let observers = current.map_or_else(Vec::new, |set| Observer::all(&set.pipeline));
    let listeners = agent.observation.all().into_iter();
    let (there, gone): (Vec<_>, Vec<_>) = listeners
        .filter(|running| matches!(running.listener, Listener::Plugin(_)))
        .partition(|running| observers.iter().any(|it| listener(it) == running.listener));
    for running in gone {
        report_end(&running, false);
    }
    for observer in observers {
        if there
            .iter()
            .any(|running| running.listener == listener(&observer))
        {
            continue;
        }
        let plugin = observer.plugin().to_owned();
        if let Err(cause) = listen(agent, jvm, observer) {
            agent.failures.agent_failed();
            messages::error(
                Code::Observer,
                format_args!(
                    "plugin `{plugin}` is told nothing of the JVM: {cause}; exceptions are offered to agents that a JVM was started with"
                ),
            );
        }
    }
}

fn listener(observer: &Observer) -> Listener {
    Listener::Plugin(observer.number())
}

/// Subscribes a plugin to its events.
fn listen(agent: &'static Agent, jvm: Jvm<'_>, observer: Observer) -> Result<(), String> {
    let listener = listener(&observer);
    let jvmti = match agent.observation.take_prepared(listener) {
        Some(prepared) => prepared,
        None => equipped(Vm::of(jvm.local), jvm.live, observer.wishes())?,
    };
    if observer.asks_for_owners() {
        // A refusal is reported when the plugin requests owners.
        let _ = equip_for_owners(jvmti, jvm.live);
    }
    let wishes = observer.wishes().to_vec();
    let running = agent
        .observation
        .begin(listener, jvmti, wishes, false)
        .inspect_err(|_| jvmti.dispose())?;
    let file = File::new(agent, listener);
    start(agent, jvm, running, true, move |jvm, running| {
        let listening = Listening::new(agent, observer, running, file);
        tell(jvm, running, listening)
    })
}

/// Records the waits of threads with open calls of a session, and collections, into its event file.
///
/// # Errors
///
/// The capability or event that the JVM refuses.
pub(crate) fn begin_waits(agent: &'static Agent, jvm: Jvm<'_>, session: u8) -> Result<(), String> {
    let listener = Listener::Waits(session);
    let jvmti = equipped(Vm::of(jvm.local), jvm.live, &waits::wishes())?;
    let running = agent
        .observation
        .begin(listener, jvmti, waits::wishes(), false)
        .inspect_err(|_| jvmti.dispose())?;
    start(agent, jvm, running, true, move |jvm, running| {
        waits::follow(agent, jvm, running, session, |running| pause(running, []))
    })
}

/// Ends the recording of waits of a session, if there is one. All waits so far are then among its calls.
pub(crate) fn end_waits(agent: &Agent, session: u8) {
    let all = agent.observation.all().into_iter();
    let mut ours = all.filter(|running| running.listener == Listener::Waits(session));
    if let Some(running) = ours.next() {
        report_end(&running, false);
    }
}

/// As [`begin_waits`] for the agent's own session, if the option `waits` is set. A failure is reported.
pub(crate) fn begin_own_waits(agent: &'static Agent, jvm: Jvm<'_>) {
    if !agent.settings.waits {
        return;
    }
    if let Err(cause) = begin_waits(agent, jvm, 0) {
        agent.failures.agent_failed();
        messages::error(
            Code::Observe,
            format_args!("no waits and collections are recorded: {cause}"),
        );
    }
}

/// Starts the thread of a subscriber, with its events enabled `at_once`. If that fails, the subscriber is removed.
fn start(
    agent: &'static Agent,
    jvm: Jvm<'_>,
    running: Arc<Running>,
    at_once: bool,
    body: impl FnOnce(Jvm<'_>, &Running) -> Result<(), String> + Send + 'static,
) -> Result<(), String> {
    let jvmti = running.jvmti;
    if running.wish(Group::Monitors).is_some() && running.listener.follows_locks() {
        running.set_lock_fields(locks::find_fields(jvm));
    }
    let enabled = match at_once {
        true => environment::enable(jvm.live, &running),
        false => Ok(()), // the thread enables them later
    };
    let begun = enabled.and_then(|()| {
        let thread = live::new_thread(jvm, THREAD)?;
        let jvm = Jvm::new(jvmti, jvm.live, jvm.local);
        let running = Arc::clone(&running);
        let run = move |jvm: Jvm<'_>| {
            let outcome = body(jvm, &running);
            running.dispose();
            agent.observation.forget(&running);
            running.ended(outcome);
        };
        thread::start(jvm, &thread, run).map_err(|error| error.to_string())
    });
    if begun.is_err() {
        agent.observation.forget(&running);
        jvmti.dispose();
    }
    begun
}

/// Ends the recording that is under way, if any; its file is complete then.
///
/// # Errors
///
/// The reason why the file is not complete.
pub(crate) fn end_recording(agent: &Agent) -> Result<(), String> {
    match agent.observation.recording() {
        Some(running) => running.stop(false),
        None => Ok(()),
    }
}

/// As [`end_recording`], but reports a failure.
pub(crate) fn finish_recording(agent: &Agent) {
    if let Some(running) = agent.observation.recording() {
        report_end(&running, false);
    }
}

/// Ends all subscribers, `dying` if the JVM ends; a failure is reported.
pub(crate) fn finish(agent: &Agent, dying: bool) {
    for running in agent.observation.all() {
        report_end(&running, dying);
    }
}

fn report_end(running: &Running, dying: bool) {
    if let Err(cause) = running.stop(dying) {
        report_incomplete(running.listener, &cause);
    }
}

fn report_incomplete(listener: Listener, cause: &str) {
    match listener {
        Listener::Recording => messages::error(
            Code::Observe,
            format_args!("the recording of the JVM's own events is incomplete: {cause}"),
        ),
        Listener::Waits(_) => messages::error(
            Code::Observe,
            format_args!("the waits of traced calls are incomplete: {cause}"),
        ),
        Listener::Plugin(_) => messages::error(
            Code::Observer,
            format_args!(
                "the tables that a plugin made of the JVM's own events are incomplete: {cause}"
            ),
        ),
    }
}

/// The body of the recording thread.
fn record(
    agent: &'static Agent,
    jvm: Jvm<'_>,
    running: &Running,
    subscription: Subscription,
    file: &File,
) -> Result<(), String> {
    let (after, length) = (subscription.after, subscription.length);
    if !after.is_zero() {
        if running.pause(Instant::now() + after) {
            return Ok(()); // ended before anything was recorded; leaves no file
        }
        environment::enable(jvm.live, running)?;
    }
    let end = length.map(|length| Instant::now() + length);
    let mut reader = Reader::new(agent, subscription);
    let mut inbox = Inbox::new(agent);
    let mut threads = Threads::new(jvm, running);
    let mut locks = Locks::new(running);
    let mut wall = Wall::new(jvm, running);
    let mut tasks = threads.due().and_then(|_| Tasks::new());
    let mut write = Instant::now() + WRITE;
    loop {
        let next = [threads.due(), wall.as_ref().map(Wall::due)];
        let stops = pause(running, next);
        let stops = stops || end.is_some_and(|end| end <= Instant::now());
        threads.look(jvm, running, &mut reader);
        if let Some(wall) = &mut wall {
            wall.look(jvm, running, &mut reader);
        }
        if let Some(locks) = &mut locks {
            locks.look(jvm, running, agent.observation.collections.now());
        }
        inbox.read(jvm, running, usize::MAX, &mut reader);
        references::read(jvm, running, &mut reader);
        if stops {
            break;
        }
        if write <= Instant::now() {
            if let Some(tasks) = &mut tasks {
                reader.add_system(tasks, &threads.names());
            }
            references::sum(jvm, running, &mut reader, false);
            // A failure is reported at the end of the recording, if it persists.
            let _ = file.write(reader.recorded(inbox.elapsed(), false));
            write = Instant::now() + WRITE;
        }
    }
    if let Some(wall) = &mut wall {
        wall.finish(jvm, running, &mut reader);
    }
    environment::disable(jvm.live, running);
    let names = threads.names();
    threads.finish(jvm, running, &mut reader);
    reader.share_unseen();
    if let Some(tasks) = &mut tasks {
        reader.add_system(tasks, &names);
        reader.add_rest_of_process();
    }
    inbox.read(jvm, running, usize::MAX, &mut reader);
    reader.add_unfinished(jvm, running);
    let now = agent.observation.collections.now();
    reader.add_parked(jvm, locks::unfinished(jvm, running, now));
    references::read(jvm, running, &mut reader);
    references::sum(jvm, running, &mut reader, true);
    reader.count_live(jvm, running);
    file.write(reader.recorded(inbox.elapsed(), true))
}

/// The body of the thread of a plugin.
fn tell(jvm: Jvm<'_>, running: &Running, mut listening: Listening) -> Result<(), String> {
    environment::replay(jvm.live, running);
    let mut threads = Threads::new(jvm, running);
    let mut write = Instant::now() + WRITE;
    loop {
        let stops = pause(running, [threads.due()]);
        threads.look(jvm, running, &mut listening);
        listening.read(jvm, running);
        if stops || listening.is_retired() {
            break;
        }
        if write <= Instant::now() {
            listening.write();
            write = Instant::now() + WRITE;
        }
    }
    environment::disable(jvm.live, running);
    threads.finish(jvm, running, &mut listening);
    let outcome = listening.finish(jvm, running);
    match (outcome, listening.is_retired()) {
        // Nothing waits for the end of a retired plugin.
        (Err(cause), true) => {
            report_incomplete(running.listener, &cause);
            Ok(())
        }
        (outcome, _) => outcome,
    }
}

/// Waits until the next task is due, and returns true if the subscriber shall end.
fn pause(running: &Running, due: impl IntoIterator<Item = Option<Instant>>) -> bool {
    let turn = Instant::now() + TURN;
    let due = due.into_iter().flatten();
    running.pause(due.fold(turn, Instant::min))
}
