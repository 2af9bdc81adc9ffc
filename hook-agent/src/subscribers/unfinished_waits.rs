//! The waits for monitors that have not ended at the end of a recording, and the deadlocks among them.

use super::identity::{is_agent_thread, monitor_signature, thread_tag};
use crate::agent::subscribers::{Subscriber, Wait, WaitKind};
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::StackFrame;
use crate::ffi::refs::LocalRef;
use jvm_events::deadlocks::circles;
use std::collections::HashMap;

/// Largest number of frames of a thread.
const DEPTH: usize = 128;
/// Largest number of threads.
const MOST: usize = 10_000;
/// `JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER` and `JVMTI_THREAD_STATE_IN_OBJECT_WAIT`.
const WAITS: u32 = 0x400 | 0x100;

/// A thread that waits for a monitor, since a time within the recording.
#[derive(Debug, Clone)]
pub(super) struct UnfinishedWait {
    pub wait: Wait,
    pub thread: String,
    /// The signature of the class of the object with the monitor.
    pub class: Vec<u8>,
    /// The stack of the waiting thread; empty if the thread has gone on.
    pub frames: Vec<StackFrame>,
}

/// The waits that have not ended.
#[derive(Debug, Default)]
pub(super) struct UnfinishedWaits {
    pub waits: Vec<UnfinishedWait>,
    /// Cycles of threads: each waits to enter a monitor that the next owns.
    pub deadlocks: Vec<Vec<UnfinishedWait>>,
    /// Number of waits that were not examined.
    pub left_out: u64,
}

/// Finds the threads that wait, if they began to wait in this recording.
pub(super) fn find(jvm: Jvm<'_>, subscriber: &Subscriber) -> UnfinishedWaits {
    let all = subscriber.waits();
    let left_out = all.len().saturating_sub(MOST) as u64;
    let waits: HashMap<i64, Wait> = all.into_iter().take(MOST).collect();
    if waits.is_empty() {
        return UnfinishedWaits::default();
    }
    let room = i32::try_from(4 * MOST).unwrap_or(i32::MAX);
    let found = jvm.with_frame(room, |jvm| among(jvm, subscriber, &waits));
    let found = found.flatten();
    found.map_or_else(
        || UnfinishedWaits {
            left_out: left_out + waits.len() as u64,
            ..UnfinishedWaits::default()
        },
        |found| UnfinishedWaits { left_out, ..found },
    )
}

/// Returns `None` if the JVM does not find the objects with these tags.
fn among(
    jvm: Jvm<'_>,
    subscriber: &Subscriber,
    waits: &HashMap<i64, Wait>,
) -> Option<UnfinishedWaits> {
    let Jvm { jvmti, live, local } = jvm;
    let threads = waits.keys().copied();
    let monitors = waits.values().filter_map(|wait| wait.monitor);
    let tags: Vec<i64> = threads.chain(monitors).collect();
    let objects = jvmti.objects_with_tags(live, local, &tags).ok()?;
    let objects: HashMap<i64, LocalRef<'_>> = objects.into_iter().collect();
    let waiting = |(tag, wait): (&i64, &Wait)| {
        let (thread, monitor) = (objects.get(tag)?, objects.get(&wait.monitor?)?);
        let name = jvmti.thread_name(live, local, thread).unwrap_or_default();
        if is_agent_thread(&name) {
            return None;
        }
        let state = jvmti.thread_state(live, thread).unwrap_or(0);
        let frames = match state & WAITS {
            0 => None,
            _ => jvmti.stack(live, Some(thread), DEPTH).ok(),
        };
        let waiting = UnfinishedWait {
            wait: wait.clone(),
            thread: name,
            class: monitor_signature(jvm, monitor)?,
            frames: frames.unwrap_or_default(),
        };
        Some((*tag, waiting))
    };
    let waiting: HashMap<i64, UnfinishedWait> = waits.iter().filter_map(waiting).collect();
    let owner = |wait: &Wait| {
        let monitor = objects.get(&wait.monitor?)?;
        let (owner, _) = jvmti.monitor_users(live, local, monitor).ok()?.owner?;
        thread_tag(jvm, subscriber, &owner)
    };
    let to_enter = waits.iter();
    let to_enter = to_enter.filter(|(_, wait)| wait.kind == WaitKind::ToEnter);
    let owners = to_enter.filter_map(|(thread, wait)| Some((*thread, owner(wait)?)));
    let circles = circles(&owners.collect()).into_iter();
    let deadlocks = circles.filter_map(|circle| {
        let threads = circle.iter();
        threads.map(|tag| waiting.get(tag).cloned()).collect()
    });
    Some(UnfinishedWaits {
        deadlocks: deadlocks.collect(),
        waits: waiting.into_values().collect(),
        left_out: 0,
    })
}
