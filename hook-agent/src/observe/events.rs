//! Events on the threads that cause them: what is needed of each is copied, and the thread goes on.

use super::identity::{is_ours, thread_tag};
use crate::agent::Agent;
use crate::agent::observation::{Event, Kind, Running};
use crate::ffi::jvm::Jvm;
use crate::ffi::observed::Observed;
use crate::ffi::refs::LocalRef;

/// An event of the environment of a recording.
pub(crate) fn observed(agent: &Agent, jvm: Jvm<'_>, thread: &LocalRef<'_>, event: Observed<'_>) {
    let Some(running) = agent.observation.running() else {
        return;
    };
    if running.jvmti != jvm.jvmti {
        return;
    }
    let noted = match event {
        Observed::Waits => {
            let tag = thread_tag(jvm, &running, thread);
            return tag.map_or((), |tag| running.wait_begins(tag));
        }
        Observed::Allocated {
            object,
            class,
            size,
        } => {
            let tag = followed(jvm, &running, &object);
            Some((Kind::Allocated { size, tag }, class))
        }
        Observed::Throws { exception, caught } => {
            let class = jvm.local.object_class(&exception);
            class.map(|class| (Kind::Threw { caught }, class))
        }
        Observed::Entered { object } => waited(jvm, &running, thread, &object, Kind::Entered),
        Observed::Waited { object } => waited(jvm, &running, thread, &object, Kind::Waited),
    };
    if let Some((kind, class)) = noted {
        push(jvm, &running, thread, kind, &class);
    }
}

fn push(jvm: Jvm<'_>, running: &Running, thread: &LocalRef<'_>, kind: Kind, class: &LocalRef<'_>) {
    let Jvm { jvmti, live, local } = jvm;
    let name = jvmti.thread_name(live, local, thread).unwrap_or_default();
    if is_ours(&name) {
        return;
    }
    let frames = jvmti.stack(live, None, running.subscription.depth);
    running.push(Event {
        kind,
        thread: name,
        class: jvmti.class_signature(class).unwrap_or_default(),
        frames: frames.unwrap_or_default(),
    });
}

/// The tag by which a sampled object is found at the end, if that is asked for.
fn followed(jvm: Jvm<'_>, running: &Running, object: &LocalRef<'_>) -> Option<i64> {
    if !running.subscription.live {
        return None;
    }
    let tag = running.object_tag()?;
    jvm.jvmti.set_tag(jvm.live, object, tag).ok()?;
    Some(tag)
}

/// The kind of an event that ends a wait, with the class of the monitor.
fn waited<'a>(
    jvm: Jvm<'a>,
    running: &Running,
    thread: &LocalRef<'_>,
    object: &LocalRef<'_>,
    kind: impl FnOnce(u64) -> Kind,
) -> Option<(Kind, LocalRef<'a>)> {
    let nanos = running.wait_ends(thread_tag(jvm, running, thread)?)?;
    Some((kind(nanos), jvm.local.object_class(object)?))
}
