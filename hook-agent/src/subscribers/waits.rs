//! Waits of threads with open calls of a session, and collections, for the trees of slow calls.
//!
//! JVM TI sends events of monitors on the threads that wait. A thread of the agent samples parked threads, and the
//! owners of monitors with long waits.

use super::identity::monitor_signature;
use super::lock_sampler::{self, LockSampler};
use super::{environment, wait_reports};
use crate::agent::Agent;
use crate::agent::subscribers::{Subscriber, WaitKind, Waiting};
use crate::ffi::jvm::Jvm;
use crate::ffi::jvm_events::ThreadEvent;
use crate::ffi::refs::LocalRef;
use jvm_events::{EventKind, EventSubscription};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Shortest wait for a monitor whose owner is queried, because the query may pause the program.
const LONG: Duration = Duration::from_millis(5);
/// Largest number of owners that are queried at once.
const OWNERS: usize = 32;

/// The events of a session that records waits.
pub(super) fn subscriptions() -> Vec<EventSubscription> {
    vec![
        EventSubscription::all(EventKind::Monitors),
        EventSubscription::all(EventKind::Collections),
    ]
}

/// Handles an event of the current thread.
pub(super) fn thread_event(
    jvm: Jvm<'_>,
    subscriber: &Subscriber,
    session: u8,
    thread: &LocalRef<'_>,
    event: ThreadEvent<'_>,
) {
    let Some(known) = wait_reports::current(jvm, session, thread) else {
        return;
    };
    match event {
        ThreadEvent::MonitorContendedEnter { object } => {
            begin(jvm, subscriber, known, (&object, WaitKind::ToEnter));
        }
        ThreadEvent::MonitorWait { object } => {
            begin(jvm, subscriber, known, (&object, WaitKind::ObjectWait));
        }
        ThreadEvent::MonitorContendedEntered { object } | ThreadEvent::MonitorWaited { object } => {
            if let Some(waiting) = subscriber.waiting_ends(known.0) {
                end(jvm, session, waiting, &object);
            }
        }
        ThreadEvent::VirtualThreadUnmount => lock_sampler::unmounts(jvm, subscriber, thread),
        ThreadEvent::VirtualThreadMount => lock_sampler::mounts(jvm, subscriber, thread, 0),
        _ => {}
    }
}

fn begin(
    jvm: Jvm<'_>,
    subscriber: &Subscriber,
    thread: (u64, bool),
    (object, kind): (&LocalRef<'_>, WaitKind),
) {
    let begun = Instant::now();
    let Some(object) = jvm.local.globalize(object) else {
        return;
    };
    let before = subscriber.waiting_begins(Waiting {
        thread,
        begun,
        kind,
        object: Arc::new(object),
        holder: None,
    });
    if let Some(before) = before {
        release(jvm, before); // its end was not reported
    }
}

fn end(jvm: Jvm<'_>, session: u8, waiting: Waiting, object: &LocalRef<'_>) {
    let signature = monitor_signature(jvm, object).unwrap_or_default();
    wait_reports::wait(session, &waiting, &signature);
    release(jvm, waiting);
}

/// Releases the reference of a wait, unless the sampling of owners still uses it.
fn release(jvm: Jvm<'_>, waiting: Waiting) {
    if let Ok(object) = Arc::try_unwrap(waiting.object) {
        jvm.local.release(object);
    }
}

/// Samples threads, owners and collections until the session ends. Then all waits end.
pub(super) fn follow(
    agent: &Agent,
    jvm: Jvm<'_>,
    subscriber: &Subscriber,
    session: u8,
    pause: impl Fn(&Subscriber) -> bool,
) -> Result<(), String> {
    let collections = &agent.subscribers.collections;
    let mut read = collections.ended();
    let mut locks = LockSampler::new(subscriber);
    loop {
        let stops = pause(subscriber);
        if let Some(locks) = &mut locks {
            locks.sample(jvm, subscriber, collections.now());
        }
        query_owners(jvm, subscriber);
        let (times, lost) = collections.since(read);
        read += times.len() + lost;
        wait_reports::lost(session, lost);
        for (start, end) in times {
            let ago = collections.now().saturating_sub(end);
            wait_reports::collection(session, ago, end.saturating_sub(start));
        }
        if stops {
            break;
        }
    }
    environment::disable(jvm.live, subscriber);
    lock_sampler::end_all(jvm, subscriber, collections.now());
    for waiting in subscriber.all_waiting() {
        let ended = subscriber.waiting_ends(waiting.thread.0);
        drop(waiting);
        let Some(ended) = ended else { continue };
        jvm.with_frame(8, |jvm| {
            let object = Arc::clone(&ended.object);
            let signature = monitor_signature(jvm, &jvm.local.of_global(&object));
            wait_reports::wait(session, &ended, &signature.unwrap_or_default());
            drop(object);
            release(jvm, ended);
        });
    }
    Ok(())
}

/// Queries the owners of monitors with long waits, once for each wait.
fn query_owners(jvm: Jvm<'_>, subscriber: &Subscriber) {
    let waiting = subscriber.all_waiting().into_iter();
    let is_due = |it: &Waiting| {
        it.kind == WaitKind::ToEnter && it.holder.is_none() && it.begun.elapsed() >= LONG
    };
    for waiting in waiting.filter(is_due).take(OWNERS) {
        jvm.with_frame(64, |jvm| {
            let Jvm { jvmti, live, local } = jvm;
            let object = local.of_global(&waiting.object);
            let owner = jvmti.monitor_users(live, local, &object).ok()?.owner;
            let name = jvmti.thread_name(live, local, &owner?.0)?;
            subscriber.set_monitor_holder(waiting.thread.0, name);
            Some(())
        });
    }
}
