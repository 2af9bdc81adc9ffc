//! Events on the threads that cause them: their data is copied to a queue, and the thread goes on.

use super::identity::{class_within, is_agent_thread, monitor_signature, thread_tag};
use super::{lock_sampler, waits};
use crate::agent::Agent;
use crate::agent::subscribers::{
    Event, EventData, MonitorHolder, Subscriber, SubscriberId, Wait, WaitKind,
};
use crate::ffi::jvm::Jvm;
use crate::ffi::jvm_events::{ThreadEvent, VmEvent};
use crate::ffi::jvmti::Jvmti;
use crate::ffi::refs::LocalRef;
use crate::names::class_name;
use jvm_events::EventKind;
use std::time::{Duration, Instant};

/// Longest wait of a thread for the agent's files after memory or threads ran out, and the shortest time between two
/// such waits.
const TIMEOUT: Duration = Duration::from_millis(500);
const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);

/// Handles an event of a subscriber's environment.
pub(crate) fn thread_event(
    agent: &Agent,
    jvm: Jvm<'_>,
    thread: &LocalRef<'_>,
    event: ThreadEvent<'_>,
) {
    let Some(subscriber) = agent.subscribers.of(jvm.jvmti) else {
        return;
    };
    if let ThreadEvent::ThreadStart { is_virtual } | ThreadEvent::ThreadEnd { is_virtual } = event
        && !is_virtual
    {
        subscriber.threads_change();
    }
    if let SubscriberId::Waits(session) = subscriber.id {
        return waits::thread_event(jvm, &subscriber, session, thread, event);
    }
    let noted = match event {
        ThreadEvent::MonitorContendedEnter { object } => {
            return wait_begins(jvm, &subscriber, thread, (&object, WaitKind::ToEnter));
        }
        ThreadEvent::MonitorWait { object } => {
            return wait_begins(jvm, &subscriber, thread, (&object, WaitKind::ObjectWait));
        }
        ThreadEvent::VirtualThreadUnmount => {
            return lock_sampler::unmounts(jvm, &subscriber, thread);
        }
        ThreadEvent::VirtualThreadMount => {
            let now = agent.subscribers.collections.now();
            return lock_sampler::mounts(jvm, &subscriber, thread, now);
        }
        ThreadEvent::SampledObjectAlloc {
            object,
            class,
            size,
        } => {
            let tag = followed(jvm, &subscriber, &object);
            follow_to_the_end(jvm, &subscriber, &object, &class);
            Some((
                EventData::SampledObjectAlloc { size, tag },
                signature(jvm, &class),
            ))
        }
        ThreadEvent::Exception { exception, caught } => {
            let class = jvm.local.object_class(&exception);
            class.map(|class| (EventData::Exception { caught }, signature(jvm, &class)))
        }
        ThreadEvent::ExceptionCatch { exception, at } => {
            let class = jvm.local.object_class(&exception);
            class.map(|class| (EventData::ExceptionCatch { at }, signature(jvm, &class)))
        }
        ThreadEvent::MonitorContendedEntered { object } => {
            waited(jvm, &subscriber, thread, &object, EventData::MonitorEntered)
        }
        ThreadEvent::MonitorWaited { object } => {
            waited(jvm, &subscriber, thread, &object, |nanos, _| {
                EventData::MonitorWaited(nanos)
            })
        }
        ThreadEvent::ThreadStart { is_virtual } => {
            Some((EventData::ThreadStart { is_virtual }, Vec::new()))
        }
        ThreadEvent::ThreadEnd { is_virtual } => {
            Some((EventData::ThreadEnd { is_virtual }, Vec::new()))
        }
        ThreadEvent::ClassPrepare { class } => {
            Some((EventData::ClassPrepare, signature(jvm, &class)))
        }
        ThreadEvent::NativeMethodBind { method } => {
            Some((EventData::NativeMethodBind { method }, Vec::new()))
        }
    };
    if let Some((data, class)) = noted {
        push(agent, jvm, &subscriber, (thread, data, class));
    }
}

/// Counts a freed object. The program may be paused: no function of the JVM may be called.
pub(crate) fn object_freed(agent: &Agent, jvmti: Jvmti, tag: i64) {
    let subscriber = agent.subscribers.of(jvmti);
    if let Some(freed) = subscriber
        .as_ref()
        .and_then(|subscriber| subscriber.freed())
    {
        freed.note(tag);
    }
}

/// Handles an event that has no Java thread.
pub(crate) fn vm_event(agent: &Agent, jvmti: Jvmti, event: VmEvent) {
    let Some(subscriber) = agent.subscribers.of(jvmti) else {
        return;
    };
    match &event {
        VmEvent::ResourceExhausted { .. } => write_files(agent),
        VmEvent::ClassUnload { class } => {
            let subscription = subscriber.subscription(event.kind());
            if !subscription.is_some_and(|subscription| subscription.takes_class(class)) {
                return;
            }
        }
        _ => {}
    }
    subscriber.push(Event {
        data: EventData::Vm(event),
        at: agent.subscribers.collections.now(),
        thread: String::new(),
        class: Vec::new(),
        frames: Vec::new(),
    });
}

/// Makes the agent write its files before a JVM without memory or threads goes on and perhaps ends. It waits only once
/// in a while, as a program may run for long in this state.
fn write_files(agent: &Agent) {
    if agent.subscribers.is_first_exhaustion_in(SHORTEST_INTERVAL) {
        agent.threads.signal.flush_within(TIMEOUT);
    } else {
        agent.threads.signal.flush();
    }
}

/// The signature of a class; empty if the JVM does not return it.
fn signature(jvm: Jvm<'_>, class: &LocalRef<'_>) -> Vec<u8> {
    jvm.jvmti.class_signature(class).unwrap_or_default()
}

fn push(
    agent: &Agent,
    jvm: Jvm<'_>,
    subscriber: &Subscriber,
    (thread, data, class): (&LocalRef<'_>, EventData, Vec<u8>),
) {
    let Jvm { jvmti, live, local } = jvm;
    let Some(subscription) = subscriber.subscription(event_kind(&data)) else {
        return;
    };
    let name = jvmti.thread_name(live, local, thread).unwrap_or_default();
    if is_agent_thread(&name) || !subscription.takes_thread(&name) {
        return;
    }
    if !class.is_empty() && !subscription.takes_all_classes() {
        let name = class_name(&class);
        let names = [Some(name.as_str()), class_within(&name)];
        if !names
            .into_iter()
            .flatten()
            .any(|name| subscription.takes_class(name))
        {
            return;
        }
    }
    let frames = match subscription.frames {
        0 => None,
        most => jvmti.stack(live, None, most).ok(),
    };
    subscriber.push(Event {
        data,
        at: agent.subscribers.collections.now(),
        thread: name,
        class,
        frames: frames.unwrap_or_default(),
    });
}

/// The kind of event to which plugins subscribe for this event.
pub(super) fn event_kind(data: &EventData) -> EventKind {
    match data {
        EventData::SampledObjectAlloc { .. } => EventKind::Allocations,
        EventData::Exception { .. } => EventKind::Exceptions,
        EventData::MonitorEntered(..)
        | EventData::MonitorWaited(_)
        | EventData::Unparked { .. } => EventKind::Monitors,
        EventData::ThreadStart { .. } | EventData::ThreadEnd { .. } => EventKind::Threads,
        EventData::ClassPrepare => EventKind::Classes,
        EventData::NativeMethodBind { .. } => EventKind::Natives,
        EventData::ExceptionCatch { .. } => EventKind::Catches,
        EventData::Vm(event) => event.kind(),
    }
}

/// The tag by which a sampled object is found at the end of the recording, if the option is set.
fn followed(jvm: Jvm<'_>, subscriber: &Subscriber, object: &LocalRef<'_>) -> Option<i64> {
    if !subscriber.live {
        return None;
    }
    let tag = subscriber.object_tag()?;
    jvm.jvmti.set_tag(jvm.live, object, tag).ok()?;
    Some(tag)
}

/// Gives a sampled object the tag by which it is counted when it is freed, if a plugin subscribes to that.
fn follow_to_the_end(
    jvm: Jvm<'_>,
    subscriber: &Subscriber,
    object: &LocalRef<'_>,
    class: &LocalRef<'_>,
) {
    let (Some(freed), Some(subscription)) = (
        subscriber.freed(),
        subscriber.subscription(EventKind::Frees),
    ) else {
        return;
    };
    let Ok(signature) = jvm.jvmti.class_signature(class) else {
        return;
    };
    if subscription.takes_all_classes() || subscription.takes_class(&class_name(&signature)) {
        let _ = jvm.jvmti.set_tag(jvm.live, object, freed.tag(&signature));
    }
}

/// Notes that a thread begins to wait for the monitor of an object.
fn wait_begins(
    jvm: Jvm<'_>,
    subscriber: &Subscriber,
    thread: &LocalRef<'_>,
    (object, kind): (&LocalRef<'_>, WaitKind),
) {
    let begun = Instant::now();
    let Some(thread) = thread_tag(jvm, subscriber, thread) else {
        return;
    };
    // The object is needed at the end of a recording only.
    let is_asked = subscriber.id == SubscriberId::Recording;
    let monitor = is_asked
        .then(|| monitor_tag(jvm, subscriber, object))
        .flatten();
    subscriber.wait_begins(
        thread,
        Wait {
            begun,
            kind,
            holder: (is_asked && kind == WaitKind::ToEnter && subscriber.may_query_holder())
                .then(|| holder(jvm, object))
                .flatten(),
            monitor,
        },
    );
}

/// The thread that holds a monitor now. Returns `None` if the monitor is free, or its owner is a virtual thread.
fn holder(jvm: Jvm<'_>, object: &LocalRef<'_>) -> Option<MonitorHolder> {
    let Jvm { jvmti, live, local } = jvm;
    let (owner, _) = jvmti.monitor_users(live, local, object).ok()?.owner?;
    let frames = jvmti.stack(live, Some(&owner), 1).unwrap_or_default();
    Some(MonitorHolder {
        thread: jvmti.thread_name(live, local, &owner)?,
        at: frames.into_iter().next(),
    })
}

/// The tag of a monitor for which a thread waits.
fn monitor_tag(jvm: Jvm<'_>, subscriber: &Subscriber, object: &LocalRef<'_>) -> Option<i64> {
    let known = jvm.jvmti.tag(jvm.live, object).ok()?;
    if known != 0 {
        return Some(known);
    }
    let new = subscriber.monitor_tag();
    jvm.jvmti.set_tag(jvm.live, object, new).ok()?;
    Some(new)
}

/// The event at the end of a wait, with the signature of the monitor's class. Returns `None` if the wait was too short.
fn waited(
    jvm: Jvm<'_>,
    subscriber: &Subscriber,
    thread: &LocalRef<'_>,
    object: &LocalRef<'_>,
    kind: impl FnOnce(u64, Option<MonitorHolder>) -> EventData,
) -> Option<(EventData, Vec<u8>)> {
    let (nanos, holder) = subscriber.wait_ends(thread_tag(jvm, subscriber, thread)?)?;
    if nanos < subscriber.subscription(EventKind::Monitors)?.at_least {
        return None;
    }
    Some((kind(nanos, holder), monitor_signature(jvm, object)?))
}
