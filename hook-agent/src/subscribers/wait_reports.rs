//! Reports waits to the runtime of a session, which adds them to the open calls.

use crate::agent::subscribers::{Park, WaitKind, Waiting};
use crate::ffi::clock;
use crate::ffi::jvm::Jvm;
use crate::ffi::refs::LocalRef;
use crate::ffi::thread_cell;
use crate::names::display_name;
use crate::spans::runtime;
use probes::events;
use probes::spans::CompletedWait;
use std::cell::Cell;
use std::collections::HashSet;
use std::time::Instant;

/// The thread of the current open calls of a session, and true if it is virtual. Returns `None` without open calls.
pub(super) fn current(jvm: Jvm<'_>, session: u8, thread: &LocalRef<'_>) -> Option<(u64, bool)> {
    let (id, is_virtual) = runtime::identify(jvm.local, thread)?;
    if is_virtual {
        let has_open = runtime::get(session)?.has_open_calls(id);
        return has_open.then_some((id, true));
    }
    thread_cell::with(session.into(), Cell::get)?.with_open_calls()
}

/// Java's ids of the platform threads with open calls of a session.
pub(super) fn threads_with_open_calls(session: u8) -> HashSet<u64> {
    let runtime = runtime::get(session);
    runtime.map_or_else(HashSet::new, |it| it.threads_with_open_calls())
}

/// Reports a wait for a monitor that ends now. `signature` is that of the class of the object with the monitor.
pub(super) fn wait(session: u8, waiting: &Waiting, signature: &[u8]) {
    let tick = clock::ticks();
    let (thread, is_virtual) = waiting.thread;
    let waited = CompletedWait {
        thread,
        is_virtual,
        kind: match waiting.kind {
            WaitKind::ToEnter => events::WaitKind::Monitor,
            WaitKind::ObjectWait => events::WaitKind::ObjectWait,
        },
        tick,
        ago: 0,
        nanos: nanos_since(waiting.begun),
        class: display_name(signature),
        holders: waiting.holder.clone().unwrap_or_default(),
    };
    report(session, waited);
}

/// Reports the wait of a parked thread.
pub(super) fn park(session: u8, park: &Park, ended: Instant) {
    let parts = park.parts(ended);
    let named = |holder: &Option<String>| match holder.as_deref() {
        Some("") => Some("(a thread without a name)".to_owned()),
        holder => holder.map(str::to_owned),
    };
    let holders: Vec<String> = parts.iter().filter_map(|(it, _)| named(it)).collect();
    let waited = CompletedWait {
        thread: park.id,
        is_virtual: park.is_virtual,
        kind: events::WaitKind::Park,
        tick: clock::ticks(),
        ago: nanos_since(ended),
        nanos: parts.iter().map(|(_, nanos)| nanos).sum(),
        class: display_name(&park.class),
        holders: holders.join(", "),
    };
    report(session, waited);
}

/// Reports a collection that ended `ago` nanoseconds ago.
pub(super) fn collection(session: u8, ago: u64, nanos: u64) {
    let waited = CompletedWait {
        thread: 0,
        is_virtual: false,
        kind: events::WaitKind::Collection,
        tick: clock::ticks(),
        ago,
        nanos,
        class: String::new(),
        holders: String::new(),
    };
    report(session, waited);
}

/// Counts collections that were not read in time.
pub(super) fn lost(session: u8, count: usize) {
    if let Some(runtime) = runtime::get(session).filter(|_| count > 0) {
        runtime.lost_waits(count as u64);
    }
}

fn report(session: u8, waited: CompletedWait) {
    if let Some(runtime) = runtime::get(session) {
        runtime.waited(waited);
    }
}

fn nanos_since(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
