//! CPU samples: stacks of the threads that use CPU time.

use super::identity::{is_agent_thread, thread_tag};
use super::native_threads::comm;
use super::thread_status::{ThreadStatus, ThreadStatusField};
use crate::agent::subscribers::Subscriber;
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::{StackFrame, VirtualThreadOf};
use crate::ffi::refs::{GlobalRef, LocalRef};
use jvm_events::EventKind;
use std::collections::{HashMap, HashSet};
use std::thread;
use std::time::{Duration, Instant};

/// Local references for the threads of one round.
const CAPACITY: i32 = 4096;

/// A waiting thread is queried for its CPU time in one of this many rounds, because the query is a system call. The
/// time counts where the thread is seen running next, so it is lost only if the thread ends before.
const ASLEEP: u64 = 10;
/// A thread in native code without CPU time in this many rounds counts as waiting, for example for a network request,
/// although the JVM reports it as runnable.
const QUIET: u64 = 3;
/// The time for which a thread in native code gets the only processor, to see whether it uses it.
const TURN: Duration = Duration::from_micros(100);
/// `JVMTI_THREAD_STATE_RUNNABLE` and `JVMTI_THREAD_STATE_IN_NATIVE`.
const RUNNABLE: u32 = 0x4;
const IN_NATIVE: u32 = 0x40_0000;

/// Receives samples of threads.
pub(super) trait SampleSink {
    /// Checks whether a thread of this name is sampled.
    fn wants(&self, thread: &str) -> bool;
    /// Begins a round. `late` rounds before were skipped because of a delay.
    fn turn(&mut self, late: u64);
    /// Receives the stack of a thread that has used CPU time.
    fn seen(&mut self, jvm: Jvm<'_>, thread: &str, frames: &[StackFrame], nanos: u64);
    /// Receives CPU time of a thread that was not seen running.
    fn unseen(&mut self, thread: &str, nanos: u64);
}

/// The class of carrier threads. No other thread is queried for its virtual thread, as each query keeps all virtual
/// threads from mounting and unmounting.
const CARRIER: &[u8] = b"Ljdk/internal/misc/CarrierThread;";

/// The sampled threads.
#[derive(Debug)]
pub(super) struct CpuSampler {
    interval: Option<Duration>,
    due: Instant,
    known: Vec<SampledThread>,
    /// The number of thread starts and ends at the last update of the list.
    changes: u64,
    rounds: u64,
    last: Instant,
    virtual_thread: Option<VirtualThreadOf>,
    status: Option<ThreadStatusField>,
    /// Largest number of stacks in one round, which is the number of processors. Threads with the most CPU time since
    /// their last stack are first.
    most: usize,
    /// CPU time of all threads for which no stack was taken. Each stack uses up one interval.
    credit_ns: u64,
}

#[derive(Debug)]
struct SampledThread {
    tag: i64,
    thread: GlobalRef,
    /// Its state in its Java object, if the field is known.
    status: Option<ThreadStatus>,
    /// Its name; `None` for threads of the agent and those that are not sampled.
    name: Option<String>,
    cpu_ns: u64,
    /// CPU time since its last stack.
    unseen_ns: u64,
    /// Number of consecutive rounds without CPU time.
    quiet: u64,
    /// True once its stack was taken.
    was_seen: bool,
    /// True if it may carry a virtual thread. The JVM reports such a carrier as waiting, whatever the virtual thread
    /// does.
    is_carrier: bool,
}

impl CpuSampler {
    pub fn new(jvm: Jvm<'_>, subscriber: &Subscriber) -> Self {
        Self {
            interval: subscriber
                .subscription(EventKind::Samples)
                .map(|subscription| subscription.interval),
            due: Instant::now(),
            known: Vec::new(),
            changes: 0,
            rounds: 0,
            last: Instant::now(),
            virtual_thread: jvm.jvmti.virtual_thread_of(jvm.live),
            status: ThreadStatusField::find(jvm),
            most: std::thread::available_parallelism().map_or(1, usize::from),
            credit_ns: 0,
        }
    }

    /// The time of the next round.
    pub fn due(&self) -> Option<Instant> {
        self.interval.map(|_| self.due)
    }

    /// Takes a round of samples, if it is time.
    pub fn sample_if_due(
        &mut self,
        jvm: Jvm<'_>,
        subscriber: &Subscriber,
        sink: &mut impl SampleSink,
    ) {
        let now = Instant::now();
        let Some(interval) = self.interval.filter(|_| self.due <= now) else {
            return;
        };
        let late = now.duration_since(self.due).as_nanos() / interval.as_nanos().max(1);
        let late = u32::try_from(late).unwrap_or(u32::MAX);
        self.due += interval * (late + 1);
        sink.turn(u64::from(late));
        self.rounds += 1;
        jvm.with_frame(CAPACITY, |jvm| {
            self.update_list(jvm, subscriber, sink);
            self.visit(jvm, subscriber, sink);
        });
        self.last = now;
    }

    /// Updates the list of threads, if some have started or ended, and once in a while.
    fn update_list(&mut self, jvm: Jvm<'_>, subscriber: &Subscriber, sink: &mut impl SampleSink) {
        let changes = subscriber.thread_changes();
        let is_due = self.rounds == 1 || self.rounds.is_multiple_of(ASLEEP);
        if changes == self.changes && !is_due {
            return;
        }
        let Ok(threads) = jvm.jvmti.all_threads(jvm.live, jvm.local) else {
            return;
        };
        self.changes = changes;
        let known = self.known.drain(..).map(|thread| (thread.tag, thread));
        let mut known: HashMap<i64, SampledThread> = known.collect();
        for thread in &threads {
            let Some(tag) = thread_tag(jvm, subscriber, thread) else {
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

    /// A new entry of the list. Returns `None` if the thread has ended.
    fn new_thread(
        &self,
        jvm: Jvm<'_>,
        (tag, thread): (i64, &LocalRef<'_>),
        sink: &impl SampleSink,
    ) -> Option<SampledThread> {
        let cpu_ns = jvm.jvmti.thread_cpu_time(jvm.live, thread).ok()?;
        let name = jvm.jvmti.thread_name(jvm.live, jvm.local, thread);
        let name = name.unwrap_or_default();
        // A thread that is new since the last round cannot have used more time than since then, even if its native
        // thread had used some before it was attached.
        let since = u64::try_from(self.last.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Some(SampledThread {
            tag,
            thread: jvm.local.globalize(thread)?,
            status: self.status.and_then(|field| field.of(jvm, thread)),
            name: Some(name).filter(|name| !is_agent_thread(name) && sink.wants(name)),
            // CPU time from before the recording does not count.
            cpu_ns: match self.rounds {
                1 => cpu_ns,
                _ => cpu_ns.saturating_sub(since),
            },
            unseen_ns: 0,
            quiet: 0,
            was_seen: false,
            is_carrier: self.virtual_thread.is_some() && is_carrier(jvm, thread),
        })
    }

    fn visit(&mut self, jvm: Jvm<'_>, subscriber: &Subscriber, sink: &mut impl SampleSink) {
        let includes_waiting = self.rounds.is_multiple_of(ASLEEP);
        // The indices in `known` of the threads that used CPU time.
        let mut active: Vec<usize> = Vec::new();
        for (at, known) in self.known.iter_mut().enumerate() {
            if let Some(used) = known.used(jvm, includes_waiting) {
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
            // A thread's first stack is always taken; later ones only after all threads together have used an interval.
            if self.known[at].was_seen && !has_credit {
                continue;
            }
            let within = self.known[at].carried(jvm, self.virtual_thread);
            if self.known[at].runs(jvm, within.as_ref(), self.most) {
                taken += 1;
                self.take_stack(jvm, subscriber, (at, within), sink);
            }
        }
    }

    /// The sampling interval of CPU time, in nanoseconds.
    fn interval_ns(&self) -> u64 {
        let interval = self.interval.unwrap_or_default().as_nanos();
        u64::try_from(interval).unwrap_or(u64::MAX)
    }

    /// Takes the stack of a thread, or of the virtual thread that it carries.
    fn take_stack(
        &mut self,
        jvm: Jvm<'_>,
        subscriber: &Subscriber,
        (at, within): (usize, Option<LocalRef<'_>>),
        sink: &mut impl SampleSink,
    ) {
        let Some(subscription) = subscriber.subscription(EventKind::Samples) else {
            return;
        };
        let interval = self.interval_ns();
        let known = &mut self.known[at];
        let carrier = jvm.local.of_global(&known.thread);
        let shown = within.as_ref().unwrap_or(&carrier);
        // A thread that has ended has no stack.
        let Ok(frames) = jvm.jvmti.stack(jvm.live, Some(shown), subscription.frames) else {
            return;
        };
        // The stack of a thread that has just started is empty.
        if frames.is_empty() && !known.was_seen && known.unseen_ns < interval {
            return;
        }
        let name = match &within {
            None => known.name.clone(),
            Some(within) => jvm.jvmti.thread_name(jvm.live, jvm.local, within),
        };
        let nanos = std::mem::take(&mut known.unseen_ns);
        known.was_seen = true;
        // CPU time beyond the largest number of stacks is not caught up.
        let most = interval.saturating_mul(self.most as u64);
        self.credit_ns = self.credit_ns.min(most).saturating_sub(interval);
        sink.seen(jvm, &name.unwrap_or_default(), &frames, nanos);
    }

    /// The names of Java threads, as Linux stores them.
    pub fn names(&self) -> HashSet<String> {
        let names = self
            .known
            .iter()
            .filter_map(|thread| thread.name.as_deref());
        names.map(comm).collect()
    }

    /// Takes the last round, and reports the CPU time of threads since their last stacks.
    pub fn finish(&mut self, jvm: Jvm<'_>, subscriber: &Subscriber, sink: &mut impl SampleSink) {
        if self.interval.is_some() {
            self.rounds = (self.rounds / ASLEEP + 1) * ASLEEP; // makes this a round for waiting threads, too
            jvm.with_frame(CAPACITY, |jvm| {
                self.update_list(jvm, subscriber, sink);
                self.visit(jvm, subscriber, sink);
            });
        }
        self.known
            .drain(..)
            .for_each(|thread| thread.leave(jvm, sink));
    }
}

impl SampledThread {
    /// The CPU time since the last round. Returns `None` if it is 0, or the thread waits or is not sampled.
    fn used(&mut self, jvm: Jvm<'_>, includes_waiting: bool) -> Option<u64> {
        self.name.as_ref()?;
        if !includes_waiting && !self.is_carrier && self.waits(jvm) {
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

    /// Checks whether the thread waits. In native code this is an estimate.
    fn waits(&self, jvm: Jvm<'_>) -> bool {
        match self.is_runnable(jvm) {
            // The Java field is cheap to read, but does not distinguish native code.
            Some(false) => true,
            Some(true) if self.quiet < QUIET => false,
            _ => {
                let state = state(jvm, &jvm.local.of_global(&self.thread));
                state & RUNNABLE == 0 || (state & IN_NATIVE != 0 && self.quiet >= QUIET)
            }
        }
    }

    /// Reads from its Java object whether it is runnable. Returns `None` if the field is unknown.
    fn is_runnable(&self, jvm: Jvm<'_>) -> Option<bool> {
        let kept = self.status.as_ref()?.read(jvm);
        Some(kept & RUNNABLE != 0)
    }

    /// Checks whether the thread, or the virtual thread that it carries, is running now. If it waits, its CPU time was
    /// used elsewhere than at the current stack.
    fn runs(&mut self, jvm: Jvm<'_>, within: Option<&LocalRef<'_>>, processors: usize) -> bool {
        if within.is_none() && self.is_runnable(jvm) == Some(false) {
            return false;
        }
        let state = match within {
            Some(within) => state(jvm, within),
            None => state(jvm, &jvm.local.of_global(&self.thread)),
        };
        if state & RUNNABLE == 0 || state & IN_NATIVE == 0 {
            return state & RUNNABLE != 0;
        }
        if processors == 1 {
            thread::sleep(TURN); // with a single processor, it runs only while this thread does not
        }
        self.goes_on(jvm)
    }

    /// The CPU time since the last query. Returns `None` if the thread has ended.
    fn used_since_asked(&mut self, jvm: Jvm<'_>) -> Option<u64> {
        let thread = jvm.local.of_global(&self.thread);
        let cpu_ns = jvm.jvmti.thread_cpu_time(jvm.live, &thread).ok()?;
        Some(cpu_ns.saturating_sub(std::mem::replace(&mut self.cpu_ns, cpu_ns)))
    }

    /// Checks whether it is using CPU time now: the JVM does not know whether native code waits.
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

    /// Reports the rest of its CPU time, and releases its references.
    fn leave(self, jvm: Jvm<'_>, sink: &mut impl SampleSink) {
        if let Some(name) = self.name.filter(|_| self.unseen_ns > 0) {
            sink.unseen(&name, self.unseen_ns);
        }
        jvm.local.release(self.thread);
        if let Some(status) = self.status {
            status.release(jvm);
        }
    }
}

/// Checks whether a thread may carry virtual threads.
pub(super) fn is_carrier(jvm: Jvm<'_>, thread: &LocalRef<'_>) -> bool {
    let class = jvm.local.object_class(thread);
    let signature = class.and_then(|class| jvm.jvmti.class_signature(&class).ok());
    signature.is_some_and(|signature| signature == CARRIER)
}

/// The state of a thread (JVM TI, GetThreadState); 0, as for a thread that has not started, if the JVM does not return
/// it.
fn state(jvm: Jvm<'_>, thread: &LocalRef<'_>) -> u32 {
    jvm.jvmti.thread_state(jvm.live, thread).unwrap_or(0)
}
