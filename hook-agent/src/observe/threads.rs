//! Looks at the threads that use CPU time.

use super::identity::{is_ours, thread_tag};
use super::status::{Status, StatusField};
use super::tasks::comm;
use crate::agent::observation::Running;
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::{StackFrame, VirtualThreadOf};
use crate::ffi::refs::{GlobalRef, LocalRef};
use observations::Group;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// Threads for which there is room among the local references of one look.
const CAPACITY: i32 = 4096;

/// Of so many looks at a thread that waits, one asks for its CPU time, which costs a call of the system; what it used
/// counts where it is seen running next, so that nothing is lost by that but with a thread that ends meanwhile.
const ASLEEP: u64 = 10;
/// A thread in native code that used no CPU time between so many looks waits there, as one that waits for a request does,
/// though the JVM says that it runs.
const QUIET: u64 = 3;
/// `JVMTI_THREAD_STATE_RUNNABLE` and `JVMTI_THREAD_STATE_IN_NATIVE`.
const RUNNABLE: u32 = 0x4;
const IN_NATIVE: u32 = 0x40_0000;

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

/// The class of threads that carry virtual ones: no other is asked which it carries, as the JVM keeps all virtual threads
/// from moving for each answer.
const CARRIER: &[u8] = b"Ljdk/internal/misc/CarrierThread;";

/// The threads that were seen.
#[derive(Debug)]
pub(super) struct Threads {
    interval: Option<Duration>,
    due: Instant,
    known: Vec<Thread>,
    /// How often threads had started or ended when these were asked for.
    changes: u64,
    looks: u64,
    last: Instant,
    virtual_thread: Option<VirtualThreadOf>,
    status: Option<StatusField>,
    /// Most stacks that are taken at one look, of the threads that used most since theirs was: as many as can run at a time.
    most: usize,
    /// CPU time of all threads for which no stack has been taken: each takes an interval of it.
    credit_ns: u64,
}

#[derive(Debug)]
struct Thread {
    tag: i64,
    thread: GlobalRef,
    /// Its state as Java keeps it, if that is known where.
    status: Option<Status>,
    /// Its name; none for one of the agent, and one that is not wanted.
    name: Option<String>,
    cpu_ns: u64,
    /// What it used since its stack was taken.
    unseen_ns: u64,
    /// How many times in a row it had used nothing.
    quiet: u64,
    /// Whether its stack was taken.
    was_seen: bool,
    /// Whether it may carry a virtual thread: the JVM has such a carrier wait, whatever its virtual thread does.
    is_carrier: bool,
}

impl Threads {
    pub fn new(jvm: Jvm<'_>, running: &Running) -> Self {
        Self {
            interval: running.wish(Group::Samples).map(|wish| wish.interval),
            due: Instant::now(),
            known: Vec::new(),
            changes: 0,
            looks: 0,
            last: Instant::now(),
            virtual_thread: jvm.jvmti.virtual_thread_of(jvm.live),
            status: StatusField::find(jvm),
            most: std::thread::available_parallelism().map_or(1, usize::from),
            credit_ns: 0,
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
        jvm.with_frame(CAPACITY, |jvm| {
            self.meet(jvm, running, sink);
            self.visit(jvm, running, sink);
        });
        self.last = now;
    }

    /// Asks which threads there are, if some have started or ended, and once in a while.
    fn meet(&mut self, jvm: Jvm<'_>, running: &Running, sink: &mut impl Sightings) {
        let changes = running.thread_changes();
        let is_due = self.looks == 1 || self.looks.is_multiple_of(ASLEEP);
        if changes == self.changes && !is_due {
            return;
        }
        let Ok(threads) = jvm.jvmti.all_threads(jvm.live, jvm.local) else {
            return;
        };
        self.changes = changes;
        let known = self.known.drain(..).map(|thread| (thread.tag, thread));
        let mut known: HashMap<i64, Thread> = known.collect();
        for thread in &threads {
            let Some(tag) = thread_tag(jvm, running, thread) else {
                continue;
            };
            let there = known.remove(&tag);
            let there = there.or_else(|| self.new_thread(jvm, (tag, thread), sink));
            self.known.extend(there);
        }
        known
            .into_values()
            .for_each(|thread| thread.leave(jvm, sink));
    }

    /// One that was not known; none if it has ended.
    fn new_thread(
        &self,
        jvm: Jvm<'_>,
        (tag, thread): (i64, &LocalRef<'_>),
        sink: &impl Sightings,
    ) -> Option<Thread> {
        let cpu_ns = jvm.jvmti.thread_cpu_time(jvm.live, thread).ok()?;
        let name = jvm.jvmti.thread_name(jvm.live, jvm.local, thread);
        let name = name.unwrap_or_default();
        // One that came since the last look used no more, whatever its native thread had used before it was Java's.
        let since = u64::try_from(self.last.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Some(Thread {
            tag,
            thread: jvm.local.globalize(thread)?,
            status: self.status.and_then(|field| field.of(jvm, thread)),
            name: Some(name).filter(|name| !is_ours(name) && sink.wants(name)),
            // What a thread used before the recording began is not of it.
            cpu_ns: match self.looks {
                1 => cpu_ns,
                _ => cpu_ns.saturating_sub(since),
            },
            unseen_ns: 0,
            quiet: 0,
            was_seen: false,
            is_carrier: self.virtual_thread.is_some() && is_carrier(jvm, thread),
        })
    }

    fn visit(&mut self, jvm: Jvm<'_>, running: &Running, sink: &mut impl Sightings) {
        let asks_all = self.looks.is_multiple_of(ASLEEP);
        // Those that used CPU time, by their places among those that are known.
        let mut active: Vec<usize> = Vec::new();
        for (at, known) in self.known.iter_mut().enumerate() {
            if let Some(used) = known.used(jvm, asks_all) {
                self.credit_ns += used;
                known.unseen_ns += used;
                active.push(at);
            }
        }
        active.sort_by_key(|at| std::cmp::Reverse(self.known[*at].unseen_ns));
        let mut taken = 0;
        for at in active {
            if taken == self.most {
                break;
            }
            let has_credit = self.credit_ns >= self.interval_ns();
            // One is taken if it is the first of a thread, or all threads have used an interval since the last.
            if self.known[at].was_seen && !has_credit {
                continue;
            }
            let within = self.known[at].carried(jvm, self.virtual_thread);
            if self.known[at].runs(jvm, within.as_ref(), self.most) {
                taken += 1;
                self.take_stack(jvm, running, (at, within), sink);
            }
        }
    }

    /// An interval of CPU time, in nanoseconds.
    fn interval_ns(&self) -> u64 {
        let interval = self.interval.unwrap_or_default().as_nanos();
        u64::try_from(interval).unwrap_or(u64::MAX)
    }

    /// Takes the stack of a thread, or of the virtual one that it carries.
    fn take_stack(
        &mut self,
        jvm: Jvm<'_>,
        running: &Running,
        (at, within): (usize, Option<LocalRef<'_>>),
        sink: &mut impl Sightings,
    ) {
        let Some(wish) = running.wish(Group::Samples) else {
            return;
        };
        let interval = self.interval_ns();
        let known = &mut self.known[at];
        let carrier = jvm.local.of_global(&known.thread);
        let shown = within.as_ref().unwrap_or(&carrier);
        // A thread that has ended meanwhile has no stack.
        let Ok(frames) = jvm.jvmti.stack(jvm.live, Some(shown), wish.frames) else {
            return;
        };
        // One that has only just started has none yet.
        if frames.is_empty() && !known.was_seen && known.unseen_ns < interval {
            return;
        }
        let name = match &within {
            None => known.name.clone(),
            Some(within) => jvm.jvmti.thread_name(jvm.live, jvm.local, within),
        };
        let nanos = std::mem::take(&mut known.unseen_ns);
        known.was_seen = true;
        // What more was used than stacks can be taken for is not caught up with.
        let most = interval.saturating_mul(self.most as u64);
        self.credit_ns = self.credit_ns.min(most).saturating_sub(interval);
        sink.seen(jvm, &name.unwrap_or_default(), &frames, nanos);
    }

    /// The names of threads of Java, as Linux keeps them.
    pub fn names(&self) -> HashSet<String> {
        let names = self
            .known
            .iter()
            .filter_map(|thread| thread.name.as_deref());
        names.map(comm).collect()
    }

    /// Looks once more, and tells what threads used that were not seen running since.
    pub fn finish(&mut self, jvm: Jvm<'_>, running: &Running, sink: &mut impl Sightings) {
        if self.interval.is_some() {
            self.looks = (self.looks / ASLEEP + 1) * ASLEEP; // asks those that wait, too
            jvm.with_frame(CAPACITY, |jvm| {
                self.meet(jvm, running, sink);
                self.visit(jvm, running, sink);
            });
        }
        self.known
            .drain(..)
            .for_each(|thread| thread.leave(jvm, sink));
    }
}

impl Thread {
    /// The CPU time that it used since the last look; none if it used none, waits, or is not asked.
    fn used(&mut self, jvm: Jvm<'_>, asks_all: bool) -> Option<u64> {
        self.name.as_ref()?;
        if !asks_all && !self.is_carrier && self.waits(jvm) {
            return None;
        }
        let used = self.used_since_asked(jvm)?;
        if used == 0 {
            self.quiet += 1;
            return None;
        }
        self.quiet = 0;
        Some(used)
    }

    /// Whether it waits, also in native code, as far as that is known.
    fn waits(&self, jvm: Jvm<'_>) -> bool {
        match self.is_runnable(jvm) {
            // What Java keeps costs next to nothing, but does not tell native code.
            Some(false) => true,
            Some(true) if self.quiet < QUIET => false,
            _ => {
                let state = state(jvm, &jvm.local.of_global(&self.thread));
                state & RUNNABLE == 0 || (state & IN_NATIVE != 0 && self.quiet >= QUIET)
            }
        }
    }

    /// Whether its own object says that it runs; none if it is not known where.
    fn is_runnable(&self, jvm: Jvm<'_>) -> Option<bool> {
        let kept = self.status.as_ref()?.read(jvm);
        Some(kept & RUNNABLE != 0)
    }

    /// Whether it, or the virtual thread that it carries, runs at this moment, and does not wait: what it used before it
    /// began to wait was used elsewhere than where it waits.
    fn runs(&mut self, jvm: Jvm<'_>, within: Option<&LocalRef<'_>>, processors: usize) -> bool {
        if within.is_none() && self.is_runnable(jvm) == Some(false) {
            return false;
        }
        let state = match within {
            Some(within) => state(jvm, within),
            None => state(jvm, &jvm.local.of_global(&self.thread)),
        };
        // Where there is one processor, nothing runs beside this thread.
        state & RUNNABLE != 0 && (state & IN_NATIVE == 0 || processors == 1 || self.goes_on(jvm))
    }

    /// The CPU time that it used since it was asked for that; none if it has ended.
    fn used_since_asked(&mut self, jvm: Jvm<'_>) -> Option<u64> {
        let thread = jvm.local.of_global(&self.thread);
        let cpu_ns = jvm.jvmti.thread_cpu_time(jvm.live, &thread).ok()?;
        Some(cpu_ns.saturating_sub(std::mem::replace(&mut self.cpu_ns, cpu_ns)))
    }

    /// Whether it uses CPU time at this moment: of one in native code the JVM does not know whether it waits there.
    fn goes_on(&mut self, jvm: Jvm<'_>) -> bool {
        let used = self.used_since_asked(jvm).unwrap_or(0);
        self.unseen_ns += used;
        used > 0
    }

    /// The virtual thread that it carries.
    fn carried<'a>(&self, jvm: Jvm<'a>, function: Option<VirtualThreadOf>) -> Option<LocalRef<'a>> {
        let function = function.filter(|_| self.is_carrier)?;
        let carrier = jvm.local.of_global(&self.thread);
        jvm.jvmti
            .virtual_thread(jvm.live, jvm.local, function, &carrier)
    }

    /// It is not there any more.
    fn leave(self, jvm: Jvm<'_>, sink: &mut impl Sightings) {
        if let Some(name) = self.name.filter(|_| self.unseen_ns > 0) {
            sink.unseen(&name, self.unseen_ns);
        }
        jvm.local.release(self.thread);
        if let Some(status) = self.status {
            status.release(jvm);
        }
    }
}

/// Checks whether a thread may carry virtual ones.
pub(super) fn is_carrier(jvm: Jvm<'_>, thread: &LocalRef<'_>) -> bool {
    let class = jvm.local.object_class(thread);
    let signature = class.and_then(|class| jvm.jvmti.class_signature(&class).ok());
    signature.is_some_and(|signature| signature == CARRIER)
}

/// The state of a thread (JVM TI, GetThreadState); 0, as that of one that has not started, if the JVM does not tell it.
fn state(jvm: Jvm<'_>, thread: &LocalRef<'_>) -> u32 {
    jvm.jvmti.thread_state(jvm.live, thread).unwrap_or(0)
}
