//! Looks at the threads that use CPU time.

use super::identity::{is_ours, thread_tag};
use crate::agent::observation::Running;
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::{StackFrame, VirtualThreadOf};
use crate::ffi::refs::LocalRef;
use observations::Group;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Threads for which there is room among the local references of one look.
const CAPACITY: i32 = 4096;

/// Of so many looks at a thread that waits, one asks for its CPU time, which costs two calls of the system; what it used
/// counts where it is seen running next, so that nothing is lost by that but with a thread that ends meanwhile.
const ASLEEP: u64 = 10;

/// Takes what is seen of threads.
pub(super) trait Sightings {
    /// Whether a thread of this name is looked at.
    fn wants(&self, thread: &str) -> bool;
    /// The threads are looked at; so many looks before were left out, as it was too late for them.
    fn turn(&mut self, late: u64);
    /// A thread is seen, which has used CPU time.
    fn seen(&mut self, jvm: Jvm<'_>, thread: &str, frames: &[StackFrame], nanos: u64);
    /// A thread used CPU time, and was not seen running.
    fn unseen(&mut self, thread: &str, nanos: u64);
}

/// A thread that has used CPU time, and runs.
struct Seen<'a> {
    tag: i64,
    /// What it used since its stack was taken.
    nanos: u64,
    thread: &'a LocalRef<'a>,
    /// The virtual thread that it carries.
    within: Option<LocalRef<'a>>,
}

/// The threads that were seen.
#[derive(Debug)]
pub(super) struct Threads {
    interval: Option<Duration>,
    due: Instant,
    /// By their tags.
    known: HashMap<i64, Thread>,
    looks: u64,
    last: Instant,
    virtual_thread: Option<VirtualThreadOf>,
    /// Stacks that are taken at one look, of the threads that used most since theirs was: as many as can run at a time.
    most: usize,
}

#[derive(Debug)]
struct Thread {
    /// Its name; none for one of the agent, and one that is not wanted.
    name: Option<String>,
    cpu_ns: u64,
    /// What it used while it was not seen running.
    unseen_ns: u64,
    /// The last look at which it was there.
    look: u64,
    /// Whether it was seen with a virtual thread: the JVM has such a carrier wait, whatever its virtual thread does.
    is_carrier: bool,
}

impl Threads {
    pub fn new(jvm: Jvm<'_>, running: &Running) -> Self {
        Self {
            interval: running.wish(Group::Samples).map(|wish| wish.interval),
            due: Instant::now(),
            known: HashMap::new(),
            looks: 0,
            last: Instant::now(),
            virtual_thread: jvm.jvmti.virtual_thread_of(jvm.live),
            most: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }

    /// When they are to be looked at next.
    pub fn due(&self) -> Option<Instant> {
        self.interval.map(|_| self.due)
    }

    /// Looks at them, if it is time.
    pub fn look(&mut self, jvm: Jvm<'_>, running: &Running, sink: &mut impl Sightings) {
        let now = Instant::now();
        let Some(interval) = self.interval.filter(|_| self.due <= now) else {
            return;
        };
        let late = now.duration_since(self.due).as_nanos() / interval.as_nanos().max(1);
        let late = u32::try_from(late).unwrap_or(u32::MAX);
        self.due += interval * (late + 1);
        sink.turn(u64::from(late));
        self.looks += 1;
        jvm.with_frame(CAPACITY, |jvm| self.visit(jvm, running, sink));
        let look = self.looks;
        let gone = self.known.extract_if(|_, thread| thread.look != look);
        gone.for_each(|(_, thread)| thread.leave(sink));
        self.last = now;
    }

    fn visit(&mut self, jvm: Jvm<'_>, running: &Running, sink: &mut impl Sightings) {
        let Ok(threads) = jvm.jvmti.all_threads(jvm.live, jvm.local) else {
            return;
        };
        let mut seen: Vec<Seen<'_>> = Vec::new();
        for thread in &threads {
            let Some((tag, nanos)) = self.used(jvm, running, thread, sink) else {
                continue;
            };
            let function = self.virtual_thread;
            let within = function.and_then(|function| {
                jvm.jvmti
                    .virtual_thread(jvm.live, jvm.local, function, thread)
            });
            let Some(known) = self.known.get_mut(&tag) else {
                continue;
            };
            known.is_carrier |= within.is_some();
            // What it used before it began to wait was used elsewhere than where it waits.
            match jvm
                .jvmti
                .is_runnable(jvm.live, within.as_ref().unwrap_or(thread))
            {
                false => known.unseen_ns += nanos,
                true => seen.push(Seen {
                    tag,
                    nanos,
                    thread,
                    within,
                }),
            }
        }
        seen.sort_by_key(|one| std::cmp::Reverse(one.nanos));
        for (place, one) in seen.iter().enumerate() {
            match place < self.most {
                true => self.take_stack(jvm, running, one, sink),
                false => self.keep(one),
            }
        }
    }

    /// What a thread used counts with the next stack that is taken of it.
    fn keep(&mut self, one: &Seen<'_>) {
        if let Some(known) = self.known.get_mut(&one.tag) {
            known.unseen_ns += one.nanos;
        }
    }

    fn take_stack(
        &mut self,
        jvm: Jvm<'_>,
        running: &Running,
        one: &Seen<'_>,
        sink: &mut impl Sightings,
    ) {
        let depth = running.wish(Group::Samples).map_or(0, |wish| wish.frames);
        let shown = one.within.as_ref().unwrap_or(one.thread);
        // A thread that has ended meanwhile has no stack.
        let Ok(frames) = jvm.jvmti.stack(jvm.live, Some(shown), depth) else {
            return;
        };
        let name = match &one.within {
            None => self
                .known
                .get(&one.tag)
                .and_then(|known| known.name.clone()),
            Some(within) => jvm.jvmti.thread_name(jvm.live, jvm.local, within),
        };
        sink.seen(jvm, &name.unwrap_or_default(), &frames, one.nanos);
    }

    /// The tag of a thread and the CPU time that it used since the last look; none if it used none, or is not looked at.
    fn used(
        &mut self,
        jvm: Jvm<'_>,
        running: &Running,
        thread: &LocalRef<'_>,
        sink: &mut impl Sightings,
    ) -> Option<(i64, u64)> {
        let tag = thread_tag(jvm, running, thread)?;
        if self.sleeps(jvm, tag, thread) {
            return None;
        }
        let cpu_ns = jvm.jvmti.thread_cpu_time(jvm.live, thread).ok()?;
        let is_first = self.looks == 1;
        // One that came since used no more, whatever its native thread had used before it was Java's.
        let since = u64::try_from(self.last.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let known = self.known.entry(tag).or_insert_with(|| {
            let name = jvm.jvmti.thread_name(jvm.live, jvm.local, thread);
            let name = name.unwrap_or_default();
            Thread {
                name: Some(name).filter(|name| !is_ours(name) && sink.wants(name)),
                // What a thread used before the recording began is not of it.
                cpu_ns: if is_first {
                    cpu_ns
                } else {
                    cpu_ns.saturating_sub(since)
                },
                unseen_ns: 0,
                look: 0,
                is_carrier: false,
            }
        });
        known.look = self.looks;
        let used = cpu_ns.saturating_sub(std::mem::replace(&mut known.cpu_ns, cpu_ns));
        (used > 0 && known.name.is_some())
            .then(|| (tag, used + std::mem::take(&mut known.unseen_ns)))
    }

    /// Whether a thread waits, or is not looked at, and its CPU time is not asked for this time.
    fn sleeps(&mut self, jvm: Jvm<'_>, tag: i64, thread: &LocalRef<'_>) -> bool {
        let Some(known) = self.known.get_mut(&tag) else {
            return false;
        };
        known.look = self.looks;
        let is_due = known.is_carrier || self.looks.is_multiple_of(ASLEEP);
        known.name.is_none() || !(is_due || jvm.jvmti.is_runnable(jvm.live, thread))
    }

    /// Looks once more, and tells what threads used that were not seen running since.
    pub fn finish(&mut self, jvm: Jvm<'_>, running: &Running, sink: &mut impl Sightings) {
        if self.interval.is_some() {
            self.looks = (self.looks / ASLEEP + 1) * ASLEEP; // asks those that wait, too
            jvm.with_frame(CAPACITY, |jvm| self.visit(jvm, running, sink));
        }
        self.known
            .drain()
            .for_each(|(_, thread)| thread.leave(sink));
    }
}

impl Thread {
    /// It is not there any more.
    fn leave(self, sink: &mut impl Sightings) {
        if let Some(name) = self.name.filter(|_| self.unseen_ns > 0) {
            sink.unseen(&name, self.unseen_ns);
        }
    }
}
