//! Waits of threads with open calls of a session, and collections, for the trees of slow calls.
//!
//! JVM TI sends events of monitors on the threads that wait. A thread of the agent samples parked threads, and the
//! owners of monitors with long waits.

use super::identity::monitor_signature;
use super::locks::{self, Locks};
use super::{environment, reported};
use crate::agent::Agent;
use crate::agent::observation::{Running, WaitKind, Waiting};
use crate::ffi::jvm::Jvm;
use crate::ffi::observed::Observed;
use crate::ffi::refs::LocalRef;
use observations::{Group, Wish};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Shortest wait for a monitor whose owner is queried, because the query may pause the program.
const LONG: Duration = Duration::from_millis(5);
/// Largest number of owners that are queried at once.
const OWNERS: usize = 32;

/// The events of a session that records waits.
pub(super) fn wishes() -> Vec<Wish> {
    vec![Wish::all(Group::Monitors), Wish::all(Group::Collections)]
}

/// Handles an event of the current thread.
pub(super) fn observed(
    jvm: Jvm<'_>,
    running: &Running,
    session: u8,
    thread: &LocalRef<'_>,
    event: Observed<'_>,
) {
    let Some(known) = reported::current(jvm, session, thread) else {
        return;
    };
    match event {
        Observed::WaitsToEnter { object } => {
            begin(jvm, running, known, (&object, WaitKind::ToEnter));
        }
        Observed::Waits { object } => {
            begin(jvm, running, known, (&object, WaitKind::ObjectWait));
        }
        Observed::Entered { object } | Observed::Waited { object } => {
            if let Some(waiting) = running.waiting_ends(known.0) {
                end(jvm, session, waiting, &object);
            }
        }
        Observed::Unmounts => locks::unmounts(jvm, running, thread),
        Observed::Mounts => locks::mounts(jvm, running, thread, 0),
        _ => {}
    }
}

fn begin(
    jvm: Jvm<'_>,
    running: &Running,
    thread: (u64, bool),
    (object, kind): (&LocalRef<'_>, WaitKind),
) {
    let begun = Instant::now();
    let Some(object) = jvm.local.globalize(object) else {
        return;
    };
    let before = running.waiting_begins(Waiting {
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
    reported::wait(session, &waiting, &signature);
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
    running: &Running,
    session: u8,
    pause: impl Fn(&Running) -> bool,
) -> Result<(), String> {
    let collections = &agent.observation.collections;
    let mut read = collections.ended();
    let mut locks = Locks::new(running);
    loop {
        let stops = pause(running);
        if let Some(locks) = &mut locks {
            locks.look(jvm, running, collections.now());
        }
        look_at_owners(jvm, running);
        let (times, lost) = collections.since(read);
        read += times.len() + lost;
        reported::lost(session, lost);
        for (start, end) in times {
            let ago = collections.now().saturating_sub(end);
            reported::collection(session, ago, end.saturating_sub(start));
        }
        if stops {
            break;
        }
    }
    environment::disable(jvm.live, running);
    locks::end_all(jvm, running, collections.now());
    for waiting in running.all_waiting() {
        let ended = running.waiting_ends(waiting.thread.0);
        drop(waiting);
        let Some(ended) = ended else { continue };
        jvm.with_frame(8, |jvm| {
            let object = Arc::clone(&ended.object);
            let signature = monitor_signature(jvm, &jvm.local.of_global(&object));
            reported::wait(session, &ended, &signature.unwrap_or_default());
            drop(object);
            release(jvm, ended);
        });
    }
    Ok(())
}

/// Queries the owners of monitors with long waits, once for each wait.
fn look_at_owners(jvm: Jvm<'_>, running: &Running) {
    let waiting = running.all_waiting().into_iter();
    let is_due = |it: &Waiting| {
        it.kind == WaitKind::ToEnter && it.holder.is_none() && it.begun.elapsed() >= LONG
    };
    for waiting in waiting.filter(is_due).take(OWNERS) {
        jvm.with_frame(64, |jvm| {
            let Jvm { jvmti, live, local } = jvm;
            let object = local.of_global(&waiting.object);
            let owner = jvmti.monitor_users(live, local, &object).ok()?.owner;
            let name = jvmti.thread_name(live, local, &owner?.0)?;
            running.set_monitor_holder(waiting.thread.0, name);
            Some(())
        });
    }
}
