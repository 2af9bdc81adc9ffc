//! Looks at the threads that use CPU time.

use super::identity::{is_ours, thread_tag};
use super::reader::Reader;
use crate::agent::observation::Running;
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::VirtualThreadOf;
use crate::ffi::refs::LocalRef;
use observations::Subscription;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Threads for which there is room among the local references of one look.
const CAPACITY: i32 = 4096;

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
}

#[derive(Debug)]
struct Thread {
    /// Its number in the recording; none for one of the agent.
    number: Option<u32>,
    cpu_ns: u64,
    /// What it used while it was not seen running.
    unseen_ns: u64,
    /// The last look at which it was there.
    look: u64,
}

impl Threads {
    pub fn new(jvm: Jvm<'_>, subscription: &Subscription) -> Self {
        Self {
            interval: subscription.cpu,
            due: Instant::now(),
            known: HashMap::new(),
            looks: 0,
            last: Instant::now(),
            virtual_thread: jvm.jvmti.virtual_thread_of(jvm.live),
        }
    }

    /// When they are to be looked at next.
    pub fn due(&self) -> Option<Instant> {
        self.interval.map(|_| self.due)
    }

    /// Looks at them, if it is time.
    pub fn look(&mut self, jvm: Jvm<'_>, running: &Running, reader: &mut Reader) {
        let now = Instant::now();
        let Some(interval) = self.interval.filter(|_| self.due <= now) else {
            return;
        };
        let late = now.duration_since(self.due).as_nanos() / interval.as_nanos().max(1);
        let late = u32::try_from(late).unwrap_or(u32::MAX);
        self.due += interval * (late + 1);
        reader.recorder.turn(u64::from(late));
        self.looks += 1;
        jvm.with_frame(CAPACITY, |jvm| self.visit(jvm, running, reader));
        let look = self.looks;
        let gone = self.known.extract_if(|_, thread| thread.look != look);
        gone.for_each(|(_, thread)| thread.leave(reader));
        self.last = now;
    }

    fn visit(&mut self, jvm: Jvm<'_>, running: &Running, reader: &mut Reader) {
        let Ok(threads) = jvm.jvmti.all_threads(jvm.live, jvm.local) else {
            return;
        };
        for thread in &threads {
            let Some((number, nanos)) = self.used(jvm, running, thread, reader) else {
                continue;
            };
            let function = self.virtual_thread;
            let within = function.and_then(|function| {
                jvm.jvmti
                    .virtual_thread(jvm.live, jvm.local, function, thread)
            });
            let (number, shown) = match &within {
                None => (number, thread),
                Some(within) => (name_of(jvm, within, reader), within),
            };
            // What it used before it began to wait was used elsewhere than where it waits.
            if !jvm.jvmti.is_runnable(jvm.live, shown) {
                self.put_off(jvm, thread, nanos);
                continue;
            }
            let depth = running.subscription.depth;
            // A thread that has ended meanwhile has no stack.
            if let Ok(frames) = jvm.jvmti.stack(jvm.live, Some(shown), depth) {
                let node = reader.node(jvm, &frames);
                reader.recorder.cpu(number, node, nanos);
            }
        }
    }

    /// The number of a thread and the CPU time that it used since the last look; none if it used none.
    fn used(
        &mut self,
        jvm: Jvm<'_>,
        running: &Running,
        thread: &LocalRef<'_>,
        reader: &mut Reader,
    ) -> Option<(u32, u64)> {
        let tag = thread_tag(jvm, running, thread)?;
        let cpu_ns = jvm.jvmti.thread_cpu_time(jvm.live, thread).ok()?;
        let is_first = self.looks == 1;
        // One that came since used no more, whatever its native thread had used before it was Java's.
        let since = u64::try_from(self.last.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let known = self.known.entry(tag).or_insert_with(|| {
            let name = jvm.jvmti.thread_name(jvm.live, jvm.local, thread);
            let name = name.unwrap_or_default();
            Thread {
                number: (!is_ours(&name)).then(|| reader.thread(&name)),
                // What a thread used before the recording began is not of it.
                cpu_ns: if is_first {
                    cpu_ns
                } else {
                    cpu_ns.saturating_sub(since)
                },
                unseen_ns: 0,
                look: 0,
            }
        });
        known.look = self.looks;
        let used = cpu_ns.saturating_sub(std::mem::replace(&mut known.cpu_ns, cpu_ns));
        let number = known.number.filter(|_| used > 0)?;
        Some((number, used + std::mem::take(&mut known.unseen_ns)))
    }

    /// Keeps what a thread used until it is seen running.
    fn put_off(&mut self, jvm: Jvm<'_>, thread: &LocalRef<'_>, nanos: u64) {
        let tag = jvm.jvmti.tag(jvm.live, thread);
        let known = tag.ok().and_then(|tag| self.known.get_mut(&tag));
        if let Some(known) = known {
            known.unseen_ns += nanos;
        }
    }

    /// What threads used that were not seen running since.
    pub fn finish(&mut self, reader: &mut Reader) {
        self.known
            .drain()
            .for_each(|(_, thread)| thread.leave(reader));
    }
}

impl Thread {
    /// It is not there any more.
    fn leave(self, reader: &mut Reader) {
        if let Some(number) = self.number.filter(|_| self.unseen_ns > 0) {
            reader.recorder.unseen(number, self.unseen_ns);
        }
    }
}

/// The number of a thread under its name.
fn name_of(jvm: Jvm<'_>, thread: &LocalRef<'_>, reader: &mut Reader) -> u32 {
    let name = jvm.jvmti.thread_name(jvm.live, jvm.local, thread);
    reader.thread(&name.unwrap_or_default())
}
