//! The requests of a plugin for one class, as a value.

use std::ops::Range;
use std::sync::Arc;

use crate::helper_classes::HelperClass;
use crate::span::Spans;
use rewriter::{EditPlan, InsertionPoint};
use stored::Stored;
use stored::impl_stored;

use crate::event::{EventRequest, EventValues};
use crate::row::Row;

/// The requests of a plugin for one class, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanRequest {
    /// The edits. Hits and counts are each numbered from 0.
    pub plan: EditPlan,
    /// A class file that replaces the original before splicing.
    pub replacement: Option<Vec<u8>>,
    /// Classes that the edits name. The class's loader defines each one, unless it already has it.
    pub helpers: Vec<HelperClass>,
    /// Number of hits.
    pub hits: u32,
    /// Number of counts.
    pub counts: u32,
    /// Methods timed from entry to exit.
    pub spans: Spans,
    /// Locations of events; the index is the number of the event.
    pub events: Vec<EventRequest>,
    /// The plugin's own bytes, in the order of the requests.
    pub tags: Vec<Tag>,
    /// Messages for the user.
    pub notes: Vec<Note>,
    /// True if spans of suspend functions in this class follow Kotlin continuations. The host sets it for plugins that
    /// may request spans.
    pub follows_continuations: bool,
}

impl PlanRequest {
    /// Returns the number of requested edits, spans and events.
    #[must_use]
    pub fn edits(&self) -> usize {
        let plan = self.plan.edits().len() + self.plan.class_edits().len();
        let recorded = self.spans.as_slice().len() + self.events.len();
        let whole = [self.replacement.is_some(), self.follows_continuations];
        plan + recorded + whole.map(usize::from).iter().sum::<usize>()
    }

    /// Checks for the absence of requests and notes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        // Each tag belongs to a probe, so tags need no check.
        self.edits() == 0 && self.helpers.is_empty() && self.notes.is_empty()
    }

    /// Clears the request and keeps the memory of its edits.
    pub fn clear(&mut self) {
        let mut plan = std::mem::take(&mut self.plan);
        plan.clear();
        *self = Self {
            plan,
            ..Self::default()
        };
    }

    /// Returns the table rows in the tags of probes.
    #[must_use]
    pub fn rows(&self, kind: ProbeKind) -> Rows {
        let tags = self.tags.iter().filter(|tag| tag.kind == kind);
        let row = |tag: &Tag| Some((tag.first..tag.first + tag.count, Row::of_tag(&tag.bytes)?));
        Rows(tags.filter_map(row).collect())
    }

    pub(crate) fn tag(
        &mut self,
        kind: ProbeKind,
        point: InsertionPoint,
        probes: &Range<u32>,
        bytes: &[u8],
    ) {
        if bytes.is_empty() {
            return;
        }
        self.tags.push(Tag {
            kind,
            point,
            first: probes.start,
            count: probes.end - probes.start,
            bytes: bytes.to_vec(),
        });
    }
}

impl Stored for PlanRequest {
    fn put(&self, out: &mut Vec<u8>) {
        let Self {
            plan,
            replacement,
            helpers,
            hits,
            counts,
            spans,
            events,
            tags,
            notes,
            follows_continuations: _, // not of the plugin
        } = self;
        plan.put(out);
        replacement.put(out);
        helpers.put(out);
        hits.put(out);
        counts.put(out);
        spans.put(out);
        put_events(events, out);
        tags.put(out);
        notes.put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(Self {
            plan: Stored::take(from)?,
            replacement: Stored::take(from)?,
            helpers: Stored::take(from)?,
            hits: Stored::take(from)?,
            counts: Stored::take(from)?,
            spans: Stored::take(from)?,
            events: take_events(from)?,
            tags: Stored::take(from)?,
            notes: Stored::take(from)?,
            follows_continuations: false,
        })
    }
}

/// Writes values that several locations share once.
fn put_events(events: &[EventRequest], out: &mut Vec<u8>) {
    let is_shared = |a: &EventRequest, b: &EventRequest| Arc::ptr_eq(&a.values, &b.values);
    let runs = || events.chunk_by(is_shared);
    runs().count().put(out);
    for run in runs() {
        let points: Vec<InsertionPoint> = run.iter().map(|event| event.point).collect();
        points.put(out);
        if let Some(first) = run.first() {
            first.values.put(out);
        }
    }
}

fn take_events(from: &mut &[u8]) -> Option<Vec<EventRequest>> {
    let mut events = Vec::new();
    for _ in 0..usize::take(from)? {
        let points = Vec::<InsertionPoint>::take(from)?;
        let values = Arc::new(EventValues::take(from)?);
        events.extend(points.into_iter().map(|point| EventRequest {
            point,
            values: Arc::clone(&values),
        }));
    }
    Some(events)
}

/// The table rows of probes of one kind, in the order of the probes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows(Vec<(Range<u32>, Row)>);

impl Rows {
    /// Returns the row of a probe, if it has one.
    #[must_use]
    pub fn of(&self, probe: u32) -> Option<&Row> {
        let behind = self.0.partition_point(|(probes, _)| probes.start <= probe);
        let (probes, row) = self.0.get(behind.checked_sub(1)?)?;
        probes.contains(&probe).then_some(row)
    }
}

/// The kinds of probes; the probes of each kind are numbered from 0 in a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeKind {
    /// Records whether a location was reached.
    Hit,
    /// Counts executions.
    Count,
    /// Measures time from entry to exit.
    Span,
    /// Records values.
    Event,
}

impl_stored!(enum ProbeKind {
    0 Hit,
    1 Count,
    2 Span,
    3 Event,
});

/// A plugin's own bytes for the `count` probes from `first` on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// The kind of the probes.
    pub kind: ProbeKind,
    /// The point of the first probe.
    pub point: InsertionPoint,
    /// The first probe.
    pub first: u32,
    /// Number of probes.
    pub count: u32,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl_stored!(struct Tag { kind, point, first, count, bytes });

/// A message for the user about an insertion point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The insertion point.
    pub point: InsertionPoint,
    /// The message.
    pub text: String,
}

impl_stored!(struct Note { point, text });
