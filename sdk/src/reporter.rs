//! Tables that a plugin computes of what was recorded.

use std::collections::VecDeque;

use crate::error::Result;
use crate::source::RecordedSource;
use crate::table::{Kind, Table};
use crate::transformer::Transformer;
use crate::wit::{RecordedEvent, RecordedTable, Sum};

/// A plugin that computes tables when a report is made: by `classhook plugin run`, and by `classhook report` with
/// `--plugin`. Never in a JVM; within 5 s of CPU time, and the memory that every plugin has.
///
/// ```
/// use classhook_sdk::prelude::*;
/// # const CALLS: Table = Table { name: "calls", columns: &[("class", Kind::Class)] };
/// const TOTAL: Table = Table { name: "total", columns: &[("calls", Kind::Integer)] };
/// # struct Calls;
/// # impl Transformer for Calls {
/// #     type Config = NoSettings;
/// #     fn new(_: NoSettings) -> Result<Self> { Ok(Self) }
/// #     fn transform(&self, _: &Class<'_>, _: &mut Plan<'_>) -> Result { Ok(()) }
/// # }
///
/// impl Reporter for Calls {
///     fn report(&self, recorded: &Recorded<'_>, report: &mut Report<'_>) -> Result {
///         let calls: u64 = recorded.sums(&CALLS).map(|row| row.count).sum();
///         report.add(&TOTAL, [[calls.to_string()]])
///     }
/// }
///
/// classhook_sdk::export!(Calls, reporter);
/// # fn main() {}
/// ```
pub trait Reporter: Transformer {
    /// Computes tables.
    ///
    /// # Errors
    /// Its text is shown to the user instead of the tables.
    fn report(&self, recorded: &Recorded<'_>, report: &mut Report<'_>) -> Result;
}

/// What was recorded of this plugin.
#[derive(Clone, Copy)]
pub struct Recorded<'a>(&'a dyn RecordedSource);

/// A row of counts and times.
#[derive(Debug, Clone, PartialEq)]
pub struct SumRow {
    /// Its key, a text for each column.
    pub cells: Vec<String>,
    /// Calls and counts.
    pub count: u64,
    /// Calls that ended by an exception.
    pub errors: u64,
    /// Nanoseconds of all calls; 0 if they were only counted.
    pub total: u64,
    /// Nanoseconds of the longest.
    pub max: u64,
    table: u32,
    row: u32,
}

/// An event.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRow {
    /// Its key, a text for each column.
    pub cells: Vec<String>,
    /// The thread.
    pub thread: String,
    /// Nanoseconds since the recording in its JVM began.
    pub nanos: u64,
    /// The process.
    pub process: u32,
    values: Vec<(String, Option<String>)>,
}

impl EventRow {
    /// A value by its name, as text; none if there is none or it could not be read.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        let found = self.values.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.as_deref())
    }
}

impl<'a> Recorded<'a> {
    /// What this source has.
    #[must_use]
    pub fn new(source: &'a dyn RecordedSource) -> Self {
        Self(source)
    }

    /// The rows of a table of counts and times, page by page; none if nothing was recorded of it.
    pub fn sums(self, of: &Table) -> impl Iterator<Item = SumRow> + 'a {
        self.numbers(of, "sums")
            .into_iter()
            .flat_map(move |(table, _)| {
                let row = move |(sum, row): (Sum, u32)| SumRow::of(sum, table, row);
                paged(move |start| self.0.sums(table, start)).map(row)
            })
    }

    /// The events of a table ([`Table::EVENTS`] for those without), page by page, in the order of time in each JVM.
    pub fn events(self, of: &Table) -> impl Iterator<Item = EventRow> + 'a {
        let tables = self.numbers(of, "events").into_iter();
        tables.flat_map(move |(table, names)| {
            let row = move |(event, _)| EventRow::of(event, &names);
            paged(move |start| self.0.events(table, start)).map(row)
        })
    }

    /// How often the places of a table's events were reached, those events included that were not kept.
    #[must_use]
    pub fn reached(self, of: &Table) -> u64 {
        let tables = self.0.tables().into_iter();
        let of_it = tables.filter(|table| table.kind == "events" && is(table, of));
        of_it.map(|table| table.reached).sum()
    }

    /// Quantiles, each between 0 and 1, of the times of some rows of one table together, in nanoseconds and within
    /// 12.5 %; 0 if none of them was timed.
    ///
    /// # Errors
    /// If the rows are of several tables, or a quantile is none.
    pub fn quantiles<'r>(
        self,
        rows: impl IntoIterator<Item = &'r SumRow>,
        of: &[f64],
    ) -> Result<Vec<u64>> {
        let mut rows = rows.into_iter().peekable();
        let Some(table) = rows.peek().map(|row| row.table) else {
            return Ok(vec![0; of.len()]);
        };
        let mut numbers = Vec::new();
        for row in rows {
            if row.table != table {
                return Err("quantiles are asked of rows of several tables".into());
            }
            numbers.push(row.row);
        }
        Ok(self.0.quantiles(table, &numbers, of)?)
    }

    /// Numbers of the tables with this name and these columns, and the names of their values.
    fn numbers(self, of: &Table, kind: &str) -> Vec<(u32, Vec<String>)> {
        let tables = (0..).zip(self.0.tables());
        let tables = tables.filter(|(_, table)| table.kind == kind && is(table, of));
        tables
            .map(|(number, table)| (number, table.values))
            .collect()
    }
}

fn is(table: &RecordedTable, of: &Table) -> bool {
    let columns = table.columns.iter().map(|it| (&*it.name, &*it.kind));
    let wanted = of.columns.iter().map(|(name, kind)| (*name, kind.as_str()));
    table.name == of.name && columns.eq(wanted)
}

/// Rows with their numbers; the source is asked again where a page ends.
fn paged<T>(ask: impl Fn(u32) -> Vec<T>) -> impl Iterator<Item = (T, u32)> {
    let (mut page, mut next) = (VecDeque::new(), 0_u32);
    std::iter::from_fn(move || {
        if page.is_empty() {
            page.extend(ask(next));
        }
        let row = page.pop_front()?;
        next += 1;
        Some((row, next - 1))
    })
}

impl SumRow {
    fn of(sum: Sum, table: u32, row: u32) -> Self {
        let times = sum.times.as_ref();
        Self {
            count: sum.count,
            errors: times.map_or(0, |times| times.errors),
            total: times.map_or(0, |times| times.total),
            max: times.map_or(0, |times| times.max),
            cells: sum.cells,
            table,
            row,
        }
    }
}

impl EventRow {
    fn of(event: RecordedEvent, names: &[String]) -> Self {
        Self {
            cells: event.cells,
            thread: event.thread,
            nanos: event.nanos,
            process: event.process,
            values: names.iter().cloned().zip(event.values).collect(),
        }
    }
}

impl Table {
    /// The table of events that have no row of another.
    pub const EVENTS: Table = Table {
        name: "events",
        columns: &[("method", Kind::Method), ("line", Kind::Line)],
    };
}

/// What is reported.
pub struct Report<'a>(&'a dyn RecordedSource);

impl<'a> Report<'a> {
    /// Goes to this source.
    #[must_use]
    pub fn new(source: &'a dyn RecordedSource) -> Self {
        Self(source)
    }

    /// Adds rows to a table, a text for each of its columns, numbers in decimal; longer ones than 1,024 bytes are cut. A
    /// table without rows is shown, too.
    ///
    /// # Errors
    /// If cells and columns do not go together, or there are more than 64 tables; no row is added then.
    pub fn add<R, C>(&mut self, table: &Table, rows: R) -> Result
    where
        R: IntoIterator,
        R::Item: IntoIterator<Item = C>,
        C: Into<String>,
    {
        let row = |cells: R::Item| cells.into_iter().map(Into::into).collect();
        let rows: Vec<Vec<String>> = rows.into_iter().map(row).collect();
        Ok(self.0.add_rows(table, &rows)?)
    }
}
