//! Recordings of events of the JVM, for files and for plugins: samples of threads and allocations, contention,
//! exceptions, collections, and more.
//!
//! Each recording, and each plugin, has its own JVM TI environment. Disposing of the environment ends its events, tags
//! and capabilities. The threads that cause events copy them; a thread of the agent reads them, samples the threads,
//! and writes the file.

mod answers;
mod cpu_sampler;
mod environment;
mod events;
mod identity;
mod inbox;
mod jvm_description;
mod lock_sampler;
mod methods;
pub(crate) mod native_threads;
mod paths;
mod plugin_delivery;
mod recording_builder;
mod references;
mod subscriber_file;
mod thread_status;
mod unfinished_waits;
mod wait_reports;
mod waits;
mod wall_round;
mod wall_sampler;

pub(crate) use environment::{equip_for_owners, equipped};
pub(crate) use events::{object_freed, thread_event, vm_event};
pub(crate) use paths::paths;
pub(crate) use references::{created, deleted};

use crate::agent::Agent;
use crate::agent::subscribers::{Subscriber, SubscriberId};
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::Jvmti;
use crate::ffi::vm::Vm;
use crate::ffi::{live, thread};
use crate::messages::{self, Code};
use cpu_sampler::CpuSampler;
use host::Observer;
use inbox::Inbox;
use jvm_events::{EventKind, EventSubscription, Subscription};
use lock_sampler::LockSampler;
use native_threads::NativeThreads;
use plugin_delivery::PluginDelivery;
use recording_builder::RecordingBuilder;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use subscriber_file::SubscriberFile;
use wall_sampler::WallSampler;

/// The name of the threads that record or run plugins.
const THREAD: &str = "Classhook events";
/// Interval at which events are read.
const TURN: Duration = Duration::from_millis(20);
/// Interval at which the file is written during a recording.
const WRITE: Duration = Duration::from_secs(5);

/// Begins the recording of the option `jvm-events`, if it is set.
pub(crate) fn begin_prepared(agent: &'static Agent, jvm: Jvm<'_>) {
    let (Some(subscription), Some(jvmti)) = (
        agent.settings.jvm_events.clone(),
        agent.subscribers.take_prepared(SubscriberId::Recording),
    ) else {
        return;
    };
    if let Err(cause) = begin(agent, jvm, jvmti, subscription) {
        agent.results.failures.agent_failed();
        messages::error(
            Code::JvmEvents,
            format_args!("no events of the JVM are recorded: {cause}"),
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
    let (subscriptions, live) = (
        EventSubscription::of_recording(&subscription),
        subscription.live,
    );
    let subscriber = agent
        .subscribers
        .begin(SubscriberId::Recording, jvmti, subscriptions, live)
        .inspect_err(|_| jvmti.dispose())?;
    let file = SubscriberFile::new(agent, SubscriberId::Recording);
    let path = file.path().to_owned();
    let at_once = subscription.after.is_zero();
    start(agent, jvm, subscriber, at_once, move |jvm, subscriber| {
        record(agent, jvm, subscriber, subscription, &file)
    })?;
    Ok(path)
}

/// Starts the plugins in force that subscribe to events, and stops those that are not in force any more.
pub(crate) fn update_plugin_subscriptions(agent: &'static Agent, jvm: Jvm<'_>) {
    let current = agent.plugins.current();
    let observers = current.map_or_else(Vec::new, |set| set.pipeline.observers());
    let subscribers = agent.subscribers.all().into_iter();
    let (there, gone): (Vec<_>, Vec<_>) = subscribers
        .filter(|subscriber| matches!(subscriber.id, SubscriberId::Plugin(_)))
        .partition(|subscriber| observers.iter().any(|it| id_of(it) == subscriber.id));
    for subscriber in gone {
        report_end(&subscriber, false);
    }
    for observer in observers {
        if there
            .iter()
            .any(|subscriber| subscriber.id == id_of(&observer))
        {
            continue;
        }
        let plugin = observer.plugin().to_owned();
        if let Err(cause) = subscribe(agent, jvm, observer) {
            agent.results.failures.agent_failed();
            messages::error(
                Code::Observer,
                format_args!(
                    "plugin `{plugin}` gets no events of the JVM: {cause}; events of exceptions require an agent from the start of the JVM"
                ),
            );
        }
    }
}

fn id_of(observer: &Observer) -> SubscriberId {
    SubscriberId::Plugin(observer.number())
}

/// Subscribes a plugin to its events.
fn subscribe(agent: &'static Agent, jvm: Jvm<'_>, observer: Observer) -> Result<(), String> {
    let id = id_of(&observer);
    let jvmti = match agent.subscribers.take_prepared(id) {
        Some(prepared) => prepared,
        None => equipped(Vm::of(jvm.local), jvm.live, observer.subscriptions())?,
    };
    if observer.requests_owners() {
        // A refusal is reported when the plugin requests owners.
        let _ = equip_for_owners(jvmti, jvm.live);
    }
    let subscriptions = observer.subscriptions().to_vec();
    let subscriber = agent
        .subscribers
        .begin(id, jvmti, subscriptions, false)
        .inspect_err(|_| jvmti.dispose())?;
    let file = SubscriberFile::new(agent, id);
    start(agent, jvm, subscriber, true, move |jvm, subscriber| {
        let delivery = PluginDelivery::new(agent, observer, subscriber, file);
        deliver(jvm, subscriber, delivery)
    })
}

/// Records the waits of threads with open calls of a session, and collections, into its event file.
///
/// # Errors
///
/// The capability or event that the JVM refuses.
pub(crate) fn begin_waits(agent: &'static Agent, jvm: Jvm<'_>, session: u8) -> Result<(), String> {
    let id = SubscriberId::Waits(session);
    let jvmti = equipped(Vm::of(jvm.local), jvm.live, &waits::subscriptions())?;
    let subscriber = agent
        .subscribers
        .begin(id, jvmti, waits::subscriptions(), false)
        .inspect_err(|_| jvmti.dispose())?;
    start(agent, jvm, subscriber, true, move |jvm, subscriber| {
        waits::follow(agent, jvm, subscriber, session, |subscriber| {
            pause(subscriber, [])
        })
    })
}

/// Ends the recording of waits of a session, if there is one. All waits so far are then among its calls.
pub(crate) fn end_waits(agent: &Agent, session: u8) {
    let all = agent.subscribers.all().into_iter();
    let mut ours = all.filter(|subscriber| subscriber.id == SubscriberId::Waits(session));
    if let Some(subscriber) = ours.next() {
        report_end(&subscriber, false);
    }
}

/// As [`begin_waits`] for the agent's own session, if the option `waits` is set. A failure is reported.
pub(crate) fn begin_own_waits(agent: &'static Agent, jvm: Jvm<'_>) {
    if !agent.settings.waits {
        return;
    }
    if let Err(cause) = begin_waits(agent, jvm, 0) {
        agent.results.failures.agent_failed();
        messages::error(
            Code::JvmEvents,
            format_args!("no waits and collections are recorded: {cause}"),
        );
    }
}

/// Starts the thread of a subscriber, with its events enabled `at_once`. If that fails, the subscriber is removed.
fn start(
    agent: &'static Agent,
    jvm: Jvm<'_>,
    subscriber: Arc<Subscriber>,
    at_once: bool,
    body: impl FnOnce(Jvm<'_>, &Subscriber) -> Result<(), String> + Send + 'static,
) -> Result<(), String> {
    let jvmti = subscriber.jvmti;
    if subscriber.subscription(EventKind::Monitors).is_some() && subscriber.id.samples_locks() {
        subscriber.set_lock_fields(lock_sampler::find_fields(jvm));
    }
    let enabled = match at_once {
        true => environment::enable(jvm.live, &subscriber),
        false => Ok(()), // the thread enables them later
    };
    let begun = enabled.and_then(|()| {
        let thread = live::new_thread(jvm, THREAD)?;
        let jvm = Jvm::new(jvmti, jvm.live, jvm.local);
        let subscriber = Arc::clone(&subscriber);
        let run = move |jvm: Jvm<'_>| {
            let outcome = body(jvm, &subscriber);
            subscriber.dispose();
            agent.subscribers.remove(&subscriber);
            subscriber.ended(outcome);
        };
        thread::start(jvm, &thread, run).map_err(|error| error.to_string())
    });
    if begun.is_err() {
        agent.subscribers.remove(&subscriber);
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
    match agent.subscribers.recording() {
        Some(subscriber) => subscriber.stop(false),
        None => Ok(()),
    }
}

/// As [`end_recording`], but reports a failure.
pub(crate) fn finish_recording(agent: &Agent) {
    if let Some(subscriber) = agent.subscribers.recording() {
        report_end(&subscriber, false);
    }
}

/// Ends all subscribers, `dying` if the JVM ends; a failure is reported.
pub(crate) fn finish(agent: &Agent, dying: bool) {
    for subscriber in agent.subscribers.all() {
        report_end(&subscriber, dying);
    }
}

fn report_end(subscriber: &Subscriber, dying: bool) {
    if let Err(cause) = subscriber.stop(dying) {
        report_incomplete(subscriber.id, &cause);
    }
}

fn report_incomplete(id: SubscriberId, cause: &str) {
    match id {
        SubscriberId::Recording => messages::error(
            Code::JvmEvents,
            format_args!("the recording of events of the JVM is incomplete: {cause}"),
        ),
        SubscriberId::Waits(_) => messages::error(
            Code::JvmEvents,
            format_args!("the waits of traced calls are incomplete: {cause}"),
        ),
        SubscriberId::Plugin(_) => messages::error(
            Code::Observer,
            format_args!("the tables of a plugin about events of the JVM are incomplete: {cause}"),
        ),
    }
}

/// The body of the recording thread.
fn record(
    agent: &'static Agent,
    jvm: Jvm<'_>,
    subscriber: &Subscriber,
    subscription: Subscription,
    file: &SubscriberFile,
) -> Result<(), String> {
    let (after, length) = (subscription.after, subscription.length);
    if !after.is_zero() {
        if subscriber.pause(Instant::now() + after) {
            return Ok(()); // ended before anything was recorded; leaves no file
        }
        environment::enable(jvm.live, subscriber)?;
    }
    let end = length.map(|length| Instant::now() + length);
    let mut recording = RecordingBuilder::new(agent, subscription);
    let mut inbox = Inbox::new(agent);
    let mut threads = CpuSampler::new(jvm, subscriber);
    let mut locks = LockSampler::new(subscriber);
    let mut wall = WallSampler::new(jvm, subscriber);
    let mut tasks = threads.due().and_then(|_| NativeThreads::new());
    let mut write = Instant::now() + WRITE;
    loop {
        let next = [threads.due(), wall.as_ref().map(WallSampler::due)];
        let stops = pause(subscriber, next);
        let stops = stops || end.is_some_and(|end| end <= Instant::now());
        threads.sample_if_due(jvm, subscriber, &mut recording);
        if let Some(wall) = &mut wall {
            wall.sample_if_due(jvm, subscriber, &mut recording);
        }
        if let Some(locks) = &mut locks {
            locks.sample(jvm, subscriber, agent.subscribers.collections.now());
        }
        inbox.read(jvm, subscriber, usize::MAX, &mut recording);
        references::read(jvm, subscriber, &mut recording);
        if stops {
            break;
        }
        if write <= Instant::now() {
            if let Some(tasks) = &mut tasks {
                recording.add_system(tasks, &threads.names());
            }
            references::sum(jvm, subscriber, &mut recording, false);
            // A failure is reported at the end of the recording, if it persists.
            let _ = file.write(recording.recorded(inbox.elapsed(), false));
            write = Instant::now() + WRITE;
        }
    }
    if let Some(wall) = &mut wall {
        wall.finish(jvm, subscriber, &mut recording);
    }
    environment::disable(jvm.live, subscriber);
    let names = threads.names();
    threads.finish(jvm, subscriber, &mut recording);
    recording.share_unseen();
    if let Some(tasks) = &mut tasks {
        recording.add_system(tasks, &names);
        recording.add_rest_of_process();
    }
    inbox.read(jvm, subscriber, usize::MAX, &mut recording);
    recording.add_unfinished(jvm, subscriber);
    let now = agent.subscribers.collections.now();
    recording.add_parked(jvm, lock_sampler::unfinished(jvm, subscriber, now));
    references::read(jvm, subscriber, &mut recording);
    references::sum(jvm, subscriber, &mut recording, true);
    recording.count_live(jvm, subscriber);
    file.write(recording.recorded(inbox.elapsed(), true))
}

/// The body of the thread of a plugin.
fn deliver(
    jvm: Jvm<'_>,
    subscriber: &Subscriber,
    mut delivery: PluginDelivery,
) -> Result<(), String> {
    environment::replay(jvm.live, subscriber);
    let mut threads = CpuSampler::new(jvm, subscriber);
    let mut write = Instant::now() + WRITE;
    loop {
        let stops = pause(subscriber, [threads.due()]);
        threads.sample_if_due(jvm, subscriber, &mut delivery);
        delivery.read(jvm, subscriber);
        if stops || delivery.is_retired() {
            break;
        }
        if write <= Instant::now() {
            delivery.write();
            write = Instant::now() + WRITE;
        }
    }
    environment::disable(jvm.live, subscriber);
    threads.finish(jvm, subscriber, &mut delivery);
    let outcome = delivery.finish(jvm, subscriber);
    match (outcome, delivery.is_retired()) {
        // Nothing waits for the end of a retired plugin.
        (Err(cause), true) => {
            report_incomplete(subscriber.id, &cause);
            Ok(())
        }
        (outcome, _) => outcome,
    }
}

/// Waits until the next task is due, and returns true if the subscriber shall end.
fn pause(subscriber: &Subscriber, due: impl IntoIterator<Item = Option<Instant>>) -> bool {
    let turn = Instant::now() + TURN;
    let due = due.into_iter().flatten();
    subscriber.pause(due.fold(turn, Instant::min))
}
