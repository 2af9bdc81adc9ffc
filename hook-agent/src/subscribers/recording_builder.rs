//! Adds events to the recording.

use super::cpu_sampler::SampleSink;
use super::inbox::{EventSink, Inbox};
use super::jvm_description;
use super::methods::{Methods, place};
use super::native_threads::NativeThreads;
use super::unfinished_waits;
use super::wall_round::WallRound;
use crate::agent::Agent;
use crate::agent::references::CreatedReference;
use crate::agent::subscribers::{Event, EventData, MonitorHolder, Subscriber, WaitKind};
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::StackFrame;
use crate::names::class_name;
use jvm_events::recorded::{Collection, Deadlock, MomentKind, OtherReferences, Stuck};
use jvm_events::recorder::{Origin, Owner, Recorder};
use jvm_events::{Recorded, Subscription};
use std::collections::{HashMap, HashSet};
use std::time::Instant;

/// The thread name for threads without a name, which most virtual threads are.
const UNNAMED: &str = "(threads without a name)";

/// The recording and its caches.
pub(super) struct RecordingBuilder {
    recorder: Recorder,
    methods: Methods,
    /// The numbers of classes, by their signatures.
    classes: HashMap<Vec<u8>, u32>,
    /// The rows of sampled objects by their tags, which count from 1.
    objects: Vec<Option<u32>>,
    /// For each handler of an exception, by its frame: true if it ignores the exception.
    swallowing: HashMap<(u64, i64), bool>,
    inbox: Inbox,
}

impl RecordingBuilder {
    pub fn new(agent: &'static Agent, subscription: Subscription) -> Self {
        let start = jvm_description::now_ms();
        Self {
            recorder: Recorder::new(jvm_description::jvm_of(agent), subscription, start),
            methods: Methods::default(),
            classes: HashMap::new(),
            objects: Vec::new(),
            swallowing: HashMap::new(),
            inbox: Inbox::new(agent),
        }
    }

    /// The recording up to now, which took `elapsed` nanoseconds.
    pub fn recorded(&mut self, elapsed: u64, complete: bool) -> &Recorded {
        self.recorder.recorded(elapsed, complete)
    }

    /// The number of a thread.
    fn thread(&mut self, name: &str) -> u32 {
        let name = if name.is_empty() { UNNAMED } else { name };
        self.recorder.thread(name)
    }

    /// The number of a class.
    fn class(&mut self, signature: &[u8]) -> u32 {
        if let Some(known) = self.classes.get(signature) {
            return *known;
        }
        let number = self.recorder.class(&class_name(signature));
        self.classes.insert(signature.to_owned(), number);
        number
    }

    /// The node of a thread's stack.
    fn node(&mut self, jvm: Jvm<'_>, thread: u32, frames: &[StackFrame]) -> Option<u32> {
        let methods = &mut self.methods;
        let places: Vec<(u64, i64)> = frames.iter().map(place).collect();
        self.recorder.stack(thread, &places, |wanted| {
            let frame = frames.iter().find(|frame| place(frame) == wanted);
            frame.map_or_else(Default::default, |frame| methods.frame(jvm, *frame))
        })
    }

    /// The origin of an event: thread, class and stack.
    fn origin(
        &mut self,
        jvm: Jvm<'_>,
        thread: &str,
        class: &[u8],
        frames: &[StackFrame],
    ) -> Origin {
        let thread = self.thread(thread);
        Origin {
            thread,
            class: self.class(class),
            node: self.node(jvm, thread, frames),
        }
    }

    fn frame(&mut self, jvm: Jvm<'_>, frame: StackFrame) -> u32 {
        let methods = &mut self.methods;
        self.recorder
            .frame(place(&frame), || methods.frame(jvm, frame))
    }

    /// Checks whether the handler at a frame never uses the exception.
    fn swallows(&mut self, jvm: Jvm<'_>, handler: StackFrame) -> bool {
        *self.swallowing.entry(place(&handler)).or_insert_with(|| {
            let code = jvm.jvmti.bytecodes(handler.method).unwrap_or_default();
            let at = usize::try_from(handler.location).unwrap_or(usize::MAX);
            jvm_events::handlers::swallows(&code, at)
        })
    }

    /// Adds the waits that have not ended at the end of the recording, and the deadlocks among them.
    pub fn add_unfinished(&mut self, jvm: Jvm<'_>, subscriber: &Subscriber) {
        let (end, now) = (Instant::now(), self.inbox.elapsed());
        let unfinished = unfinished_waits::find(jvm, subscriber);
        self.recorder.lose(unfinished.left_out, 0);
        for one in unfinished.waits {
            let origin = self.origin(jvm, &one.thread, &one.class, &one.frames);
            let nanos = end.saturating_duration_since(one.wait.begun).as_nanos();
            let nanos = u64::try_from(nanos).unwrap_or(u64::MAX);
            let what = match one.wait.kind {
                WaitKind::ToEnter => {
                    let owner = self.owner(jvm, one.wait.holder);
                    self.recorder.unfinished_contended(origin, owner, nanos);
                    MomentKind::UnfinishedContended
                }
                WaitKind::ObjectWait => {
                    self.recorder.unfinished_wait(origin, nanos);
                    MomentKind::UnfinishedWait
                }
            };
            self.recorder.moment(what, now, nanos, origin);
        }
        for circle in unfinished.deadlocks {
            let stuck = circle.into_iter().map(|one| {
                let origin = self.origin(jvm, &one.thread, &one.class, &one.frames);
                Stuck {
                    thread: origin.thread,
                    class: origin.class,
                    node: origin.node,
                    is_lock: false,
                }
            });
            let threads = stuck.collect();
            self.recorder.deadlock(Deadlock { threads });
        }
    }

    /// The thread that holds a monitor, as an owner in the recording.
    fn owner(&mut self, jvm: Jvm<'_>, holder: Option<MonitorHolder>) -> Option<Owner> {
        let holder = holder?;
        Some(Owner {
            thread: self.thread(&holder.thread),
            at: holder.at.map(|frame| self.frame(jvm, frame)),
        })
    }

    /// Adds a wait for a lock, or its part in which one thread held the lock.
    fn parked(
        &mut self,
        origin: Origin,
        holder: Option<String>,
        nanos: u64,
        (is_first, is_unfinished): (bool, bool),
    ) {
        let holder = holder.map(|holder| self.thread(&holder));
        let count = u64::from(is_first);
        let unfinished = u64::from(is_first && is_unfinished);
        self.recorder
            .parked(origin, holder, nanos, (count, unfinished));
    }

    /// Adds the waits for locks that have not ended at the end of the recording.
    pub fn add_parked(&mut self, jvm: Jvm<'_>, events: Vec<Event>) {
        for event in events {
            let origin = self.origin(jvm, &event.thread, &event.class, &event.frames);
            let EventData::Unparked {
                nanos,
                holder,
                whole,
            } = event.data
            else {
                continue;
            };
            self.parked(origin, holder, nanos, (whole.is_some(), true));
            if let Some(whole) = whole {
                let now = self.inbox.elapsed();
                self.recorder
                    .moment(MomentKind::UnfinishedLock, now, whole, origin);
            }
        }
    }

    /// Adds one set of wall-clock samples.
    pub fn wall(&mut self, jvm: Jvm<'_>, round: WallRound) {
        self.recorder
            .wall_look(round.samples.len(), round.threads, round.carriers);
        let now = self.inbox.elapsed();
        for (sample, nanos) in round.samples {
            let thread = self.thread(&sample.thread);
            let node = self.node(jvm, thread, &sample.frames);
            self.recorder.wall(thread, node, sample.state, nanos);
            let origin = Origin {
                thread,
                class: 0,
                node,
            };
            let what = MomentKind::Wall(sample.state);
            self.recorder.moment(what, now, nanos, origin);
        }
    }

    /// Adds a global reference of JNI, and returns the number of its row.
    pub fn reference(&mut self, jvm: Jvm<'_>, created: &CreatedReference) -> Option<u32> {
        let origin = self.origin(jvm, &created.thread, &created.class, &created.frames);
        self.recorder.reference(origin, created.handle.is_weak)
    }

    /// Sets the number of open references of each row.
    pub fn open_references(&mut self, open: &HashMap<u32, u64>, other: OtherReferences, lost: u64) {
        self.recorder.open_references(open, other, lost);
    }

    /// Adds the CPU time of threads since their last samples to these samples, at the end of the recording.
    pub fn share_unseen(&mut self) {
        self.recorder.share_unseen();
    }

    /// Adds the CPU time of threads without Java code since the last call, and that of the process so far.
    pub fn add_system(&mut self, tasks: &mut NativeThreads, of_java: &HashSet<String>) {
        for used in tasks.take_usage(of_java) {
            self.recorder.system(&used.name, used.work, used.cpu_ns);
        }
        self.recorder.process(tasks.process());
    }

    /// Adds the CPU time of the process that no other row includes, at the end of the recording.
    pub fn add_rest_of_process(&mut self) {
        self.recorder.add_rest_of_process();
    }

    /// Marks the sampled objects that are alive, if the option is set.
    pub fn count_live(&mut self, jvm: Jvm<'_>, subscriber: &Subscriber) {
        if !subscriber.live {
            return;
        }
        let jvmti = subscriber.jvmti;
        // When the JVM ends, concurrent collectors (ZGC) have stopped already, and a collection would never end.
        let objects = match subscriber.is_dying() {
            true => jvmti.reachable_tagged_objects(jvm.live),
            false => jvmti
                .collect_garbage(jvm.live)
                .and_then(|()| jvmti.tagged_objects(jvm.live)),
        };
        let Ok(objects) = objects else {
            return self.recorder.lose(0, self.objects.len() as u64);
        };
        for (tag, size) in objects {
            let row = usize::try_from(tag).ok();
            let row = row.and_then(|at| self.objects.get(at).copied().flatten());
            if let Some(row) = row {
                self.recorder.live(row, size);
            }
        }
    }
}

impl SampleSink for RecordingBuilder {
    fn wants(&self, _: &str) -> bool {
        true
    }

    fn turn(&mut self, late: u64) {
        self.recorder.turn(late);
    }

    fn seen(&mut self, jvm: Jvm<'_>, thread: &str, frames: &[StackFrame], nanos: u64) {
        let thread = self.thread(thread);
        let node = self.node(jvm, thread, frames);
        self.recorder.cpu(thread, node, nanos);
        let origin = Origin {
            thread,
            class: 0,
            node,
        };
        let now = self.inbox.elapsed();
        self.recorder.moment(MomentKind::Cpu, now, nanos, origin);
    }

    fn unseen(&mut self, thread: &str, nanos: u64) {
        let thread = self.thread(thread);
        self.recorder.unseen(thread, nanos);
    }
}

impl EventSink for RecordingBuilder {
    fn event(&mut self, jvm: Jvm<'_>, event: Event) {
        let origin = self.origin(jvm, &event.thread, &event.class, &event.frames);
        let at = self.inbox.since_begin(event.at);
        let (what, amount) = match event.data {
            EventData::SampledObjectAlloc { size, tag } => {
                let row = self.recorder.allocation(origin, size);
                if let Some(at) = tag.and_then(|tag| usize::try_from(tag).ok()) {
                    self.objects.resize(self.objects.len().max(at + 1), None);
                    self.objects[at] = row;
                }
                (MomentKind::Allocation, size)
            }
            EventData::Exception { caught } => {
                let swallowed = caught.is_some_and(|handler| self.swallows(jvm, handler));
                let caught = caught.map(|frame| self.frame(jvm, frame));
                self.recorder.exception(origin, caught, swallowed);
                (MomentKind::Exception, 0)
            }
            EventData::MonitorEntered(nanos, holder) => {
                let owner = self.owner(jvm, holder);
                self.recorder.contended(origin, owner, nanos);
                (MomentKind::Contended, nanos)
            }
            EventData::MonitorWaited(nanos) => {
                self.recorder.waited(origin, nanos);
                (MomentKind::Wait, nanos)
            }
            EventData::Unparked {
                nanos,
                holder,
                whole,
            } => {
                self.parked(origin, holder, nanos, (whole.is_some(), false));
                match whole {
                    Some(whole) => (MomentKind::Lock, whole),
                    None => return,
                }
            }
            // Events for plugins only: no recording subscribes to them.
            EventData::ThreadStart { .. }
            | EventData::ThreadEnd { .. }
            | EventData::ClassPrepare
            | EventData::NativeMethodBind { .. }
            | EventData::ExceptionCatch { .. }
            | EventData::Vm(_) => return,
        };
        self.recorder.moment(what, at, amount, origin);
    }

    fn collections(&mut self, collections: Vec<Collection>, after: Option<(u64, u64)>) {
        for collection in collections {
            self.recorder.collection(collection);
        }
        if let Some((used, heap)) = after {
            self.recorder.heap_after(used, heap);
        }
    }

    fn lost(&mut self, events: u64, untracked: u64) {
        self.recorder.lose(events, untracked);
    }
}
