//! Counts of single calls and events.

use std::collections::{BTreeMap, HashMap};

use super::{Call, Moment, Outcome};

/// The number of single calls of each span and of events of each place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SingleCalls {
    spans: BTreeMap<u32, SpanCalls>,
    places: BTreeMap<u32, u64>,
    /// The spans of calls seen open and not ended yet, by thread and start.
    open: HashMap<(u64, u64), u32>,
}

/// Counts of the single calls of one span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpanCalls {
    /// Number of completed calls.
    pub ended: u64,
    /// Number of open calls.
    pub open: u64,
    /// Earliest end, or last observation of an open call: nanoseconds since the start.
    first_end: u64,
    /// Latest end or observation.
    last_end: u64,
}

impl SingleCalls {
    /// Counts a call when it ends or is seen open. Further observations of the same call do not count.
    pub fn call(&mut self, call: &Call) {
        let calls = self.spans.entry(call.span).or_default();
        if (calls.ended, calls.open) == (0, 0) {
            calls.first_end = call.end;
        }
        calls.first_end = calls.first_end.min(call.end);
        calls.last_end = calls.last_end.max(call.end);
        let key = (call.thread, call.start);
        match call.outcome {
            Outcome::Open => {
                if self.open.insert(key, call.span).is_none() {
                    calls.open += 1;
                }
            }
            Outcome::Returned | Outcome::Threw(_) => {
                calls.ended += 1;
                if !self.open.is_empty()
                    && let Some(span) = self.open.remove(&key)
                    && let Some(seen) = self.spans.get_mut(&span)
                {
                    seen.open = seen.open.saturating_sub(1);
                }
            }
        }
    }

    /// Counts an event.
    pub fn moment(&mut self, moment: &Moment) {
        *self.places.entry(moment.place).or_default() += 1;
    }

    /// Keeps the calls of wanted spans and the events of wanted places.
    pub fn retain(&mut self, is_span: impl Fn(u32) -> bool, is_place: impl Fn(u32) -> bool) {
        self.spans.retain(|span, _| is_span(*span));
        self.places.retain(|place, _| is_place(*place));
        self.open.retain(|_, span| is_span(*span));
    }

    /// Returns the number of completed calls by span.
    pub fn ended(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.spans.iter().map(|(span, calls)| (*span, calls.ended))
    }

    /// Returns the number of open calls.
    #[must_use]
    pub fn open(&self) -> u64 {
        self.spans.values().map(|calls| calls.open).sum()
    }

    /// Returns the number of calls.
    #[must_use]
    pub fn calls(&self) -> u64 {
        let calls = self.spans.values();
        calls.map(|calls| calls.ended + calls.open).sum()
    }

    /// Returns the number of events.
    #[must_use]
    pub fn moments(&self) -> u64 {
        self.places.values().sum()
    }

    /// Returns the earliest and the latest end of a call, in nanoseconds since the start. `None` without calls.
    #[must_use]
    pub fn ends(&self) -> Option<(u64, u64)> {
        let first = self.spans.values().map(|calls| calls.first_end).min()?;
        let last = self.spans.values().map(|calls| calls.last_end).max()?;
        Some((first, last))
    }
}
