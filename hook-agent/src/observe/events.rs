//! Events on the threads that cause them: their data is copied to a queue, and the thread goes on.

use super::identity::{class_within, is_ours, monitor_signature, thread_tag};
use super::{locks, waits};
use crate::agent::Agent;
use crate::agent::observation::{Event, Holder, Kind, Listener, Running, Wait, WaitKind};
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::Jvmti;
use crate::ffi::observed::{Observed, ObservedOfJvm};
use crate::ffi::refs::LocalRef;
use crate::names::class_name;
use observations::Group;
use std::time::{Duration, Instant};

/// Longest wait of a thread for the agent's files after memory or threads ran out, and the shortest time between two
/// such waits.
const PATIENCE: Duration = Duration::from_millis(500);
const CALM: Duration = Duration::from_secs(1);

/// Handles an event of a subscriber's environment.
pub(crate) fn observed(agent: &Agent, jvm: Jvm<'_>, thread: &LocalRef<'_>, event: Observed<'_>) {
    let Some(running) = agent.observation.of(jvm.jvmti) else {
        return;
    };
    if let Observed::Starts { is_virtual } | Observed::Ends { is_virtual } = event
        && !is_virtual
    {
        running.threads_change();
    }
    if let Listener::Waits(session) = running.listener {
        return waits::observed(jvm, &running, session, thread, event);
    }
    let noted = match event {
        Observed::WaitsToEnter { object } => {
            return wait_begins(jvm, &running, thread, (&object, WaitKind::ToEnter));
        }
        Observed::Waits { object } => {
            return wait_begins(jvm, &running, thread, (&object, WaitKind::ObjectWait));
        }
        Observed::Unmounts => return locks::unmounts(jvm, &running, thread),
        Observed::Mounts => {
            let now = agent.observation.collections.now();
            return locks::mounts(jvm, &running, thread, now);
        }
        Observed::Allocated {
            object,
            class,
            size,
        } => {
            let tag = followed(jvm, &running, &object);
            follow_to_the_end(jvm, &running, &object, &class);
            Some((Kind::Allocated { size, tag }, signature(jvm, &class)))
        }
        Observed::Throws { exception, caught } => {
            let class = jvm.local.object_class(&exception);
            class.map(|class| (Kind::Threw { caught }, signature(jvm, &class)))
        }
        Observed::Catches { exception, at } => {
            let class = jvm.local.object_class(&exception);
            class.map(|class| (Kind::Caught { at }, signature(jvm, &class)))
        }
        Observed::Entered { object } => waited(jvm, &running, thread, &object, Kind::Entered),
        Observed::Waited { object } => waited(jvm, &running, thread, &object, |nanos, _| {
            Kind::Waited(nanos)
        }),
        Observed::Starts { is_virtual } => Some((Kind::ThreadStarted { is_virtual }, Vec::new())),
        Observed::Ends { is_virtual } => Some((Kind::ThreadEnded { is_virtual }, Vec::new())),
        Observed::Prepared { class } => Some((Kind::ClassPrepared, signature(jvm, &class))),
        Observed::Bound { method } => Some((Kind::NativeBound { method }, Vec::new())),
    };
    if let Some((kind, class)) = noted {
        push(agent, jvm, &running, (thread, kind, class));
    }
}

/// Counts a freed object. The program may be paused: no function of the JVM may be called.
pub(crate) fn freed(agent: &Agent, jvmti: Jvmti, tag: i64) {
    let running = agent.observation.of(jvmti);
    if let Some(freed) = running.as_ref().and_then(|running| running.freed()) {
        freed.note(tag);
    }
}

/// Handles an event that has no Java thread.
pub(crate) fn observed_of_jvm(agent: &Agent, jvmti: Jvmti, event: ObservedOfJvm) {
    let Some(running) = agent.observation.of(jvmti) else {
        return;
    };
    let kind = match event {
        ObservedOfJvm::CodeMade { method, bytes } => Kind::CodeMade { method, bytes },
        ObservedOfJvm::CodeGone { method } => Kind::CodeGone { method },
        ObservedOfJvm::Exhausted { flags, text } => {
            write_files(agent);
            Kind::Exhausted { flags, text }
        }
        ObservedOfJvm::Unloaded { class } => {
            let wish = running.wish(Group::Unloads);
            if !wish.is_some_and(|wish| wish.takes_class(&class)) {
                return;
            }
            Kind::ClassUnloaded { class }
        }
        ObservedOfJvm::DumpAsked => Kind::DumpAsked,
    };
    running.push(Event {
        kind,
        at: agent.observation.collections.now(),
        thread: String::new(),
        class: Vec::new(),
        frames: Vec::new(),
    });
}

/// Makes the agent write its files before a JVM without memory or threads goes on and perhaps ends. It waits only once
/// in a while, as a program may run for long in this state.
fn write_files(agent: &Agent) {
    if agent.observation.is_first_exhaustion_in(CALM) {
        agent.signal.flush_within(PATIENCE);
    } else {
        agent.signal.flush();
    }
}

/// The signature of a class; empty if the JVM does not return it.
fn signature(jvm: Jvm<'_>, class: &LocalRef<'_>) -> Vec<u8> {
    jvm.jvmti.class_signature(class).unwrap_or_default()
}

fn push(
    agent: &Agent,
    jvm: Jvm<'_>,
    running: &Running,
    (thread, kind, class): (&LocalRef<'_>, Kind, Vec<u8>),
) {
    let Jvm { jvmti, live, local } = jvm;
    let Some(wish) = running.wish(group(&kind)) else {
        return;
    };
    let name = jvmti.thread_name(live, local, thread).unwrap_or_default();
    if is_ours(&name) || !wish.takes_thread(&name) {
        return;
    }
    if !class.is_empty() && !wish.takes_all_classes() {
        let name = class_name(&class);
        let names = [Some(name.as_str()), class_within(&name)];
        if !names
            .into_iter()
            .flatten()
            .any(|name| wish.takes_class(name))
        {
            return;
        }
    }
    let frames = match wish.frames {
        0 => None,
        most => jvmti.stack(live, None, most).ok(),
    };
    running.push(Event {
        kind,
        at: agent.observation.collections.now(),
        thread: name,
        class,
        frames: frames.unwrap_or_default(),
    });
}

/// The group to which plugins subscribe for this event.
pub(super) fn group(kind: &Kind) -> Group {
    match kind {
        Kind::Allocated { .. } => Group::Allocations,
        Kind::Threw { .. } => Group::Exceptions,
        Kind::Entered(..) | Kind::Waited(_) | Kind::Unparked { .. } => Group::Monitors,
        Kind::ThreadStarted { .. } | Kind::ThreadEnded { .. } => Group::Threads,
        Kind::ClassPrepared => Group::Classes,
        Kind::CodeMade { .. } | Kind::CodeGone { .. } => Group::Compilations,
        Kind::NativeBound { .. } => Group::Natives,
        Kind::Exhausted { .. } => Group::Exhaustion,
        Kind::Caught { .. } => Group::Catches,
        Kind::ClassUnloaded { .. } => Group::Unloads,
        Kind::DumpAsked => Group::Dumps,
    }
}

/// The tag by which a sampled object is found at the end of the recording, if the option is set.
fn followed(jvm: Jvm<'_>, running: &Running, object: &LocalRef<'_>) -> Option<i64> {
    if !running.live {
        return None;
    }
    let tag = running.object_tag()?;
    jvm.jvmti.set_tag(jvm.live, object, tag).ok()?;
    Some(tag)
}

/// Gives a sampled object the tag by which it is counted when it is freed, if a plugin subscribes to that.
fn follow_to_the_end(jvm: Jvm<'_>, running: &Running, object: &LocalRef<'_>, class: &LocalRef<'_>) {
    let (Some(freed), Some(wish)) = (running.freed(), running.wish(Group::Frees)) else {
        return;
    };
    let Ok(signature) = jvm.jvmti.class_signature(class) else {
        return;
    };
    if wish.takes_all_classes() || wish.takes_class(&class_name(&signature)) {
        let _ = jvm.jvmti.set_tag(jvm.live, object, freed.tag(&signature));
    }
}

/// Notes that a thread begins to wait for the monitor of an object.
fn wait_begins(
    jvm: Jvm<'_>,
    running: &Running,
    thread: &LocalRef<'_>,
    (object, kind): (&LocalRef<'_>, WaitKind),
) {
    let begun = Instant::now();
    let Some(thread) = thread_tag(jvm, running, thread) else {
        return;
    };
    // The object is needed at the end of a recording only.
    let is_asked = running.listener == Listener::Recording;
    let monitor = is_asked
        .then(|| monitor_tag(jvm, running, object))
        .flatten();
    running.wait_begins(
        thread,
        Wait {
            begun,
            kind,
            holder: (is_asked && kind == WaitKind::ToEnter && running.may_ask_for_holder())
                .then(|| holder(jvm, object))
                .flatten(),
            monitor,
        },
    );
}

/// The thread that holds a monitor now. Returns `None` if the monitor is free, or its owner is a virtual thread.
fn holder(jvm: Jvm<'_>, object: &LocalRef<'_>) -> Option<Holder> {
    let Jvm { jvmti, live, local } = jvm;
    let (owner, _) = jvmti.monitor_users(live, local, object).ok()?.owner?;
    let frames = jvmti.stack(live, Some(&owner), 1).unwrap_or_default();
    Some(Holder {
        thread: jvmti.thread_name(live, local, &owner)?,
        at: frames.into_iter().next(),
    })
}

/// The tag of a monitor for which a thread waits.
fn monitor_tag(jvm: Jvm<'_>, running: &Running, object: &LocalRef<'_>) -> Option<i64> {
    let known = jvm.jvmti.tag(jvm.live, object).ok()?;
    if known != 0 {
        return Some(known);
    }
    let new = running.monitor_tag();
    jvm.jvmti.set_tag(jvm.live, object, new).ok()?;
    Some(new)
}

/// The event at the end of a wait, with the signature of the monitor's class. Returns `None` if the wait was too short.
fn waited(
    jvm: Jvm<'_>,
    running: &Running,
    thread: &LocalRef<'_>,
    object: &LocalRef<'_>,
    kind: impl FnOnce(u64, Option<Holder>) -> Kind,
) -> Option<(Kind, Vec<u8>)> {
    let (nanos, holder) = running.wait_ends(thread_tag(jvm, running, thread)?)?;
    if nanos < running.wish(Group::Monitors)?.at_least {
        return None;
    }
    Some((kind(nanos, holder), monitor_signature(jvm, object)?))
}
