//! The content of an event file.

use std::collections::BTreeMap;

use super::decode::Entry;
use super::single::SingleCalls;
use super::task::is_of_tasks;
use super::{Aggregate, Call, Lost, Moment, Outcome, SpanInfo, ThreadInfo};
use crate::format::{Incomplete, Meta};

/// Limit of the memory of [`Trace::threads`] in a reader without single calls, in bytes: about 250,000 names.
pub const MAX_THREADS: usize = 32 << 20;
/// Memory of a thread without its name, in bytes: its number and its part of the map.
const OF_THREAD: usize = 96;

/// The calls recorded in one JVM.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// Description of the run.
    pub meta: Meta,
    /// The spans by id.
    pub spans: BTreeMap<u32, SpanInfo>,
    /// The places of events, by id.
    pub places: BTreeMap<u32, SpanInfo>,
    /// The places of waits by id ([`Wait`](super::Wait)). No other field holds their events.
    pub waits: BTreeMap<u32, SpanInfo>,
    /// The places of task steps by id ([`TaskStep`](super::TaskStep)). No other field holds their events.
    pub tasks: BTreeMap<u32, SpanInfo>,
    /// The threads with calls, by Java's thread id.
    pub threads: BTreeMap<u64, ThreadInfo>,
    /// Memory of the threads that [`Trace::take_summed`] has kept, in bytes.
    pub thread_memory: usize,
    /// Every stored call, ordered by thread and start.
    pub calls: Vec<Call>,
    /// Every stored event, ordered by thread and time.
    pub moments: Vec<Moment>,
    /// Numbers of the single calls and events in the file.
    pub single: SingleCalls,
    /// The sums by span; they include calls that were not stored.
    pub aggregates: BTreeMap<u32, Aggregate>,
    /// Number of times that each place of events was reached, stored or not.
    pub reached: BTreeMap<u32, u64>,
    /// Number of entries of each span in count mode.
    pub counts: BTreeMap<u32, u64>,
    /// The losses.
    pub lost: Lost,
    /// `true` if the JVM ended in good order.
    pub complete: bool,
    /// `true` if the last record was cut off because the JVM was killed while writing. All records before it are
    /// whole.
    pub truncated: bool,
    /// The reason why later data could not be written.
    pub incomplete: Option<Incomplete>,
}

/// The two ends of a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BoundaryKind {
    /// Entry of the method.
    Enter,
    /// Exit of the method, described by [`Call::outcome`].
    Exit,
}

/// The entry or exit of a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CallBoundary<'t> {
    /// Nanoseconds since the start.
    pub nanos: u64,
    /// Entry or exit.
    pub kind: BoundaryKind,
    /// The call.
    pub call: &'t Call,
    /// Number of open calls of this thread around it.
    pub depth: usize,
}

impl Trace {
    /// Adds the next entry of an event file. Calls stay unsorted until [`Trace::finish`].
    pub fn take(&mut self, entry: Entry) {
        self.complete = matches!(entry, Entry::End);
        self.incomplete = None;
        match entry {
            Entry::Meta(meta) => self.meta = *meta,
            Entry::Span(span) => {
                let known = match &span.event {
                    Some(event) if event.waits.is_some() => &mut self.waits,
                    Some(_) if is_of_tasks(&span) => &mut self.tasks,
                    Some(_) => &mut self.places,
                    None => &mut self.spans,
                };
                known.insert(span.id, span);
            }
            Entry::Name(..) | Entry::End => {}
            Entry::Thread(thread) => {
                self.threads.insert(thread.id, thread);
            }
            Entry::Call(call, is_virtual) => {
                self.add_thread(call.thread, is_virtual);
                self.calls.push(call);
            }
            Entry::Moment(moment, _) if self.is_aside(moment.place) => {}
            Entry::Moment(moment, is_virtual) => {
                self.add_thread(moment.thread, is_virtual);
                self.moments.push(moment);
            }
            Entry::Aggregate(place, sums) if self.places.contains_key(&place) => {
                self.reached.insert(place, sums.count);
            }
            Entry::Aggregate(place, _) if self.is_aside(place) => {}
            Entry::Aggregate(span, sums) => {
                self.aggregates.insert(span, sums);
            }
            Entry::Count(span, calls) => {
                self.counts.insert(span, calls);
            }
            Entry::Lost(lost) => self.lost = self.with_thread_names(lost),
            Entry::Time(ms) => self.meta.dump_ms = ms,
            Entry::Reset => {
                self.calls.clear();
                self.moments.clear();
                self.single = SingleCalls::default();
                self.reached.clear();
                self.aggregates.clear();
                self.counts.clear();
                self.lost = self.with_thread_names(Lost::default());
            }
            Entry::Incomplete(incomplete) => self.incomplete = Some(incomplete),
        }
    }

    /// Returns the losses with the thread names that this reader left out. No later record brings those back.
    fn with_thread_names(&self, lost: Lost) -> Lost {
        Lost {
            thread_names: self.lost.thread_names,
            ..lost
        }
    }

    /// Adds the next entry of an event file; calls and events are counted only. The first names of threads are kept, as
    /// long as they fit into [`MAX_THREADS`] bytes of memory, and the others are counted in [`Lost::thread_names`].
    pub fn take_summed(&mut self, entry: Entry) {
        match &entry {
            Entry::Call(call, _) => self.single.call(call),
            Entry::Moment(moment, _) if self.is_aside(moment.place) => {}
            Entry::Moment(moment, _) => self.single.moment(moment),
            // Most virtual threads have no name, and a program may have millions.
            Entry::Thread(thread) if thread.is_virtual && thread.name.is_empty() => {}
            Entry::Thread(thread) if !self.has_room_for(thread) => self.lost.thread_names += 1,
            _ => return self.take(entry),
        }
        (self.complete, self.incomplete) = (false, None);
    }

    /// Checks whether a thread is known, or fits into [`MAX_THREADS`]. If it fits, its memory is counted.
    fn has_room_for(&mut self, thread: &ThreadInfo) -> bool {
        if self.threads.contains_key(&thread.id) {
            return true;
        }
        let memory = self.thread_memory + OF_THREAD + thread.name.len();
        let fits = memory <= MAX_THREADS;
        if fits {
            self.thread_memory = memory;
        }
        fits
    }

    /// Keeps wanted spans and places, with their calls, events and sums.
    pub fn retain(&mut self, is_wanted: impl Fn(&SpanInfo) -> bool) {
        self.spans.retain(|_, span| is_wanted(span));
        self.places.retain(|_, place| is_wanted(place));
        let (spans, places) = (&self.spans, &self.places);
        self.calls.retain(|call| spans.contains_key(&call.span));
        self.moments
            .retain(|moment| places.contains_key(&moment.place));
        self.single.retain(
            |span| spans.contains_key(&span),
            |place| places.contains_key(&place),
        );
        self.aggregates.retain(|span, _| spans.contains_key(span));
        self.counts.retain(|span, _| spans.contains_key(span));
    }

    /// Checks whether the events of a place are kept apart: waits and steps of tasks.
    fn is_aside(&self, place: u32) -> bool {
        self.waits.contains_key(&place) || self.tasks.contains_key(&place)
    }

    /// Registers a thread.
    fn add_thread(&mut self, id: u64, is_virtual: bool) {
        let unnamed = || ThreadInfo {
            id,
            name: String::new(),
            is_virtual,
        };
        self.threads.entry(id).or_insert_with(unnamed);
    }

    /// Sorts calls and events after the last entry, as [`Trace::calls`] describes.
    pub fn finish(&mut self) {
        // A call seen open may occur again when it ends; the later record replaces the earlier one.
        self.calls.sort_by_key(|call| {
            (
                call.thread,
                call.start,
                call.outcome == Outcome::Open,
                u64::MAX - call.end,
            )
        });
        self.calls
            .dedup_by(|later, first| later.thread == first.thread && later.start == first.start);
        self.moments
            .sort_by_key(|moment| (moment.thread, moment.nanos));
        self.single = SingleCalls::default();
        self.calls.iter().for_each(|call| self.single.call(call));
        self.moments
            .iter()
            .for_each(|moment| self.single.moment(moment));
        self.finish_summed();
    }

    /// Completes a trace built with [`Trace::take_summed`].
    pub fn finish_summed(&mut self) {
        self.meta.dump_ms = self.meta.dump_ms.max(self.meta.start_ms);
        self.complete &= !self.truncated;
    }

    /// Returns the calls of one thread, ordered by start.
    #[must_use]
    pub fn calls_of(&self, thread: u64) -> &[Call] {
        let from = self.calls.partition_point(|call| call.thread < thread);
        let to = self.calls.partition_point(|call| call.thread <= thread);
        self.calls.get(from..to).unwrap_or_default()
    }

    /// Returns entries and exits of one thread in chronological order. A call that had not ended has no exit.
    #[must_use]
    pub fn events(&self, thread: u64) -> Vec<CallBoundary<'_>> {
        let calls = self.calls_of(thread);
        let mut events = Vec::with_capacity(calls.len() * 2);
        let mut open: Vec<&Call> = Vec::new();
        for call in calls {
            leave(&mut open, &mut events, |ended| ended.end < call.start);
            events.push(CallBoundary {
                nanos: call.start,
                kind: BoundaryKind::Enter,
                call,
                depth: open.len(),
            });
            open.push(call);
        }
        leave(&mut open, &mut events, |_| true);
        events
    }
}

/// Closes the innermost calls while `ended` holds. A call that never ended is removed without an event.
fn leave<'t>(
    open: &mut Vec<&'t Call>,
    events: &mut Vec<CallBoundary<'t>>,
    ended: impl Fn(&Call) -> bool,
) {
    while let Some(call) = open.pop() {
        if call.outcome == Outcome::Open {
            if !ended(call) {
                open.push(call);
                return;
            }
            continue;
        }
        if !ended(call) {
            open.push(call);
            return;
        }
        events.push(CallBoundary {
            nanos: call.end,
            kind: BoundaryKind::Exit,
            call,
            depth: open.len(),
        });
    }
}
