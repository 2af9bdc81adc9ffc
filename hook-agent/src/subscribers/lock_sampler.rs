//! Waits for locks of `java.util.concurrent`, and other calls of `LockSupport.park`, for which JVM TI has no event.
//!
//! The agent samples the states of platform threads and their field `parkBlocker`. A virtual thread leaves its carrier
//! when it is parked, for which HotSpot has extension events. No class is changed.

use super::identity::{is_agent_thread, thread_tag};
use super::wait_reports;
use crate::agent::subscribers::{Event, EventData, LockFields, Park, Subscriber, SubscriberId};
use crate::ffi::jvm::Jvm;
use crate::ffi::refs::LocalRef;
use crate::spans::runtime;
use jvm_events::EventKind;
use std::collections::HashSet;
use std::ffi::CStr;
use std::sync::Arc;
use std::time::Instant;

/// `JVMTI_THREAD_STATE_PARKED`.
const PARKED: u32 = 0x200;
/// The class name for a thread that was parked without a blocker.
const NO_BLOCKER: &[u8] = b"L(no object named);";
/// Local references for the threads of one sample.
const CAPACITY: i32 = 4096;

/// Finds the fields with the lock of a parked thread and its holder. Returns `None` in a JVM with other fields.
pub(super) fn find_fields(jvm: Jvm<'_>) -> Option<LockFields> {
    const SYNCHRONIZER: &CStr = c"java/util/concurrent/locks/AbstractOwnableSynchronizer";
    let local = jvm.local;
    let thread = local.find_class(c"java/lang/Thread")?;
    let synchronizer = local.find_class(SYNCHRONIZER)?;
    let thread_type = c"Ljava/lang/Thread;";
    Some(LockFields {
        blocker: local.field_id(&thread, c"parkBlocker", c"Ljava/lang/Object;")?,
        owner: local.field_id(&synchronizer, c"exclusiveOwnerThread", thread_type)?,
        synchronizer: local.globalize(&synchronizer)?,
    })
}

/// The object for which a thread is parked.
fn blocker_of<'a>(
    jvm: Jvm<'a>,
    fields: &LockFields,
    thread: &LocalRef<'_>,
) -> Option<LocalRef<'a>> {
    jvm.local.object_field(thread, fields.blocker)
}

/// The name of the thread that holds the lock. Returns `None` if the lock has no exclusive owner.
fn holder(jvm: Jvm<'_>, fields: &LockFields, blocker: &LocalRef<'_>) -> Option<String> {
    let Jvm { jvmti, live, local } = jvm;
    if !local.is_instance(blocker, &fields.synchronizer) {
        return None;
    }
    let owner = local.object_field(blocker, fields.owner)?;
    jvmti.thread_name(live, local, &owner)
}

/// Samples the parked threads.
#[derive(Debug)]
pub(super) struct LockSampler {
    last: Instant,
}

impl LockSampler {
    /// Returns `None` if waits for monitors are not recorded.
    pub fn new(subscriber: &Subscriber) -> Option<Self> {
        let is_wanted = subscriber.subscription(EventKind::Monitors).is_some();
        let follows = subscriber.id.samples_locks();
        (is_wanted && follows && subscriber.lock_fields().is_some()).then(|| Self {
            last: Instant::now(),
        })
    }

    /// Takes one sample. A wait that began or ended since the last sample counts from the middle between the two.
    pub fn sample(&mut self, jvm: Jvm<'_>, subscriber: &Subscriber, now: u64) {
        let Some(fields) = subscriber.lock_fields() else {
            return;
        };
        let moment = Instant::now();
        let halfway = self.last + moment.duration_since(self.last) / 2;
        // For a session, only threads with open calls are sampled.
        let wanted = match subscriber.id {
            SubscriberId::Waits(session) => Some(wait_reports::threads_with_open_calls(session)),
            _ => None,
        };
        if wanted.as_ref().is_some_and(HashSet::is_empty) && subscriber.parked().is_empty() {
            self.last = moment;
            return;
        }
        let is_wanted = |thread: &LocalRef<'_>| match &wanted {
            None => true,
            Some(wanted) => {
                let known = runtime::identify(jvm.local, thread);
                known.is_some_and(|(id, _)| wanted.contains(&id))
            }
        };
        jvm.with_frame(CAPACITY, |jvm| {
            let Ok(threads) = jvm.jvmti.all_threads(jvm.live, jvm.local) else {
                return;
            };
            let mut gone: HashSet<i64> = HashSet::new();
            gone.extend(subscriber.parked().iter().filter(|it| !it.2).map(|it| it.0));
            for thread in threads.iter().filter(|thread| is_wanted(thread)) {
                if let Some(tag) = thread_tag(jvm, subscriber, thread) {
                    gone.remove(&tag);
                    sample_thread(jvm, subscriber, fields, (tag, thread), (halfway, now));
                }
            }
            for tag in gone {
                end(jvm, subscriber, tag, halfway, now);
            }
            account(jvm, subscriber, fields, moment);
        });
        self.last = moment;
    }
}

/// Samples a platform thread: checks whether it still waits for the same object.
fn sample_thread(
    jvm: Jvm<'_>,
    subscriber: &Subscriber,
    fields: &LockFields,
    (tag, thread): (i64, &LocalRef<'_>),
    (moment, now): (Instant, u64),
) {
    let state = jvm.jvmti.thread_state(jvm.live, thread).unwrap_or(0);
    let is_parked = state & PARKED != 0;
    let named = is_parked.then(|| blocker_of(jvm, fields, thread)).flatten();
    // Without a blocker, the thread itself replaces it.
    let blocker = is_parked.then(|| named.as_ref().unwrap_or(thread));
    let known = subscriber.park_of(tag);
    let is_same = match (&blocker, &known) {
        (Some(blocker), Some((known, _))) => {
            let known = jvm.local.of_global(known);
            jvm.local.is_same_object(&known, blocker)
        }
        (None, None) => true,
        _ => false,
    };
    if is_same {
        return;
    }
    drop(known);
    end(jvm, subscriber, tag, moment, now);
    if let Some(blocker) = blocker {
        begin(jvm, subscriber, (tag, thread), blocker, (moment, false));
    }
}

/// Adds the time since the last sample to the current holders of the locks.
fn account(jvm: Jvm<'_>, subscriber: &Subscriber, fields: &LockFields, moment: Instant) {
    for (tag, blocker, _) in subscriber.parked() {
        let holder = holder(jvm, fields, &jvm.local.of_global(&blocker));
        subscriber.account_park(tag, holder, moment);
    }
}

/// Begins the wait of a thread.
fn begin(
    jvm: Jvm<'_>,
    subscriber: &Subscriber,
    (tag, thread): (i64, &LocalRef<'_>),
    blocker: &LocalRef<'_>,
    (begun, is_virtual): (Instant, bool),
) {
    let Jvm { jvmti, live, local } = jvm;
    let name = jvmti.thread_name(live, local, thread).unwrap_or_default();
    let (Some(subscription), false) = (
        subscriber.subscription(EventKind::Monitors),
        is_agent_thread(&name),
    ) else {
        return;
    };
    let class = match local.is_same_object(blocker, thread) {
        true => Some(NO_BLOCKER.to_vec()),
        false => local
            .object_class(blocker)
            .and_then(|class| jvmti.class_signature(&class).ok()),
    };
    let frames = match subscription.frames {
        0 => None,
        most => jvmti.stack(live, Some(thread), most).ok(),
    };
    let Some(kept) = local.globalize(blocker) else {
        return;
    };
    let fields = subscriber.lock_fields();
    let holder = fields.and_then(|fields| holder(jvm, fields, blocker));
    let park = Park {
        id: runtime::identify(local, thread).map_or(0, |(id, _)| id),
        blocker: Arc::new(kept),
        is_virtual,
        thread: name,
        class: class.unwrap_or_default(),
        frames: frames.unwrap_or_default(),
        holder,
        since: begun,
        holders: Vec::new(),
    };
    subscriber.park_begins(tag, park);
}

/// Ends the wait of a thread. In a recording, each thread that held the lock meanwhile gives one event.
fn end(jvm: Jvm<'_>, subscriber: &Subscriber, tag: i64, ended: Instant, now: u64) {
    let Some(park) = subscriber.park_ends(tag) else {
        return;
    };
    match subscriber.id {
        SubscriberId::Waits(session) => wait_reports::park(session, &park, ended),
        _ => (events_of(&park, ended, now).into_iter()).for_each(|event| subscriber.push(event)),
    }
    release(jvm, park);
}

/// Ends all waits.
pub(super) fn end_all(jvm: Jvm<'_>, subscriber: &Subscriber, now: u64) {
    let ended = Instant::now();
    for (tag, blocker, _) in subscriber.parked() {
        drop(blocker);
        end(jvm, subscriber, tag, ended, now);
    }
}

/// The events of a wait until `ended`. The first counts the wait.
fn events_of(park: &Park, ended: Instant, now: u64) -> Vec<Event> {
    let parts = park.parts(ended);
    let whole: u64 = parts.iter().map(|(_, nanos)| nanos).sum();
    let parts = parts.into_iter().enumerate();
    let event = |(at, (holder, nanos)): (usize, (Option<String>, u64))| Event {
        data: EventData::Unparked {
            nanos,
            holder,
            whole: (at == 0).then_some(whole),
        },
        at: now,
        thread: park.thread.clone(),
        class: park.class.clone(),
        frames: park.frames.clone(),
    };
    parts.map(event).collect()
}

/// Releases the reference of a wait, unless the sampling of holders still uses it.
fn release(jvm: Jvm<'_>, park: Park) {
    if let Ok(blocker) = Arc::try_unwrap(park.blocker) {
        jvm.local.release(blocker);
    }
}

/// Handles a virtual thread that leaves its carrier: if it is parked for an object, a wait begins.
pub(super) fn unmounts(jvm: Jvm<'_>, subscriber: &Subscriber, thread: &LocalRef<'_>) {
    let fields = subscriber.lock_fields();
    let Some(blocker) = fields.and_then(|fields| blocker_of(jvm, fields, thread)) else {
        return;
    };
    if let Some(tag) = thread_tag(jvm, subscriber, thread) {
        begin(
            jvm,
            subscriber,
            (tag, thread),
            &blocker,
            (Instant::now(), true),
        );
    }
}

/// Handles a virtual thread that enters a carrier.
pub(super) fn mounts(jvm: Jvm<'_>, subscriber: &Subscriber, thread: &LocalRef<'_>, now: u64) {
    // A thread that was never parked has no tag.
    if let Ok(tag @ 1..) = jvm.jvmti.tag(jvm.live, thread) {
        end(jvm, subscriber, tag, Instant::now(), now);
    }
}

/// Ends the waits that have not ended at the end of the recording, and returns them as events.
pub(super) fn unfinished(jvm: Jvm<'_>, subscriber: &Subscriber, now: u64) -> Vec<Event> {
    let ended = Instant::now();
    let mut all = Vec::new();
    for (tag, blocker, _) in subscriber.parked() {
        drop(blocker);
        let Some(park) = subscriber.park_ends(tag) else {
            continue;
        };
        all.extend(events_of(&park, ended, now));
        release(jvm, park);
    }
    all
}
