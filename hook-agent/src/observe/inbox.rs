//! What came for one that listens, handed to it on its thread.

use super::threads::Sightings;
use crate::agent::Agent;
use crate::agent::observation::{Event, Running};
use crate::ffi::jvm::Jvm;
use crate::ffi::live;
use observations::Group;
use observations::recorded::Collection;

/// Takes what came.
pub(super) trait Sink: Sightings {
    /// An event; references to classes that it makes end with it.
    fn event(&mut self, jvm: Jvm<'_>, event: Event);
    /// Collections that have ended; of the last one is known what was in use when that was looked at, in bytes: that,
    /// and what the heap has.
    fn collections(&mut self, collections: Vec<Collection>, after: Option<(u64, u64)>);
    /// So many events were lost, and so many sampled objects.
    fn lost(&mut self, events: u64, untracked: u64);
}

/// How far it was read.
#[derive(Clone, Copy)]
pub(super) struct Inbox {
    agent: &'static Agent,
    /// When it began, in the time of collections.
    begun: u64,
    /// How many collections were read.
    collections: usize,
}

impl Inbox {
    pub fn new(agent: &'static Agent) -> Self {
        Self {
            agent,
            begun: agent.observation.collections.now(),
            collections: agent.observation.collections.ended(),
        }
    }

    /// Nanoseconds since it began.
    pub fn elapsed(&self) -> u64 {
        self.since_begin(self.agent.observation.collections.now())
    }

    /// A time of an event as nanoseconds since it began.
    pub fn since_begin(&self, at: u64) -> u64 {
        at.saturating_sub(self.begun)
    }

    /// Hands over what came since the last time, at most so many events; whether there were any.
    pub fn read(
        &mut self,
        jvm: Jvm<'_>,
        running: &Running,
        most: usize,
        sink: &mut impl Sink,
    ) -> bool {
        let queue = running.take(most);
        sink.lost(queue.lost, queue.untracked);
        let any = !queue.events.is_empty();
        for event in queue.events {
            jvm.with_frame(16, |jvm| sink.event(jvm, event));
        }
        if running.wish(Group::Collections).is_some() {
            self.read_collections(jvm, sink);
        }
        any
    }

    fn read_collections(&mut self, jvm: Jvm<'_>, sink: &mut impl Sink) {
        let (times, lost) = self.agent.observation.collections.since(self.collections);
        self.collections += times.len() + lost;
        sink.lost(lost as u64, 0);
        if times.is_empty() {
            return;
        }
        let collection = |(start, end): (u64, u64)| Collection {
            start_ns: self.since_begin(start),
            duration_ns: end.saturating_sub(start),
            ..Collection::default()
        };
        let times = times.into_iter().map(collection).collect();
        sink.collections(times, live::heap(jvm).ok());
    }
}
