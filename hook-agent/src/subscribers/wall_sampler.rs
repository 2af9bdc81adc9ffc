//! Wall-clock samples of threads in any state.
//!
//! Each round samples some of the threads, in the order of a circular list. So a round costs the same with a thousand
//! threads as with twenty. Together the samples of a round represent the time of all threads since the last round. Each
//! thread counts as often as others, even if it lives shorter than a full cycle.

use super::cpu_sampler::is_carrier;
use super::identity::{is_agent_thread, thread_tag};
use super::recording_builder::RecordingBuilder;
use super::wall_round::{WallRound, WallSample};
use crate::agent::subscribers::Subscriber;
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::VirtualThreadOf;
use crate::ffi::refs::{GlobalRef, LocalRef};
use jvm_events::EventKind;
use jvm_events::thread_state::ThreadState;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Local references for the threads of one round.
const CAPACITY: i32 = 4096;
/// Largest number of threads in one round.
const MOST: usize = 24;
/// The same in a JVM that pauses all threads for each stack.
const MOST_OF_OLD: usize = 4;
/// The first release that pauses a single thread for its stack.
const HANDSHAKES: u16 = 14;
/// Shortest time between two updates of the thread list, as a multiple of the time of an update.
const REST: u32 = 50;

/// Samples threads by the wall clock.
#[derive(Debug)]
pub(super) struct WallSampler {
    interval: Duration,
    frames: usize,
    due: Instant,
    /// The end of the time that the samples represent.
    last: Instant,
    known: Vec<ListedThread>,
    /// The index of the next thread in `known`.
    next: usize,
    most: usize,
    /// The number of thread starts and ends at the last update of the list.
    changes: Option<u64>,
    /// The earliest time of the next update.
    rests: Instant,
    virtual_thread: Option<VirtualThreadOf>,
}

#[derive(Debug)]
struct ListedThread {
    tag: i64,
    thread: GlobalRef,
    name: String,
    /// True for a thread that may carry a virtual thread.
    is_carrier: bool,
}

impl WallSampler {
    /// Begins to sample. Returns `None` if there is no subscription to wall-clock samples.
    pub fn new(jvm: Jvm<'_>, subscriber: &Subscriber) -> Option<Self> {
        let subscription = subscriber.subscription(EventKind::WallClock)?;
        let release = jvm.jvmti.java_release(jvm.live).unwrap_or(0);
        let now = Instant::now();
        let mut wall = Self {
            interval: subscription.interval,
            frames: subscription.frames,
            due: now + subscription.interval,
            last: now,
            known: Vec::new(),
            next: 0,
            most: if release < HANDSHAKES {
                MOST_OF_OLD
            } else {
                MOST
            },
            changes: None,
            rests: now,
            virtual_thread: jvm.jvmti.virtual_thread_of(jvm.live),
        };
        jvm.with_frame(CAPACITY, |jvm| wall.update_list(jvm, subscriber));
        Some(wall)
    }

    /// The time of the next round.
    pub fn due(&self) -> Instant {
        self.due
    }

    /// Takes a round of samples, if it is time.
    pub fn sample_if_due(
        &mut self,
        jvm: Jvm<'_>,
        subscriber: &Subscriber,
        recording: &mut RecordingBuilder,
    ) {
        let now = Instant::now();
        if now < self.due {
            return;
        }
        let late = now.duration_since(self.due).as_nanos() / self.interval.as_nanos().max(1);
        let late = u32::try_from(late).unwrap_or(u32::MAX);
        self.due += self.interval * (late + 1);
        self.sample(jvm, subscriber, recording);
    }

    /// Takes the last round, so that the samples represent all time until the end.
    pub fn finish(
        &mut self,
        jvm: Jvm<'_>,
        subscriber: &Subscriber,
        recording: &mut RecordingBuilder,
    ) {
        self.sample(jvm, subscriber, recording);
        for known in self.known.drain(..) {
            jvm.local.release(known.thread);
        }
    }

    fn sample(&mut self, jvm: Jvm<'_>, subscriber: &Subscriber, recording: &mut RecordingBuilder) {
        jvm.with_frame(CAPACITY, |jvm| {
            self.update_list(jvm, subscriber);
            let threads = self.known.len();
            let carriers = self.known.iter().any(|known| known.is_carrier);
            let now = Instant::now();
            let shares = shares(now.duration_since(self.last), threads, self.most);
            self.last = now;
            let samples = shares.into_iter().filter_map(|nanos| {
                let sample = self.take_next(jvm)?;
                Some((sample, nanos))
            });
            let round = WallRound {
                samples: samples.collect(),
                threads,
                carriers,
            };
            recording.wall(jvm, round);
        });
    }

    /// Samples the next thread. Returns `None` if it has ended; it is then removed from the list.
    fn take_next(&mut self, jvm: Jvm<'_>) -> Option<WallSample> {
        self.next %= self.known.len();
        let known = &self.known[self.next];
        let sample = known.sample(jvm, self.frames, self.virtual_thread);
        match sample {
            Some(_) => self.next += 1,
            None => jvm.local.release(self.known.remove(self.next).thread),
        }
        sample
    }

    /// Updates the list if threads have started or ended. If an update takes long, this is rare.
    fn update_list(&mut self, jvm: Jvm<'_>, subscriber: &Subscriber) {
        let changes = Some(subscriber.thread_changes());
        let begun = Instant::now();
        if changes == self.changes || begun < self.rests {
            return;
        }
        let Ok(threads) = jvm.jvmti.all_threads(jvm.live, jvm.local) else {
            return;
        };
        self.changes = changes;
        let tagged = threads.iter().filter_map(|thread| {
            let tag = thread_tag(jvm, subscriber, thread)?;
            Some((tag, thread))
        });
        let mut there: HashMap<i64, &LocalRef<'_>> = tagged.collect();
        let mut at = 0;
        while let Some(known) = self.known.get(at) {
            if there.remove(&known.tag).is_some() {
                at += 1;
                continue;
            }
            jvm.local.release(self.known.remove(at).thread);
            self.next -= usize::from(at < self.next);
        }
        let mut new: Vec<_> = there.into_iter().collect();
        new.sort_unstable_by_key(|(tag, _)| *tag);
        for (tag, thread) in new {
            let known = self.known_as(jvm, tag, thread);
            self.known.extend(known);
        }
        self.rests = Instant::now() + begun.elapsed() * REST;
    }

    /// A new entry of the list. Returns `None` if the thread belongs to the agent, or has ended.
    fn known_as(&self, jvm: Jvm<'_>, tag: i64, thread: &LocalRef<'_>) -> Option<ListedThread> {
        let name = jvm.jvmti.thread_name(jvm.live, jvm.local, thread)?;
        if is_agent_thread(&name) {
            return None;
        }
        Some(ListedThread {
            tag,
            thread: jvm.local.globalize(thread)?,
            name,
            is_carrier: self.virtual_thread.is_some() && is_carrier(jvm, thread),
        })
    }
}

/// The nanoseconds that each sample of a round represents. Their sum is the time of all threads.
fn shares(elapsed: Duration, threads: usize, most: usize) -> Vec<u64> {
    let taken = threads.min(most) as u128;
    let all = elapsed.as_nanos() * threads as u128;
    let until = |number: u128| all * number / taken;
    let share = |number: u128| u64::try_from(until(number + 1) - until(number)).unwrap_or(u64::MAX);
    (0..taken).map(share).collect()
}

impl ListedThread {
    /// The state and stack of the thread, or of the virtual thread that it carries. Returns `None` if it has ended.
    fn sample(
        &self,
        jvm: Jvm<'_>,
        most: usize,
        virtual_thread: Option<VirtualThreadOf>,
    ) -> Option<WallSample> {
        let Jvm { jvmti, live, local } = jvm;
        let thread = local.of_global(&self.thread);
        let carried = virtual_thread.filter(|_| self.is_carrier);
        let carried = carried.and_then(|of| jvmti.virtual_thread(live, local, of, &thread));
        let (name, (state, frames)) = match carried {
            None => (
                self.name.clone(),
                jvmti.state_and_stack(live, &thread, most).ok()?,
            ),
            Some(within) => {
                let state = jvmti.thread_state(live, &within).ok()?;
                let frames = jvmti.stack(live, Some(&within), most).unwrap_or_default();
                let name = jvmti.thread_name(live, local, &within);
                (name.unwrap_or_default(), (state, frames))
            }
        };
        // A native method may block inside the JVM, which reports its thread as runnable.
        let is_java = frames.first().is_some_and(|frame| frame.location >= 0);
        let state = match ThreadState::of(state)? {
            ThreadState::Running if !is_java => ThreadState::Native,
            state => state,
        };
        Some(WallSample {
            thread: name,
            state,
            frames,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_a_round_represent_the_time_of_all_threads() {
        for (threads, most, taken) in [
            (0, 16, 0),
            (1, 16, 1),
            (16, 16, 16),
            (5_001, 16, 16),
            (7, 4, 4),
        ] {
            let elapsed = Duration::from_nanos(10_000_003);
            let shares = shares(elapsed, threads, most);
            assert_eq!(shares.len(), taken);
            let all = u128::from(shares.iter().sum::<u64>());
            assert_eq!(all, elapsed.as_nanos() * threads as u128);
            let range = shares.iter().max().zip(shares.iter().min());
            assert!(range.is_none_or(|(most, least)| most - least <= 1));
        }
    }
}
