//! The queued events of a subscriber, read on its thread.

use super::cpu_sampler::SampleSink;
use crate::agent::Agent;
use crate::agent::subscribers::{Event, Subscriber};
use crate::ffi::jvm::Jvm;
use crate::ffi::live;
use jvm_events::EventKind;
use jvm_events::recorded::Collection;

/// Receives the events.
pub(super) trait EventSink: SampleSink {
    /// Receives an event. Local references that it creates are released afterwards.
    fn event(&mut self, jvm: Jvm<'_>, event: Event);
    /// Receives completed collections, and the used and the total size of the heap in bytes, if they are known: read
    /// after the last collection.
    fn collections(&mut self, collections: Vec<Collection>, after: Option<(u64, u64)>);
    /// Receives the numbers of lost events and of sampled objects without a tag.
    fn lost(&mut self, events: u64, untracked: u64);
}

/// The position up to which events were read.
#[derive(Clone, Copy)]
pub(super) struct Inbox {
    agent: &'static Agent,
    /// The start of the subscription, in the time of collections.
    begun: u64,
    /// Number of collections that were read.
    collections: usize,
}

impl Inbox {
    pub fn new(agent: &'static Agent) -> Self {
        Self {
            agent,
            begun: agent.subscribers.collections.now(),
            collections: agent.subscribers.collections.ended(),
        }
    }

    /// Nanoseconds since the start.
    pub fn elapsed(&self) -> u64 {
        self.since_begin(self.agent.subscribers.collections.now())
    }

    /// The time of an event in nanoseconds since the start.
    pub fn since_begin(&self, at: u64) -> u64 {
        at.saturating_sub(self.begun)
    }

    /// Passes at most this many queued events to `sink`. Returns true if there were any.
    pub fn read(
        &mut self,
        jvm: Jvm<'_>,
        subscriber: &Subscriber,
        most: usize,
        sink: &mut impl EventSink,
    ) -> bool {
        let queue = subscriber.take(most);
        sink.lost(queue.lost, queue.untracked);
        let any = !queue.events.is_empty();
        for event in queue.events {
            jvm.with_frame(16, |jvm| sink.event(jvm, event));
        }
        if subscriber.subscription(EventKind::Collections).is_some() {
            self.read_collections(jvm, sink);
        }
        any
    }

    fn read_collections(&mut self, jvm: Jvm<'_>, sink: &mut impl EventSink) {
        let (times, lost) = self.agent.subscribers.collections.since(self.collections);
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
