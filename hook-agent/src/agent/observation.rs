//! What recordings of the JVM's own events, and plugins that are told of them, share with the threads of the application.

use super::references::References;
use crate::ffi::jvmti::{Jvmti, MethodId, StackFrame};
use crate::ffi::refs::{FieldId, GlobalRef};
use observations::{Group, Wish};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// Most frames of events that wait to be read, 16 bytes each; an event counts as one more.
const QUEUE: usize = 1 << 20;
/// Most sampled objects that are followed to the end.
const FOLLOWED: i64 = 1 << 22;
/// Tags from here on are those of threads.
const FIRST_THREAD: i64 = 1 << 48;
/// Tags from here on are those of monitors for which threads wait.
const FIRST_MONITOR: i64 = 1 << 56;
/// Classes whose objects are followed until they are gone: the tags of the objects.
const FREED: usize = 4096;
/// Collections that can wait to be read.
const COLLECTIONS: usize = 256;
/// Most questions to the JVM in a second for the holder of a monitor.
const ASKED_IN_SECOND: u32 = 50;
const SECOND: Duration = Duration::from_secs(1);
/// How long the end of a recording is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// Who listens: a recording, and plugins.
#[derive(Debug)]
pub(crate) struct Observation {
    running: RwLock<Vec<Arc<Running>>>,
    /// Environments that were equipped before the live phase.
    prepared: Mutex<Vec<(Listener, Jvmti)>>,
    /// The name whose release ends the recording.
    holder: Mutex<Option<String>>,
    /// When the JVM last had no memory or thread to give.
    exhausted: Mutex<Option<Instant>>,
    /// How many recordings there were, and how many plugins that listened.
    pub recordings: AtomicU64,
    pub listeners: AtomicU64,
    /// Garbage collections.
    pub collections: Collections,
}

/// Who it is that listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listener {
    /// A recording.
    Recording,
    /// A plugin, by its number ([`host::Observer::number`]).
    Plugin(u64),
    /// A session that records the waits of threads with open calls, by its number.
    Waits(u8),
}

impl Listener {
    /// Checks whether it looks at the locks of parked threads.
    pub fn follows_locks(self) -> bool {
        matches!(self, Self::Recording | Self::Waits(_))
    }
}

/// One that listens.
#[derive(Debug)]
pub(crate) struct Running {
    /// Who it is.
    pub listener: Listener,
    /// The environment that gets the events.
    pub jvmti: Jvmti,
    /// What it is told.
    pub wishes: Vec<Wish>,
    /// Whether sampled objects are followed to the end.
    pub live: bool,
    queue: Mutex<Queue>,
    /// The waits of threads that have not ended, by the tags of the threads.
    waits: Mutex<HashMap<i64, Wait>>,
    /// The threads with open calls that wait for a monitor, by the ids that calls name.
    waiting: Mutex<HashMap<u64, Waiting>>,
    /// Since when holders of monitors are asked for within one second, and how many were.
    asked: Mutex<(Option<Instant>, u32)>,
    /// The parked threads, by their tags.
    parks: Mutex<HashMap<i64, Park>>,
    lock_fields: OnceLock<LockFields>,
    /// Global references of JNI, if they are followed.
    pub references: References,
    /// The number of strong ones at the begin, if the JVM reports it.
    references_before: OnceLock<u64>,
    /// True if a thread may still use the environment at the end, so that it is never disposed of.
    keeps_environment: AtomicBool,
    monitors: AtomicI64,
    /// Objects that are gone, if that is wanted.
    freed: Option<Freed>,
    objects: AtomicI64,
    threads: AtomicI64,
    /// Platform threads that have started or ended.
    thread_changes: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
}

/// Fields of Java's objects with the lock of a parked thread, and its holder.
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
    /// The thread that had the monitor when this one began to wait to enter it.
    pub holder: Option<Holder>,
    /// The tag of the object whose monitor it is, in a recording.
    pub monitor: Option<i64>,
}

/// What a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitKind {
    /// To enter a monitor.
    ToEnter,
    /// The end of `Object.wait`.
    ObjectWait,
}

/// A thread with open calls that waits for a monitor.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    /// Java's id of the thread, and whether it is virtual.
    pub thread: (u64, bool),
    pub begun: Instant,
    pub kind: WaitKind,
    /// The object whose monitor it is.
    pub object: Arc<GlobalRef>,
    /// The name of the thread that had the monitor when that was looked at.
    pub holder: Option<String>,
}

/// A parked thread.
#[derive(Debug)]
pub(crate) struct Park {
    /// Java's id of the thread.
    pub id: u64,
    /// The object for which it waits, as its field `parkBlocker` says.
    pub blocker: Arc<GlobalRef>,
    pub is_virtual: bool,
    pub thread: String,
    /// The signature of the object's class.
    pub class: Vec<u8>,
    pub frames: Vec<StackFrame>,
    /// The thread that had the lock when that was last looked at.
    pub holder: Option<String>,
    /// Until when its time is in `holders`.
    pub since: Instant,
    /// The nanoseconds for which each thread had the lock.
    pub holders: Vec<(Option<String>, u64)>,
}

impl Park {
    /// Another thread has the lock from now on.
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

    /// The whole wait until then, by who had the lock; the one who had it longest first.
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

/// Events that wait to be read.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub events: VecDeque<Event>,
    /// Their frames, and they themselves.
    length: usize,
    /// Events for which there was no room.
    pub lost: u64,
    /// Sampled objects that got no tag.
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

    /// The first `most` events, and what was lost so far.
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

/// What a thread did.
#[derive(Debug)]
pub(crate) struct Event {
    pub kind: Kind,
    /// When it came, in the time of [`Collections`].
    pub at: u64,
    /// The name of the thread.
    pub thread: String,
    /// The signature of the class that it concerns (JVM TI, GetClassSignature).
    pub class: Vec<u8>,
    /// The innermost frames of the thread, the innermost first.
    pub frames: Vec<StackFrame>,
}

/// A thread that has a monitor, and its innermost frame.
#[derive(Debug, Clone)]
pub(crate) struct Holder {
    pub thread: String,
    pub at: Option<StackFrame>,
}

/// What an event is.
#[derive(Debug)]
pub(crate) enum Kind {
    /// An object of so many bytes, with its tag if it has one.
    Allocated { size: u64, tag: Option<i64> },
    /// It is caught there.
    Threw { caught: Option<StackFrame> },
    /// It was caught there.
    Caught { at: Option<StackFrame> },
    /// A monitor was entered after so many nanoseconds, which this thread had when the wait began.
    Entered(u64, Option<Holder>),
    /// `Object.wait` took so many nanoseconds.
    Waited(u64),
    /// A thread was parked for so many nanoseconds while a thread of that name had the lock. The first part of a wait
    /// counts it, and has the nanoseconds of the whole.
    Unparked {
        nanos: u64,
        holder: Option<String>,
        whole: Option<u64>,
    },
    /// The thread has started.
    ThreadStarted { is_virtual: bool },
    /// The thread ends.
    ThreadEnded { is_virtual: bool },
    /// A class is prepared.
    ClassPrepared,
    /// Machine code of a method is there.
    CodeMade { method: MethodId, bytes: u64 },
    /// It is gone.
    CodeGone { method: MethodId },
    /// A native method is bound.
    NativeBound { method: MethodId },
    /// The JVM has no memory or thread to give.
    Exhausted { flags: u64, text: String },
    /// A class is unloaded.
    ClassUnloaded { class: String },
    /// Somebody asks to write what there is.
    DumpAsked,
}

#[derive(Debug, Default)]
struct State {
    stop: bool,
    /// The JVM ends.
    dying: bool,
    /// What became of the file.
    ended: Option<Result<(), String>>,
}

impl Observation {
    /// Nobody listens; `prepared` are environments that were equipped before the live phase.
    pub fn new(prepared: Vec<(Listener, Jvmti)>) -> Self {
        Self {
            running: RwLock::default(),
            prepared: Mutex::new(prepared),
            holder: Mutex::default(),
            exhausted: Mutex::default(),
            recordings: AtomicU64::new(0),
            listeners: AtomicU64::new(0),
            collections: Collections::new(),
        }
    }

    /// The environment that was equipped for it before the live phase, once.
    pub fn take_prepared(&self, listener: Listener) -> Option<Jvmti> {
        let mut prepared = lock(&self.prepared);
        let at = prepared.iter().position(|(of, _)| *of == listener)?;
        Some(prepared.swap_remove(at).1)
    }

    /// The JVM has no memory or thread to give; whether that was not so in this time before.
    pub fn is_first_exhaustion_in(&self, time: Duration) -> bool {
        let last = lock(&self.exhausted).replace(Instant::now());
        last.is_none_or(|last| last.elapsed() >= time)
    }

    /// All that listen.
    pub fn all(&self) -> Vec<Arc<Running>> {
        self.read(|running| running.to_vec())
    }

    /// The recording that is under way.
    pub fn recording(&self) -> Option<Arc<Running>> {
        self.find(|running| running.listener == Listener::Recording)
    }

    /// Whose environment this is.
    pub fn of(&self, jvmti: Jvmti) -> Option<Arc<Running>> {
        self.find(|running| running.jvmti == jvmti)
    }

    fn find(&self, is_it: impl Fn(&Running) -> bool) -> Option<Arc<Running>> {
        self.read(|running| running.iter().find(|one| is_it(one)).cloned())
    }

    fn read<T>(&self, body: impl FnOnce(&[Arc<Running>]) -> T) -> T {
        body(&self.running.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The recording under way ends when this name is released; without one, when somebody ends it.
    pub fn set_holder(&self, holder: Option<String>) {
        *lock(&self.holder) = holder;
    }

    /// Checks whether the recording that began last ends with this name.
    pub fn is_held_by(&self, name: &str) -> bool {
        lock(&self.holder).as_deref() == Some(name)
    }

    /// One begins to listen.
    ///
    /// # Errors
    ///
    /// If it listens already, or another has allocations sampled at another interval, of which the JVM has one.
    pub fn begin(
        &self,
        listener: Listener,
        jvmti: Jvmti,
        wishes: Vec<Wish>,
        live: bool,
    ) -> Result<Arc<Running>, String> {
        let mut running = self.running.write().unwrap_or_else(PoisonError::into_inner);
        if running.iter().any(|other| other.listener == listener) {
            return Err("another recording is under way in this JVM".to_owned());
        }
        let sampled = |wishes: &[Wish]| sampled(wishes).map(|wish| wish.bytes);
        let mut others = running.iter().filter_map(|other| sampled(&other.wishes));
        if let (Some(bytes), Some(other)) = (sampled(&wishes), others.next())
            && bytes != other
        {
            return Err(format!(
                "allocations are sampled each {other} bytes for another recording or plugin already, and a JVM has one interval, not another of {bytes}"
            ));
        }
        let count = match listener {
            Listener::Recording => Some(&self.recordings),
            Listener::Plugin(_) => Some(&self.listeners),
            Listener::Waits(_) => None, // it has no file of its own
        };
        if let Some(count) = count {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let freed = wishes.iter().any(|wish| wish.group == Group::Frees);
        let freed = freed.then(Freed::new);
        let begun = Arc::new(Running {
            listener,
            jvmti,
            wishes,
            live,
            queue: Mutex::default(),
            waits: Mutex::default(),
            waiting: Mutex::default(),
            asked: Mutex::default(),
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
        running.push(Arc::clone(&begun));
        Ok(begun)
    }

    /// It listens no more.
    pub fn forget(&self, gone: &Running) {
        let mut running = self.running.write().unwrap_or_else(PoisonError::into_inner);
        running.retain(|one| one.listener != gone.listener);
    }
}

impl Running {
    /// Lets the thread that records read an event, if there is room.
    pub fn push(&self, event: Event) {
        lock(&self.queue).push(event);
    }

    /// What came since the last time, at most so many events.
    pub fn take(&self, most: usize) -> Queue {
        lock(&self.queue).take(most)
    }

    /// What it wants of a group, if it wants anything.
    pub fn wish(&self, group: Group) -> Option<&Wish> {
        self.wishes.iter().find(|wish| wish.group == group)
    }

    /// A tag for a sampled object; none if no more are followed.
    pub fn object_tag(&self) -> Option<i64> {
        let tag = self.objects.fetch_add(1, Ordering::Relaxed);
        if tag < FOLLOWED {
            return Some(tag);
        }
        lock(&self.queue).untracked += 1;
        None
    }

    /// A tag for a thread.
    pub fn thread_tag(&self) -> i64 {
        self.threads.fetch_add(1, Ordering::Relaxed)
    }

    /// A platform thread has started or ends.
    pub fn threads_change(&self) {
        self.thread_changes.fetch_add(1, Ordering::Release);
    }

    /// How often platform threads have started or ended so far.
    pub fn thread_changes(&self) -> u64 {
        self.thread_changes.load(Ordering::Acquire)
    }

    /// A tag for a monitor.
    pub fn monitor_tag(&self) -> i64 {
        self.monitors.fetch_add(1, Ordering::Relaxed)
    }

    /// The objects that are gone, if that is wanted.
    pub fn freed(&self) -> Option<&Freed> {
        self.freed.as_ref()
    }

    /// The thread with a tag begins to wait.
    pub fn wait_begins(&self, thread: i64, wait: Wait) {
        lock(&self.waits).insert(thread, wait);
    }

    /// The waits that have not ended, by the tags of the threads.
    pub fn waits(&self) -> HashMap<i64, Wait> {
        lock(&self.waits).clone()
    }

    /// Ends a wait: its nanoseconds and the holder of the monitor; none if it began before the recording.
    pub fn wait_ends(&self, thread: i64) -> Option<(u64, Option<Holder>)> {
        let wait = lock(&self.waits).remove(&thread)?;
        let nanos = u64::try_from(wait.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Some((nanos, wait.holder))
    }

    /// Says whether the JVM may be asked once more who has a monitor: it stops the program for that.
    pub fn may_ask_for_holder(&self) -> bool {
        let mut asked = lock(&self.asked);
        let now = Instant::now();
        if asked
            .0
            .is_none_or(|since| now.duration_since(since) >= SECOND)
        {
            *asked = (Some(now), 0);
        }
        asked.1 += 1;
        asked.1 <= ASKED_IN_SECOND
    }

    /// A thread with open calls begins to wait for a monitor.
    pub fn waiting_begins(&self, waiting: Waiting) -> Option<Waiting> {
        lock(&self.waiting).insert(waiting.thread.0, waiting)
    }

    /// The thread with this id waits no longer.
    pub fn waiting_ends(&self, thread: u64) -> Option<Waiting> {
        lock(&self.waiting).remove(&thread)
    }

    /// The threads with open calls that wait for monitors.
    pub fn all_waiting(&self) -> Vec<Waiting> {
        lock(&self.waiting).values().cloned().collect()
    }

    /// The thread of that name has the monitor for which the thread with this id waits.
    pub fn set_monitor_holder(&self, thread: u64, holder: String) {
        if let Some(waiting) = lock(&self.waiting).get_mut(&thread) {
            waiting.holder = Some(holder);
        }
    }

    /// The fields with the locks of parked threads, if these are recorded.
    pub fn lock_fields(&self) -> Option<&LockFields> {
        self.lock_fields.get()
    }

    /// Starts to record waits for locks, if the fields are known.
    pub fn set_lock_fields(&self, fields: Option<LockFields>) {
        if let Some(fields) = fields {
            let _ = self.lock_fields.set(fields);
        }
    }

    /// Keeps the number of strong global references of JNI at the begin.
    pub fn note_references(&self, count: Option<u64>) {
        if let Some(count) = count {
            let _ = self.references_before.set(count);
        }
    }

    /// Returns the number of strong global references of JNI at the begin.
    pub fn references_before(&self) -> Option<u64> {
        self.references_before.get().copied()
    }

    /// Keeps the environment after the end, as a thread may still use it.
    pub fn keep_environment(&self) {
        self.keeps_environment.store(true, Ordering::Release);
    }

    /// Gives the environment back, unless a thread may still use it.
    pub fn dispose(&self) {
        if !self.keeps_environment.load(Ordering::Acquire) {
            self.jvmti.dispose();
        }
    }

    /// The thread with a tag is parked.
    pub fn park_begins(&self, thread: i64, park: Park) {
        lock(&self.parks).insert(thread, park);
    }

    /// The thread with a tag is parked no longer.
    pub fn park_ends(&self, thread: i64) -> Option<Park> {
        lock(&self.parks).remove(&thread)
    }

    /// The object for which the thread with a tag waits, and whether the thread is virtual.
    pub fn park_of(&self, thread: i64) -> Option<(Arc<GlobalRef>, bool)> {
        let parks = lock(&self.parks);
        let park = parks.get(&thread)?;
        Some((Arc::clone(&park.blocker), park.is_virtual))
    }

    /// The tags of parked threads with the objects for which they wait, and whether they are virtual.
    pub fn parked(&self) -> Vec<(i64, Arc<GlobalRef>, bool)> {
        let parks = lock(&self.parks);
        let parks = parks.iter();
        parks
            .map(|(tag, park)| (*tag, Arc::clone(&park.blocker), park.is_virtual))
            .collect()
    }

    /// The thread of that name has the lock for which the thread with a tag waits.
    pub fn account_park(&self, thread: i64, holder: Option<String>, now: Instant) {
        if let Some(park) = lock(&self.parks).get_mut(&thread) {
            park.account(holder, now);
        }
    }

    /// Whether it ends with the JVM, whose collector may have stopped already.
    pub fn is_dying(&self) -> bool {
        lock(&self.state).dying
    }

    /// Waits until then, or until the recording is to end: true then.
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

    /// The thread that recorded is done.
    pub fn ended(&self, outcome: Result<(), String>) {
        lock(&self.state).ended = Some(outcome);
        self.changed.notify_all();
    }

    /// Ends the recording, and waits until its file is complete; why it is not, else.
    pub fn stop(&self, dying: bool) -> Result<(), String> {
        let mut state = lock(&self.state);
        (state.stop, state.dying) = (true, dying);
        self.changed.notify_all();
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(outcome) = &state.ended {
                return outcome.clone();
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err("the thread that records does not answer".to_owned());
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// The wish for which allocations are sampled.
pub(crate) fn sampled(wishes: &[Wish]) -> Option<&Wish> {
    let groups = [Group::Allocations, Group::Frees];
    wishes.iter().find(|wish| groups.contains(&wish.group))
}

/// How many sampled objects of each class are gone. An object's tag is the number of its class, so that an object that
/// is gone is counted without a call of the JVM, a lock or memory.
#[derive(Debug)]
pub(crate) struct Freed {
    /// The tags of classes, by their signatures.
    classes: Mutex<HashMap<Vec<u8>, usize>>,
    /// How many objects of each are gone; those of further classes are counted in the first.
    counts: Box<[AtomicU64]>,
}

impl Freed {
    fn new() -> Self {
        Self {
            classes: Mutex::default(),
            counts: (0..FREED).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// The tag for objects of a class.
    pub fn tag(&self, class: &[u8]) -> i64 {
        let mut classes = lock(&self.classes);
        let new = classes.len() + 2; // 0 is no tag, 1 that of all others
        let tag = match classes.get(class) {
            Some(known) => *known,
            None if new < FREED => {
                classes.insert(class.to_owned(), new);
                new
            }
            None => 1,
        };
        i64::try_from(tag).unwrap_or(1)
    }

    /// An object with this tag is gone.
    pub fn note(&self, tag: i64) {
        let count = usize::try_from(tag)
            .ok()
            .and_then(|tag| self.counts.get(tag));
        if let Some(count) = count {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many of each class have gone since the last time; the class is empty for those of further ones.
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

/// Begins and ends of garbage collections, written where nothing may be called or waited for.
#[derive(Debug)]
pub(crate) struct Collections {
    /// Time begins here.
    base: Instant,
    /// The begin of the current collection; 0 without one.
    begun: AtomicU64,
    ended: AtomicUsize,
    /// Begin and end of each, in nanoseconds.
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

    /// Nanoseconds since its time began.
    pub fn now(&self) -> u64 {
        u64::try_from(self.base.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// One begins or ends; the JVM says so on one thread, once for each environment.
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
            return; // another environment has told of its end, or none of its begin
        }
        let ended = self.ended.load(Ordering::Relaxed);
        let (start, end) = &self.times[ended % COLLECTIONS];
        start.store(begun, Ordering::Relaxed);
        end.store(now, Ordering::Relaxed);
        self.ended.store(ended + 1, Ordering::Release);
    }

    /// How many have ended.
    pub fn ended(&self) -> usize {
        self.ended.load(Ordering::Acquire)
    }

    /// Begin and end of those that ended since `read` had, and how many more were overwritten.
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
    fn queue_that_is_full_counts_what_it_does_not_take() {
        let mut queue = Queue::default();
        for _ in 0..=QUEUE {
            queue.push(Event {
                kind: Kind::Waited(1),
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
    fn objects_that_are_gone_are_counted_by_class_within_bounds() {
        let freed = Freed::new();
        let [a, b] = [b"La;", b"Lb;"].map(|class| freed.tag(class));
        assert_eq!(freed.tag(b"La;"), a);
        for _ in 0..3 {
            freed.note(a);
        }
        freed.note(b);
        for tag in [0, -1, FIRST_THREAD, i64::MAX] {
            freed.note(tag); // those of threads, and none
        }
        let mut gone = freed.take();
        gone.sort();
        assert_eq!(gone, [(b"La;".to_vec(), 3), (b"Lb;".to_vec(), 1)]);
        assert!(freed.take().is_empty());
        let last = (0..FREED)
            .map(|number| freed.tag(number.to_string().as_bytes()))
            .last();
        assert_eq!(last, Some(1));
        freed.note(1);
        assert_eq!(freed.take(), [(Vec::new(), 1)]);
    }

    /// Each environment that listens gets the events of one collection.
    #[test]
    fn collection_that_two_environments_report_is_one() {
        let collections = Collections::new();
        for begins in [true, true, false, false, false] {
            collections.note(begins);
        }
        assert_eq!(collections.since(0).0.len(), 1);
    }

    #[test]
    fn collections_are_read_once_and_those_overwritten_are_counted() {
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
