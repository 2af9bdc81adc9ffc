//! One row per method.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use probes::events::{Aggregate, Lost, SpanInfo, Trace};

use crate::names::{MethodName, Names, class, printable};

/// The sums of all traces.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// The called methods, in the requested order.
    pub rows: Vec<Row>,
    /// Number of traced methods, called or not.
    pub methods: usize,
    /// Number of single calls that were open at the end of the file; in no row.
    pub open: u64,
    /// Number of single calls that ended after the last sums of their methods, which are written once a second: the
    /// last calls of a JVM that was killed or stopped. In no row.
    pub unsummed: u64,
    /// The losses.
    pub lost: Lost,
    /// JVMs whose event files end too early.
    pub incomplete: Vec<Gap>,
    /// JVMs whose event files reached their size limit.
    pub limited: Vec<Limited>,
    /// `true` if all methods are in count mode, in which threads do not synchronise.
    pub only_counted: bool,
}

/// The single calls that an event file lacks because of its size limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limited {
    /// Process id of the JVM.
    pub pid: u32,
    /// Number of calls.
    pub calls: u64,
    /// `true` if the oldest calls are missing, `false` for the latest ones.
    pub oldest: bool,
    /// Start or end of the available single calls, if any: milliseconds since the trace began.
    pub at_ms: Option<u64>,
}

/// Missing data of a JVM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// Process id of the JVM.
    pub pid: u32,
    /// Start of the missing data: milliseconds since the trace began.
    pub after_ms: u64,
    /// The cause.
    pub cause: String,
}

/// One method.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The name from [`Names::method`].
    pub name: MethodName,
    /// The class, e.g. `com.acme.Store$Item`.
    pub class: String,
    /// The descriptor of the method.
    pub descriptor: String,
    /// Number of completed calls; of entries in count mode.
    pub calls: u64,
    /// Times and errors; `None` in count mode.
    pub sums: Option<Aggregate>,
}

/// The sort key of rows, in descending order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// Self time: without the traced callees.
    #[default]
    Own,
    /// Time of the method and its callees.
    Total,
    /// Number of calls.
    Calls,
    /// The longest call.
    Max,
    /// Calls that ended by an exception.
    Errors,
}

impl Summary {
    /// Adds up traces; a method of several JVMs has one row. Rows of plugin tables are in [`crate::results`].
    #[must_use]
    pub fn of<'t>(traces: impl IntoIterator<Item = &'t Trace>, order: Order) -> Self {
        let traces: Vec<&Trace> = traces.into_iter().collect();
        let names = Names::of(traces.iter().copied());
        let mut rows: BTreeMap<(&str, &str, &str), Row> = BTreeMap::new();
        let mut lost = Lost::default();
        for trace in &traces {
            lost = lost.and(&trace.lost);
            for span in trace.spans.values().filter(|span| span.row.is_none()) {
                let row = rows.entry(key(span)).or_insert_with(|| Row {
                    name: names.method(span),
                    class: class(&span.class),
                    descriptor: printable(&span.descriptor),
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
        Self {
            rows,
            methods,
            open: traces.iter().map(|trace| trace.single.open()).sum(),
            unsummed: traces.iter().map(|trace| unsummed(trace)).sum(),
            lost,
            incomplete: traces.iter().filter_map(|trace| Gap::of(trace)).collect(),
            limited: traces.iter().flat_map(|trace| Limited::of(trace)).collect(),
            only_counted: traces.iter().any(|trace| !trace.counts.is_empty()),
        }
    }
}

impl Gap {
    /// Returns the gap of a trace whose event file ends too early.
    #[must_use]
    pub fn of(trace: &Trace) -> Option<Self> {
        let incomplete = trace.incomplete.as_ref()?;
        Some(Self {
            pid: trace.meta.pid,
            after_ms: incomplete.since_ms.saturating_sub(trace.meta.start_ms),
            cause: printable(&incomplete.cause),
        })
    }
}

impl Limited {
    /// Returns the limits that a trace reached.
    fn of(trace: &Trace) -> impl Iterator<Item = Self> + use<> {
        let ends = trace.single.ends();
        let ms = |nanos: u64| nanos / 1_000_000;
        let kinds = [
            (trace.lost.oldest, true, ends.map(|(first, _)| ms(first))),
            (trace.lost.over_size, false, ends.map(|(_, last)| ms(last))),
        ];
        let pid = trace.meta.pid;
        let kinds = kinds.into_iter().filter(|(calls, ..)| *calls > 0);
        kinds.map(move |(calls, oldest, at_ms)| Self {
            pid,
            calls,
            oldest,
            at_ms,
        })
    }
}

impl fmt::Display for Limited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pid, calls, .. } = self;
        let plural = if *calls == 1 { "" } else { "s" };
        write!(f, "{calls} call{plural} of the JVM {pid}")?;
        if let Some(at) = self.at_ms {
            let side = if self.oldest { "before" } else { "after" };
            let at = at as f64 / 1_000.0;
            write!(f, " that ended {side} {at:.1} s after the trace began")?;
        }
        write!(
            f,
            ", counted here: the event file reached its limit (--max-size)"
        )
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let after = self.after_ms as f64 / 1_000.0;
        write!(
            f,
            "data of the JVM {} is missing from {after:.1} s after the start of the trace on: {}",
            self.pid, self.cause
        )
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

/// Counts the single calls that the sums of a trace lack.
fn unsummed(trace: &Trace) -> u64 {
    let behind = |(span, calls): (u32, u64)| {
        let summed = trace.aggregates.get(&span).map_or(0, |sums| sums.count);
        calls.saturating_sub(summed)
    };
    trace.single.ended().map(behind).sum()
}

fn key(span: &SpanInfo) -> (&str, &str, &str) {
    (&span.class, &span.method, &span.descriptor)
}
