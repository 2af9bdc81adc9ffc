//! One row per method.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use probes::events::{Aggregate, Lost, Outcome, SpanInfo, Trace};

use crate::names::Names;

/// Sums of all traces.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// The methods that were called, in the order asked for.
    pub rows: Vec<Row>,
    /// How many methods were traced, called or not.
    pub methods: usize,
    /// Single calls that had not ended when the recording did; in no row.
    pub open: u64,
    /// What could not be kept.
    pub lost: Lost,
}

/// One method.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// As [`Names::get`].
    pub name: String,
    /// Calls that ended; of methods that are only counted, calls that began.
    pub calls: u64,
    /// Times and errors; none for methods that are only counted.
    pub sums: Option<Aggregate>,
}

/// What rows are sorted by, the highest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// Time within the method without the traced methods it called.
    #[default]
    Own,
    /// Time within the method and all that it called.
    Total,
    /// Number of calls.
    Calls,
    /// The longest call.
    Max,
    /// Calls that ended by an exception.
    Errors,
}

impl Summary {
    /// Adds up traces; the same method of several JVMs is one row.
    #[must_use]
    pub fn of(traces: &[Trace], order: Order) -> Self {
        let names = Names::of(traces);
        let mut rows: BTreeMap<(&str, &str, &str), Row> = BTreeMap::new();
        let mut lost = Lost::default();
        for trace in traces {
            add_lost(&mut lost, &trace.lost);
            for span in trace.spans.values() {
                let row = rows.entry(key(span)).or_insert_with(|| Row {
                    name: names.get(span),
                    calls: 0,
                    sums: None,
                });
                row.add(trace, span.id);
            }
        }
        let methods = rows.len();
        let mut rows: Vec<Row> = rows.into_values().filter(|row| row.calls > 0).collect();
        rows.sort_by_cached_key(|row| {
            (
                Reverse(order.value(row)),
                Reverse(row.calls),
                row.name.clone(),
            )
        });
        let calls = traces.iter().flat_map(|trace| &trace.calls);
        let open = calls.filter(|call| call.outcome == Outcome::Open).count();
        Self {
            rows,
            methods,
            open: open as u64,
            lost,
        }
    }
}

impl Row {
    fn add(&mut self, trace: &Trace, span: u32) {
        self.calls += trace.counts.get(&span).copied().unwrap_or(0);
        if let Some(sums) = trace.aggregates.get(&span) {
            self.calls += sums.count;
            self.sums.get_or_insert_default().merge(sums);
        }
    }
}

impl Order {
    fn value(self, row: &Row) -> u64 {
        let sums = row.sums.as_ref();
        let of = |field: fn(&Aggregate) -> u64| sums.map_or(0, field);
        match self {
            Self::Own => of(|sums| sums.own),
            Self::Total => of(|sums| sums.total),
            Self::Calls => row.calls,
            Self::Max => of(|sums| sums.max),
            Self::Errors => of(|sums| sums.errors),
        }
    }
}

fn key(span: &SpanInfo) -> (&str, &str, &str) {
    (&span.class, &span.method, &span.descriptor)
}

fn add_lost(sum: &mut Lost, other: &Lost) {
    sum.full += other.full;
    sum.untracked += other.untracked;
    sum.sums += other.sums;
    sum.captures += other.captures;
    sum.unended += other.unended;
}
