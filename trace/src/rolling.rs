//! The sums of a JVM while its event file grows, and their increase since the last look.

use std::collections::BTreeMap;

use probes::events::{Aggregate, Entry, Lost, Trace};

/// Time until the agent has written the sums of a call, in milliseconds: it writes once a second.
const SETTLED_MS: u64 = 1_500;

/// The current data of one JVM, without single calls.
#[derive(Debug, Clone, Default)]
pub struct Rolling {
    now: Trace,
    /// The sums at the last look.
    before: Sums,
    /// Time up to which the data was looked at, or start of the recording: milliseconds since 1970.
    before_ms: u64,
    /// Time of the latest sums that were looked at.
    seen_ms: u64,
    /// Time at which the latest sums were written.
    sums_ms: u64,
    /// Set if sums were read whose time record is missing.
    fresh: bool,
}

#[derive(Debug, Clone, Default)]
struct Sums {
    aggregates: BTreeMap<u32, Aggregate>,
    counts: BTreeMap<u32, u64>,
    lost: Lost,
}

impl Rolling {
    /// Starts at this time in milliseconds since 1970, or at the start of the agent if that is later.
    #[must_use]
    pub fn new(begun_ms: u64) -> Self {
        Self {
            before_ms: begun_ms,
            seen_ms: begun_ms,
            ..Self::default()
        }
    }

    /// Adds an entry of the event file; calls are ignored.
    pub fn take(&mut self, entry: Entry) {
        match entry {
            Entry::Call(..) | Entry::Moment(..) => return,
            Entry::Meta(ref meta) => {
                self.before_ms = self.before_ms.max(meta.start_ms);
                self.seen_ms = self.before_ms;
            }
            Entry::Reset => self.before = Sums::default(),
            Entry::Aggregate(..) | Entry::Count(..) => self.fresh = true,
            Entry::Time(ms) if std::mem::take(&mut self.fresh) => self.sums_ms = ms,
            _ => {}
        }
        self.now.take_summed(entry);
    }

    /// Returns all data so far, without single calls.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.now
    }

    /// Returns the time at which the latest sums were written, with the calls that had been open for a second:
    /// milliseconds since 1970, 0 without sums.
    #[must_use]
    pub fn sums_ms(&self) -> u64 {
        self.sums_ms
    }

    /// Returns the increase of the sums since the last call, without threads and places, and the interval in
    /// milliseconds. Returns `None` without new sums. Unchanged sums are not written again, so `now_ms`, since 1970,
    /// determines the length of the idle time.
    pub fn since_last(&mut self, now_ms: u64) -> Option<(Trace, u64)> {
        if self.sums_ms <= self.seen_ms {
            return None;
        }
        self.seen_ms = self.sums_ms;
        let sums = Sums {
            aggregates: self.now.aggregates.clone(),
            counts: self.now.counts.clone(),
            lost: self.now.lost,
        };
        let before = std::mem::replace(&mut self.before, sums);
        let end = self.sums_ms.max(now_ms.saturating_sub(SETTLED_MS));
        let begun = std::mem::replace(&mut self.before_ms, end);
        let trace = Trace {
            aggregates: since(&self.now.aggregates, &before.aggregates, Aggregate::since),
            counts: since(&self.now.counts, &before.counts, |now, before| {
                now.saturating_sub(*before)
            }),
            lost: self.now.lost.since(&before.lost),
            meta: self.now.meta.clone(),
            spans: self.now.spans.clone(),
            single: self.now.single.clone(),
            complete: self.now.complete,
            truncated: self.now.truncated,
            incomplete: self.now.incomplete.clone(),
            ..Trace::default()
        };
        Some((trace, end.saturating_sub(begun)))
    }

    /// Starts the next interval now: no sums were written so far.
    pub fn skip(&mut self, now_ms: u64) {
        let settled = now_ms.saturating_sub(SETTLED_MS);
        self.before_ms = self.before_ms.max(settled);
    }
}

/// Computes the differences, span by span.
fn since<T: Default>(
    now: &BTreeMap<u32, T>,
    before: &BTreeMap<u32, T>,
    difference: fn(&T, &T) -> T,
) -> BTreeMap<u32, T> {
    let nothing = T::default();
    let one = |(span, now): (&u32, &T)| {
        let before = before.get(span).unwrap_or(&nothing);
        (*span, difference(now, before))
    };
    now.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use probes::Meta;

    fn sums(count: u64) -> Aggregate {
        Aggregate {
            count,
            total: count * 10,
            ..Aggregate::default()
        }
    }

    #[test]
    fn each_look_returns_the_increase() {
        let mut rolling = Rolling::default();
        let mut take = |entries: Vec<Entry>| {
            entries.into_iter().for_each(|entry| rolling.take(entry));
            rolling.since_last(0).map(|(trace, ms)| {
                let calls = trace.aggregates.values().map(|sums| sums.count);
                (calls.sum::<u64>(), trace.counts.values().sum::<u64>(), ms)
            })
        };
        let meta = Meta {
            start_ms: 1_000,
            ..Meta::default()
        };
        assert_eq!(
            take(vec![Entry::Meta(Box::new(meta)), Entry::Time(1_100)]),
            None
        );
        let first = vec![
            Entry::Aggregate(1, sums(5)),
            Entry::Count(2, 3),
            Entry::Time(2_000),
        ];
        assert_eq!(take(first), Some((5, 3, 1_000)));
        assert_eq!(take(vec![Entry::Time(2_500)]), None, "no sums were written");
        assert_eq!(
            take(vec![Entry::Aggregate(1, sums(7))]),
            None,
            "it is not known when"
        );
        assert_eq!(take(vec![Entry::Time(4_000)]), Some((2, 0, 2_000)));
        let reset = vec![
            Entry::Reset,
            Entry::Aggregate(1, sums(9)),
            Entry::Time(5_000),
        ];
        assert_eq!(take(reset), Some((9, 0, 1_000)));
        assert_eq!(rolling.trace().aggregates[&1].count, 9);
    }

    /// Calls at the start and after a pause: an interval covers at least the time of its calls.
    #[test]
    fn interval_covers_the_time_of_its_calls() {
        let mut rolling = Rolling::new(1_000);
        let mut added = |entries: Vec<Entry>, now_ms| {
            entries.into_iter().for_each(|entry| rolling.take(entry));
            let added = rolling.since_last(now_ms).map(|(_, ms)| ms);
            if added.is_none() {
                rolling.skip(now_ms);
            }
            added
        };
        let first = vec![Entry::Aggregate(1, sums(5)), Entry::Time(1_004)];
        assert_eq!(added(first, 6_500), Some(4_000));
        assert_eq!(added(Vec::new(), 11_500), None);
        let late = vec![Entry::Aggregate(1, sums(6)), Entry::Time(16_200)];
        assert_eq!(added(late, 16_500), Some(6_200));
    }
}
