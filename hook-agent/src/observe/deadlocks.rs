//! Threads that wait for one another to leave monitors.

use super::identity::thread_tag;
use crate::agent::observation::Running;
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::StackFrame;
use observations::deadlocks::circles;
use std::collections::HashMap;

/// Most frames of a thread that are shown.
const DEPTH: usize = 128;
/// Most threads that are looked at.
const MOST: usize = 10_000;

/// A thread that waits for a monitor of another.
pub(super) struct Waiting {
    pub thread: String,
    /// The signature of the class of the object whose monitor it wants to enter.
    pub class: Vec<u8>,
    pub frames: Vec<StackFrame>,
}

/// The circles of threads of which each wants to enter a monitor that the next owns, as far as they began to wait in this
/// recording.
pub(super) fn find(jvm: Jvm<'_>, running: &Running) -> Vec<Vec<Waiting>> {
    let waiting: HashMap<i64, i64> = running.waiting().into_iter().take(MOST).collect();
    if waiting.len() < 2 {
        return Vec::new();
    }
    jvm.with_frame(i32::try_from(4 * MOST).unwrap_or(i32::MAX), |jvm| {
        among(jvm, running, &waiting)
    })
    .unwrap_or_default()
}

fn among(jvm: Jvm<'_>, running: &Running, waiting: &HashMap<i64, i64>) -> Vec<Vec<Waiting>> {
    let Jvm { jvmti, live, local } = jvm;
    let tags: Vec<i64> = waiting
        .iter()
        .flat_map(|(thread, monitor)| [*thread, *monitor])
        .collect();
    let Ok(objects) = jvmti.objects_with_tags(live, local, &tags) else {
        return Vec::new();
    };
    let objects: HashMap<i64, _> = objects.into_iter().collect();
    let owner = |monitor: &i64| {
        let (owner, _) = jvmti
            .monitor_owner(live, local, objects.get(monitor)?)
            .ok()??;
        thread_tag(jvm, running, &owner)
    };
    let waits = waiting
        .iter()
        .filter_map(|(thread, monitor)| Some((*thread, owner(monitor)?)));
    let waits: HashMap<i64, i64> = waits.collect();
    let shown = |tag: &i64| {
        let (thread, monitor) = (objects.get(tag)?, objects.get(waiting.get(tag)?)?);
        let class = local.object_class(monitor)?;
        Some(Waiting {
            thread: jvmti.thread_name(live, local, thread).unwrap_or_default(),
            class: jvmti.class_signature(&class).unwrap_or_default(),
            frames: jvmti.stack(live, Some(thread), DEPTH).unwrap_or_default(),
        })
    };
    let circles = circles(&waits).into_iter();
    circles
        .filter_map(|circle| circle.iter().map(shown).collect())
        .collect()
}
