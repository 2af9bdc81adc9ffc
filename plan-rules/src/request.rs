//! What a plugin asked for in one class, as a value.

use std::ops::Range;
use std::sync::Arc;

use rewriter::span::Spans;
use rewriter::stored::Stored;
use rewriter::{EditPlan, HelperClass, InsertionPoint, impl_stored};

use crate::event::{EventRequest, EventValues};
use crate::row::Row;

/// What a plugin asked for in one class, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanRequest {
    /// Hits are numbered from 0, and so are counts.
    pub plan: EditPlan,
    /// Another class file, into which everything else is spliced.
    pub replacement: Option<Vec<u8>>,
    /// Classes that the edits name, each to be defined by the loader of the class unless it has it.
    pub helpers: Vec<HelperClass>,
    /// How many hits.
    pub hits: u32,
    /// How many counts.
    pub counts: u32,
    /// Methods timed from entry to end.
    pub spans: Spans,
    /// Places of events, in order; each is the event of its position.
    pub events: Vec<EventRequest>,
    /// Bytes of the plugin's own, in the order of the requests.
    pub tags: Vec<Tag>,
    /// Lines for the user.
    pub notes: Vec<Note>,
    /// True if the class resumes Kotlin's continuations, which spans of suspend functions follow. The host sets it for
    /// plugins that may request spans.
    pub follows_continuations: bool,
}

impl PlanRequest {
    /// How many edits, spans and events are asked for.
    #[must_use]
    pub fn edits(&self) -> usize {
        let plan = self.plan.edits().len() + self.plan.class_edits().len();
        let recorded = self.spans.as_slice().len() + self.events.len();
        let whole = [self.replacement.is_some(), self.follows_continuations];
        plan + recorded + whole.map(usize::from).iter().sum::<usize>()
    }

    /// Whether nothing is asked for and nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        // Tags are those of probes.
        self.edits() == 0 && self.helpers.is_empty() && self.notes.is_empty()
    }

    /// Forgets everything and keeps the memory of its edits.
    pub fn clear(&mut self) {
        let mut plan = std::mem::take(&mut self.plan);
        plan.clear();
        *self = Self {
            plan,
            ..Self::default()
        };
    }

    /// The rows of tables that the tags of probes are.
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

/// Values that many places share are written once.
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

/// The rows that probes of one kind belong to, in the order of the probes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows(Vec<(Range<u32>, Row)>);

impl Rows {
    /// The row of a probe, if it belongs to one.
    #[must_use]
    pub fn of(&self, probe: u32) -> Option<&Row> {
        let behind = self.0.partition_point(|(probes, _)| probes.start <= probe);
        let (probes, row) = self.0.get(behind.checked_sub(1)?)?;
        probes.contains(&probe).then_some(row)
    }
}

/// The kinds of probes; each is numbered from 0 in a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeKind {
    /// Reached or not.
    Hit,
    /// How often.
    Count,
    /// From entry to end.
    Span,
    /// With which values.
    Event,
}

impl_stored!(enum ProbeKind {
    0 Hit,
    1 Count,
    2 Span,
    3 Event,
});

/// A plugin's own bytes for `count` probes from `first` on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// Of which kind the probes are.
    pub kind: ProbeKind,
    /// Where the first of them is.
    pub point: InsertionPoint,
    /// The first probe.
    pub first: u32,
    /// How many probes.
    pub count: u32,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl_stored!(struct Tag { kind, point, first, count, bytes });

/// A line for the user about an insertion point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Where.
    pub point: InsertionPoint,
    /// What.
    pub text: String,
}

impl_stored!(struct Note { point, text });
