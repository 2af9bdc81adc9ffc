//! The state that recordings of JVM events, and plugins that observe them, share with the threads of the application.

use super::references::References;
use crate::ffi::jvm_events::VmEvent;
use crate::ffi::jvmti::{Jvmti, MethodId, StackFrame};
use crate::ffi::refs::{FieldId, GlobalRef};
use jvm_events::{EventKind, EventSubscription};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// Capacity of the event queue, in frames of 16 bytes; an event counts as one more.
const QUEUE: usize = 1 << 20;
/// Largest number of sampled objects that are followed until they are freed.
const FOLLOWED_OBJECTS: i64 = 1 << 22;
/// The first tag of threads.
const FIRST_THREAD: i64 = 1 << 48;
/// The first tag of monitors for which threads wait.
const FIRST_MONITOR: i64 = 1 << 56;
/// Largest number of classes whose freed objects are counted. The class is the tag of its objects.
const FREED_CLASSES: usize = 4096;
/// Capacity of the ring of garbage collections.
const COLLECTIONS: usize = 256;
/// Largest number of queries for the holder of a monitor in a second.
const QUERIES_IN_SECOND: u32 = 50;
const SECOND: Duration = Duration::from_secs(1);
/// Longest wait for the end of a recording.
const TIMEOUT: Duration = Duration::from_secs(60);

/// All subscribers: recordings, plugins and sessions.
#[derive(Debug)]
pub(crate) struct Subscribers {
    subscribers: RwLock<Vec<Arc<Subscriber>>>,
    /// Environments whose capabilities were added before the live phase.
    prepared: Mutex<Vec<(SubscriberId, Jvmti)>>,
    /// The holder name whose release ends the recording.
    holder: Mutex<Option<String>>,
    /// The time of the last event about exhausted memory or threads.
    exhausted: Mutex<Option<Instant>>,
    /// The number of recordings so far, and that of plugins that subscribed.
    pub recordings: AtomicU64,
    pub observers: AtomicU64,
    /// Garbage collections.
    pub collections: Collections,
}

/// The identity of a subscriber.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubscriberId {
    /// A recording.
    Recording,
    /// A plugin, by its number ([`host::Observer::number`]).
    Plugin(u64),
    /// A session that records the waits of threads with open calls, by its number.
    Waits(u8),
}

impl SubscriberId {
    /// Checks whether the locks of parked threads are recorded for it.
    pub fn samples_locks(self) -> bool {
        matches!(self, Self::Recording | Self::Waits(_))
    }
}

/// A subscriber to events of the JVM.
#[derive(Debug)]
pub(crate) struct Subscriber {
    /// The identity of the subscriber.
    pub id: SubscriberId,
    /// The environment that receives the events.
    pub jvmti: Jvmti,
    /// The events that it subscribes to.
    pub subscriptions: Vec<EventSubscription>,
    /// True if sampled objects are followed until they are freed.
    pub live: bool,
    queue: Mutex<Queue>,
    /// The current waits of threads, by the tags of the threads.
    waits: Mutex<HashMap<i64, Wait>>,
    /// The threads with open calls that wait for a monitor, by the ids that calls use.
    waiting: Mutex<HashMap<u64, Waiting>>,
    /// Start of the current second for queries of monitor holders, and their number in it.
    holder_queries: Mutex<(Option<Instant>, u32)>,
    /// The parked threads, by their tags.
    parks: Mutex<HashMap<i64, Park>>,
    lock_fields: OnceLock<LockFields>,
    /// Global references of JNI, if they are followed.
    pub references: References,
    /// The number of strong references at the start, if the JVM reports it.
    references_before: OnceLock<u64>,
    /// True if a thread may still use the environment at the end. It is never disposed of then.
    keeps_environment: AtomicBool,
    monitors: AtomicI64,
    /// Counts of freed objects, if they are subscribed to.
    freed: Option<Freed>,
    objects: AtomicI64,
    threads: AtomicI64,
    /// Number of starts and ends of platform threads.
    thread_changes: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
}

/// Fields of Java objects from which the lock of a parked thread and its holder are read.
#[derive(Debug)]
pub(crate) struct LockFields {
    /// `Thread.parkBlocker`.
    pub blocker: FieldId,
    /// `AbstractOwnableSynchronizer`, and its field `exclusiveOwnerThread`.
    pub synchronizer: GlobalRef,
    pub owner: FieldId,
}

/// A wait of a thread that has not ended.
#[derive(Debug, Clone)]
pub(crate) struct Wait {
    pub begun: Instant,
    pub kind: WaitKind,
    /// The thread that held the monitor when this thread began to wait for it.
    pub holder: Option<MonitorHolder>,
    /// The tag of the object with the monitor, in a recording.
    pub monitor: Option<i64>,
}

/// The kind of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitKind {
    /// Entering a monitor.
    ToEnter,
    /// `Object.wait`.
    ObjectWait,
}

/// A thread with open calls that waits for a monitor.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    /// Java's id of the thread, and true if it is virtual.
    pub thread: (u64, bool),
    pub begun: Instant,
    pub kind: WaitKind,
    /// The object with the monitor.
    pub object: Arc<GlobalRef>,
    /// The name of the thread that held the monitor at the last check.
    pub holder: Option<String>,
}

/// A parked thread.
#[derive(Debug)]
pub(crate) struct Park {
    /// Java's id of the thread.
    pub id: u64,
    /// The object that the thread waits for, read from its field `parkBlocker`.
    pub blocker: Arc<GlobalRef>,
    pub is_virtual: bool,
    pub thread: String,
    /// The signature of the object's class.
    pub class: Vec<u8>,
    pub frames: Vec<StackFrame>,
    /// The thread that held the lock at the last check.
    pub holder: Option<String>,
    /// The end of the time that `holders` includes.
    pub since: Instant,
    /// The nanoseconds for which each thread held the lock.
    pub holders: Vec<(Option<String>, u64)>,
}

impl Park {
    /// Adds the time since the last check to the former holder, and sets the new one.
    fn account(&mut self, holder: Option<String>, now: Instant) {
        let nanos = now.saturating_duration_since(self.since).as_nanos();
        let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
        self.since = self.since.max(now);
        let before = std::mem::replace(&mut self.holder, holder);
        match self.holders.iter_mut().find(|(known, _)| *known == before) {
            Some((_, sum)) => *sum += nanos,
            None => self.holders.push((before, nanos)),
        }
    }

    /// The whole wait until `ended`, by the holders of the lock. The holder of the longest time is first.
    pub fn parts(&self, ended: Instant) -> Vec<(Option<String>, u64)> {
        let mut whole = Self {
            holders: self.holders.clone(),
            holder: self.holder.clone(),
            blocker: Arc::clone(&self.blocker),
            thread: String::new(),
            class: Vec::new(),
            frames: Vec::new(),
            ..*self
        };
        whole.account(None, ended);
        whole
            .holders
            .sort_by_key(|(_, nanos)| std::cmp::Reverse(*nanos));
        whole.holders
    }
}

/// The event queue.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub events: VecDeque<Event>,
    /// Number of events and of their frames.
    length: usize,
    /// Number of events that did not fit.
    pub lost: u64,
    /// Number of sampled objects that got no tag.
    pub untracked: u64,
}

impl Queue {
    fn push(&mut self, event: Event) {
        if self.length >= QUEUE {
            self.lost += 1;
            return;
        }
        self.length += event.frames.len() + 1;
        self.events.push_back(event);
    }

    /// Removes the first `most` events, with the counters so far.
    fn take(&mut self, most: usize) -> Self {
        if self.events.len() <= most {
            return std::mem::take(self);
        }
        let events: VecDeque<Event> = self.events.drain(..most).collect();
        let taken = events.iter().map(|event| event.frames.len() + 1);
        self.length -= taken.sum::<usize>();
        Self {
            events,
            length: 0,
            lost: std::mem::take(&mut self.lost),
            untracked: std::mem::take(&mut self.untracked),
        }
    }
}

/// An event of a thread.
#[derive(Debug)]
pub(crate) struct Event {
    pub data: EventData,
    /// The time of the event, relative to that of [`Collections`].
    pub at: u64,
    /// The name of the thread.
    pub thread: String,
    /// The signature of the class that the event concerns (JVM TI, GetClassSignature).
    pub class: Vec<u8>,
    /// The innermost frames of the thread, the innermost first.
    pub frames: Vec<StackFrame>,
}

/// A thread that holds a monitor, and its innermost frame.
#[derive(Debug, Clone)]
pub(crate) struct MonitorHolder {
    pub thread: String,
    pub at: Option<StackFrame>,
}

/// The kind of an event, with its data.
#[derive(Debug)]
pub(crate) enum EventData {
    /// An allocation of `size` bytes, with the object's tag if it has one.
    SampledObjectAlloc { size: u64, tag: Option<i64> },
    /// A thrown exception, and the frame that catches it.
    Exception { caught: Option<StackFrame> },
    /// A caught exception, and the frame that caught it.
    ExceptionCatch { at: Option<StackFrame> },
    /// A monitor was entered after this many nanoseconds. The holder held it when the wait began.
    MonitorEntered(u64, Option<MonitorHolder>),
    /// `Object.wait` returned after this many nanoseconds.
    MonitorWaited(u64),
    /// A part of the time for which a thread was parked, in nanoseconds, with the holder of the lock in that part. The
    /// first part of a wait counts the wait, and has its whole time.
    Unparked {
        nanos: u64,
        holder: Option<String>,
        whole: Option<u64>,
    },
    /// The thread has started.
    ThreadStart { is_virtual: bool },
    /// The thread ends.
    ThreadEnd { is_virtual: bool },
    /// A class is prepared.
    ClassPrepare,
    /// A native method was bound.
    NativeMethodBind { method: MethodId },
    /// An event that no Java thread causes.
    Vm(VmEvent),
}

#[derive(Debug, Default)]
struct State {
    stop: bool,
    /// The JVM ends.
    dying: bool,
    /// The outcome of writing the file.
    ended: Option<Result<(), String>>,
}

impl Subscribers {
    /// Creates the state without subscribers. `prepared` holds environments whose capabilities were added before the
    /// live phase.
    pub fn new(prepared: Vec<(SubscriberId, Jvmti)>) -> Self {
        Self {
            subscribers: RwLock::default(),
            prepared: Mutex::new(prepared),
            holder: Mutex::default(),
            exhausted: Mutex::default(),
            recordings: AtomicU64::new(0),
            observers: AtomicU64::new(0),
            collections: Collections::new(),
        }
    }

    /// Takes the environment that was prepared for the subscriber before the live phase.
    pub fn take_prepared(&self, id: SubscriberId) -> Option<Jvmti> {
        let mut prepared = lock(&self.prepared);
        let at = prepared.iter().position(|(of, _)| *of == id)?;
        Some(prepared.swap_remove(at).1)
    }

    /// Notes exhausted memory or threads. Returns true if that did not happen in this time before.
    pub fn is_first_exhaustion_in(&self, time: Duration) -> bool {
        let last = lock(&self.exhausted).replace(Instant::now());
        last.is_none_or(|last| last.elapsed() >= time)
    }

    /// All subscribers.
    pub fn all(&self) -> Vec<Arc<Subscriber>> {
        self.read(|subscribers| subscribers.to_vec())
    }

    /// The recording that is under way.
    pub fn recording(&self) -> Option<Arc<Subscriber>> {
        self.find(|subscriber| subscriber.id == SubscriberId::Recording)
    }

    /// The subscriber with this environment.
    pub fn of(&self, jvmti: Jvmti) -> Option<Arc<Subscriber>> {
        self.find(|subscriber| subscriber.jvmti == jvmti)
    }

    fn find(&self, is_it: impl Fn(&Subscriber) -> bool) -> Option<Arc<Subscriber>> {
        self.read(|subscribers| subscribers.iter().find(|one| is_it(one)).cloned())
    }

    fn read<T>(&self, body: impl FnOnce(&[Arc<Subscriber>]) -> T) -> T {
        body(
            &self
                .subscribers
                .read()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Sets the holder name whose release ends the recording. Without one, only a command ends it.
    pub fn set_holder(&self, holder: Option<String>) {
        *lock(&self.holder) = holder;
    }

    /// Checks whether the newest recording ends with this holder name.
    pub fn is_held_by(&self, name: &str) -> bool {
        lock(&self.holder).as_deref() == Some(name)
    }

    /// Adds a subscriber.
    ///
    /// # Errors
    ///
    /// It is a subscriber already, or another subscriber samples allocations at a different interval, of which a JVM
    /// has only one.
    pub fn begin(
        &self,
        id: SubscriberId,
        jvmti: Jvmti,
        subscriptions: Vec<EventSubscription>,
        live: bool,
    ) -> Result<Arc<Subscriber>, String> {
        let mut subscribers = self
            .subscribers
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if subscribers.iter().any(|other| other.id == id) {
            return Err("another recording is under way in this JVM".to_owned());
        }
        let sampled = |subscriptions: &[EventSubscription]| {
            sampled(subscriptions).map(|subscription| subscription.bytes)
        };
        let mut others = subscribers
            .iter()
            .filter_map(|other| sampled(&other.subscriptions));
        if let (Some(bytes), Some(other)) = (sampled(&subscriptions), others.next())
            && bytes != other
        {
            return Err(format!(
                "another recording or plugin samples allocations every {other} bytes; a JVM has one interval, so it cannot sample every {bytes} bytes too"
            ));
        }
        let count = match id {
            SubscriberId::Recording => Some(&self.recordings),
            SubscriberId::Plugin(_) => Some(&self.observers),
            SubscriberId::Waits(_) => None, // it has no file of its own
        };
        if let Some(count) = count {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let freed = subscriptions
            .iter()
            .any(|subscription| subscription.kind == EventKind::Frees);
        let freed = freed.then(Freed::new);
        let begun = Arc::new(Subscriber {
            id,
            jvmti,
            subscriptions,
            live,
            queue: Mutex::default(),
            waits: Mutex::default(),
            waiting: Mutex::default(),
            holder_queries: Mutex::default(),
            parks: Mutex::default(),
            lock_fields: OnceLock::new(),
            references: References::default(),
            references_before: OnceLock::new(),
            keeps_environment: AtomicBool::new(false),
            monitors: AtomicI64::new(FIRST_MONITOR),
            freed,
            objects: AtomicI64::new(1),
            threads: AtomicI64::new(FIRST_THREAD),
            thread_changes: AtomicU64::new(0),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        subscribers.push(Arc::clone(&begun));
        Ok(begun)
    }

    /// Removes a subscriber.
    pub fn remove(&self, gone: &Subscriber) {
        let mut subscribers = self
            .subscribers
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        subscribers.retain(|one| one.id != gone.id);
    }
}

impl Subscriber {
    /// Adds an event to the queue, if there is room.
    pub fn push(&self, event: Event) {
        lock(&self.queue).push(event);
    }

    /// Takes at most this many events from the queue.
    pub fn take(&self, most: usize) -> Queue {
        lock(&self.queue).take(most)
    }

    /// The subscription to a kind of event, if there is one.
    pub fn subscription(&self, kind: EventKind) -> Option<&EventSubscription> {
        self.subscriptions
            .iter()
            .find(|subscription| subscription.kind == kind)
    }

    /// A new tag for a sampled object. Returns `None` if too many objects are followed.
    pub fn object_tag(&self) -> Option<i64> {
        let tag = self.objects.fetch_add(1, Ordering::Relaxed);
        if tag < FOLLOWED_OBJECTS {
            return Some(tag);
        }
        lock(&self.queue).untracked += 1;
        None
    }

    /// A new tag for a thread.
    pub fn thread_tag(&self) -> i64 {
        self.threads.fetch_add(1, Ordering::Relaxed)
    }

    /// Notes that a platform thread has started or ends.
    pub fn threads_change(&self) {
        self.thread_changes.fetch_add(1, Ordering::Release);
    }

    /// The number of starts and ends of platform threads so far.
    pub fn thread_changes(&self) -> u64 {
        self.thread_changes.load(Ordering::Acquire)
    }

    /// A new tag for a monitor.
    pub fn monitor_tag(&self) -> i64 {
        self.monitors.fetch_add(1, Ordering::Relaxed)
    }

    /// The counts of freed objects, if they are subscribed to.
    pub fn freed(&self) -> Option<&Freed> {
        self.freed.as_ref()
    }

    /// Begins a wait of the thread with this tag.
    pub fn wait_begins(&self, thread: i64, wait: Wait) {
        lock(&self.waits).insert(thread, wait);
    }

    /// The current waits, by the tags of the threads.
    pub fn waits(&self) -> HashMap<i64, Wait> {
        lock(&self.waits).clone()
    }

    /// Ends a wait, and returns its nanoseconds and the holder of the monitor. Returns `None` if it began before the
    /// recording.
    pub fn wait_ends(&self, thread: i64) -> Option<(u64, Option<MonitorHolder>)> {
        let wait = lock(&self.waits).remove(&thread)?;
        let nanos = u64::try_from(wait.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Some((nanos, wait.holder))
    }

    /// Checks whether the holder of one more monitor may be queried in this second: the JVM stops the program for it.
    pub fn may_query_holder(&self) -> bool {
        let mut queries = lock(&self.holder_queries);
        let now = Instant::now();
        if queries
            .0
            .is_none_or(|since| now.duration_since(since) >= SECOND)
        {
            *queries = (Some(now), 0);
        }
        queries.1 += 1;
        queries.1 <= QUERIES_IN_SECOND
    }

    /// Begins a wait for a monitor of a thread with open calls.
    pub fn waiting_begins(&self, waiting: Waiting) -> Option<Waiting> {
        lock(&self.waiting).insert(waiting.thread.0, waiting)
    }

    /// Ends the wait of the thread with this id.
    pub fn waiting_ends(&self, thread: u64) -> Option<Waiting> {
        lock(&self.waiting).remove(&thread)
    }

    /// The threads with open calls that wait for monitors.
    pub fn all_waiting(&self) -> Vec<Waiting> {
        lock(&self.waiting).values().cloned().collect()
    }

    /// Notes the name of the thread that holds the monitor for which the thread with this id waits.
    pub fn set_monitor_holder(&self, thread: u64, holder: String) {
        if let Some(waiting) = lock(&self.waiting).get_mut(&thread) {
            waiting.holder = Some(holder);
        }
    }

    /// The fields with the locks of parked threads, if these are recorded.
    pub fn lock_fields(&self) -> Option<&LockFields> {
        self.lock_fields.get()
    }

    /// Sets the fields with the locks of parked threads, which starts the recording of waits for locks.
    pub fn set_lock_fields(&self, fields: Option<LockFields>) {
        if let Some(fields) = fields {
            let _ = self.lock_fields.set(fields);
        }
    }

    /// Notes the number of strong global references of JNI at the start.
    pub fn note_references(&self, count: Option<u64>) {
        if let Some(count) = count {
            let _ = self.references_before.set(count);
        }
    }

    /// Returns the number of strong global references of JNI at the start.
    pub fn references_before(&self) -> Option<u64> {
        self.references_before.get().copied()
    }

    /// Keeps the environment after the end, as a thread may still use it.
    pub fn keep_environment(&self) {
        self.keeps_environment.store(true, Ordering::Release);
    }

    /// Disposes of the environment, unless a thread may still use it.
    pub fn dispose(&self) {
        if !self.keeps_environment.load(Ordering::Acquire) {
            self.jvmti.dispose();
        }
    }

    /// Begins the park of the thread with this tag.
    pub fn park_begins(&self, thread: i64, park: Park) {
        lock(&self.parks).insert(thread, park);
    }

    /// Ends the park of the thread with this tag.
    pub fn park_ends(&self, thread: i64) -> Option<Park> {
        lock(&self.parks).remove(&thread)
    }

    /// The object for which the thread with this tag is parked, and true if the thread is virtual.
    pub fn park_of(&self, thread: i64) -> Option<(Arc<GlobalRef>, bool)> {
        let parks = lock(&self.parks);
        let park = parks.get(&thread)?;
        Some((Arc::clone(&park.blocker), park.is_virtual))
    }

    /// The tags of parked threads with the objects for which they wait, and true for each virtual thread.
    pub fn parked(&self) -> Vec<(i64, Arc<GlobalRef>, bool)> {
        let parks = lock(&self.parks);
        let parks = parks.iter();
        parks
            .map(|(tag, park)| (*tag, Arc::clone(&park.blocker), park.is_virtual))
            .collect()
    }

    /// Notes the name of the thread that holds the lock for which the thread with this tag waits.
    pub fn account_park(&self, thread: i64, holder: Option<String>, now: Instant) {
        if let Some(park) = lock(&self.parks).get_mut(&thread) {
            park.account(holder, now);
        }
    }

    /// Checks whether it ends together with the JVM, whose collector may have stopped already.
    pub fn is_dying(&self) -> bool {
        lock(&self.state).dying
    }

    /// Waits until this time, or until the end is requested. Returns true at the end.
    pub fn pause(&self, until: Instant) -> bool {
        let mut state = lock(&self.state);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if state.stop || left.is_zero() {
                return state.stop;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Notes the outcome of the recording thread, which has ended.
    pub fn ended(&self, outcome: Result<(), String>) {
        lock(&self.state).ended = Some(outcome);
        self.changed.notify_all();
    }

    /// Ends the recording, and waits until its file is complete.
    ///
    /// # Errors
    ///
    /// The reason why the file is not complete.
    pub fn stop(&self, dying: bool) -> Result<(), String> {
        let mut state = lock(&self.state);
        (state.stop, state.dying) = (true, dying);
        self.changed.notify_all();
        let until = Instant::now() + TIMEOUT;
        loop {
            if let Some(outcome) = &state.ended {
                return outcome.clone();
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err("the recording thread does not answer".to_owned());
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The subscription that requires sampling of allocations.
pub(crate) fn sampled(subscriptions: &[EventSubscription]) -> Option<&EventSubscription> {
    let kinds = [EventKind::Allocations, EventKind::Frees];
    subscriptions
        .iter()
        .find(|subscription| kinds.contains(&subscription.kind))
}

/// The number of freed sampled objects of each class.
///
/// An object's tag is the number of its class. So a freed object is counted without a call of the JVM, a lock or
/// memory.
#[derive(Debug)]
pub(crate) struct Freed {
    /// The tags of classes, by their signatures.
    classes: Mutex<HashMap<Vec<u8>, usize>>,
    /// The number of freed objects by tag. The first counter holds those of all further classes.
    counts: Box<[AtomicU64]>,
}

impl Freed {
    fn new() -> Self {
        Self {
            classes: Mutex::default(),
            counts: (0..FREED_CLASSES).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// The tag for objects of a class.
    pub fn tag(&self, class: &[u8]) -> i64 {
        let mut classes = lock(&self.classes);
        let new = classes.len() + 2; // 0 is no tag, 1 that of all other classes
        let tag = match classes.get(class) {
            Some(known) => *known,
            None if new < FREED_CLASSES => {
                classes.insert(class.to_owned(), new);
                new
            }
            None => 1,
        };
        i64::try_from(tag).unwrap_or(1)
    }

    /// Counts a freed object by its tag.
    pub fn note(&self, tag: i64) {
        let count = usize::try_from(tag)
            .ok()
            .and_then(|tag| self.counts.get(tag));
        if let Some(count) = count {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Takes the counts for each class. The class name is empty for all further classes together.
    pub fn take(&self) -> Vec<(Vec<u8>, u64)> {
        let classes = lock(&self.classes);
        let classes = classes.iter().map(|(class, tag)| (class.clone(), *tag));
        let counted = classes.chain([(Vec::new(), 1)]).map(|(class, tag)| {
            let count = self.counts.get(tag);
            (
                class,
                count.map_or(0, |count| count.swap(0, Ordering::Relaxed)),
            )
        });
        counted.filter(|(_, count)| *count > 0).collect()
    }
}

/// Start and end of garbage collections. Writers run in events in which no call and no wait is allowed.
#[derive(Debug)]
pub(crate) struct Collections {
    /// The origin of the times.
    base: Instant,
    /// The start of the current collection; 0 without one.
    begun: AtomicU64,
    ended: AtomicUsize,
    /// Start and end of each, in nanoseconds.
    times: [(AtomicU64, AtomicU64); COLLECTIONS],
}

impl Collections {
    fn new() -> Self {
        Self {
            base: Instant::now(),
            begun: AtomicU64::new(0),
            ended: AtomicUsize::new(0),
            times: std::array::from_fn(|_| (AtomicU64::new(0), AtomicU64::new(0))),
        }
    }

    /// Nanoseconds since the origin.
    pub fn now(&self) -> u64 {
        u64::try_from(self.base.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Notes the start or end of a collection. The JVM sends it on one thread, once for each environment.
    pub fn note(&self, begins: bool) {
        let now = self.now().max(1);
        if begins {
            if self.begun.load(Ordering::Relaxed) == 0 {
                self.begun.store(now, Ordering::Relaxed);
            }
            return;
        }
        let begun = self.begun.swap(0, Ordering::Relaxed);
        if begun == 0 {
            return; // another environment has reported the same end, or the start was before the recording
        }
        let ended = self.ended.load(Ordering::Relaxed);
        let (start, end) = &self.times[ended % COLLECTIONS];
        start.store(begun, Ordering::Relaxed);
        end.store(now, Ordering::Relaxed);
        self.ended.store(ended + 1, Ordering::Release);
    }

    /// The number of completed collections.
    pub fn ended(&self) -> usize {
        self.ended.load(Ordering::Acquire)
    }

    /// Start and end of the collections after the first `read` ones, and the number of overwritten ones.
    pub fn since(&self, read: usize) -> (Vec<(u64, u64)>, usize) {
        let ended = self.ended();
        let first = read.max(ended.saturating_sub(COLLECTIONS));
        let times = (first..ended).map(|at| &self.times[at % COLLECTIONS]);
        let read_time = |time: &AtomicU64| time.load(Ordering::Relaxed);
        let times = times.map(|(start, end)| (read_time(start), read_time(end)));
        (times.collect(), first - read)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_queue_counts_lost_events() {
        let mut queue = Queue::default();
        for _ in 0..=QUEUE {
            queue.push(Event {
                data: EventData::MonitorWaited(1),
                at: 0,
                thread: String::new(),
                class: Vec::new(),
                frames: Vec::new(),
            });
        }
        assert_eq!((queue.events.len(), queue.lost), (QUEUE, 1));
        let first = queue.take(10);
        assert_eq!((first.events.len(), first.lost), (10, 1));
        assert_eq!((queue.length, queue.lost), (QUEUE - 10, 0));
        let rest = queue.take(QUEUE);
        assert_eq!((rest.events.len(), queue.length), (QUEUE - 10, 0));
    }

    #[test]
    fn freed_objects_are_counted_by_class_within_bounds() {
        let freed = Freed::new();
        let [a, b] = [b"La;", b"Lb;"].map(|class| freed.tag(class));
        assert_eq!(freed.tag(b"La;"), a);
        for _ in 0..3 {
            freed.note(a);
        }
        freed.note(b);
        for tag in [0, -1, FIRST_THREAD, i64::MAX] {
            freed.note(tag); // tags of threads, and invalid ones
        }
        let mut gone = freed.take();
        gone.sort();
        assert_eq!(gone, [(b"La;".to_vec(), 3), (b"Lb;".to_vec(), 1)]);
        assert!(freed.take().is_empty());
        let last = (0..FREED_CLASSES)
            .map(|number| freed.tag(number.to_string().as_bytes()))
            .last();
        assert_eq!(last, Some(1));
        freed.note(1);
        assert_eq!(freed.take(), [(Vec::new(), 1)]);
    }

    /// Each subscribed environment gets the events of one collection.
    #[test]
    fn collection_reported_by_two_environments_counts_once() {
        let collections = Collections::new();
        for begins in [true, true, false, false, false] {
            collections.note(begins);
        }
        assert_eq!(collections.since(0).0.len(), 1);
    }

    #[test]
    fn collections_are_read_once_and_overwritten_ones_are_counted() {
        let collections = Collections::new();
        assert_eq!(collections.since(0), (vec![], 0));
        for _ in 0..3 {
            collections.note(true);
            collections.note(false);
        }
        let (times, lost) = collections.since(1);
        assert_eq!((times.len(), lost), (2, 0));
        assert!(times.iter().all(|(start, end)| start <= end));
        for _ in 0..COLLECTIONS {
            collections.note(true);
            collections.note(false);
        }
        let (times, lost) = collections.since(2);
        assert_eq!((times.len(), lost), (COLLECTIONS, 1));
    }
}
