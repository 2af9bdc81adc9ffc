//! Tables that a plugin computes from recorded data.

use std::collections::VecDeque;

use crate::error::Result;
use crate::source::RecordedSource;
use crate::table::Table;
use crate::transformer::Transformer;
use crate::wit::{RecordedEvent, RecordedTable, Sum};
use edits::{ColumnKind, TableKind};

/// A plugin that computes tables when a report is made: by `classhook plugin run`, and by
/// `classhook report` with `--plugin`. It never runs in a JVM. It has 5 s of CPU time and the usual
/// limit of memory.
///
/// ```
/// use classhook_sdk::prelude::*;
/// # const CALLS: Table = Table { name: "calls", columns: &[("class", ColumnKind::Class)] };
/// const TOTAL: Table = Table { name: "total", columns: &[("calls", ColumnKind::Integer)] };
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
    /// A text that the user sees instead of the tables.
    fn report(&self, recorded: &Recorded<'_>, report: &mut Report<'_>) -> Result;
}

/// The recorded data of this plugin.
#[derive(Clone, Copy)]
pub struct Recorded<'a>(&'a dyn RecordedSource);

/// A row of counts and times.
#[derive(Debug, Clone, PartialEq)]
pub struct SumRow {
    /// The key, with a text for each column.
    pub cells: Vec<String>,
    /// The number of calls, or the count.
    pub count: u64,
    /// The number of calls that ended with an exception.
    pub errors: u64,
    /// The sum of all calls, in nanoseconds; 0 if they were only counted.
    pub total: u64,
    /// The longest call, in nanoseconds.
    pub max: u64,
    table: u32,
    row: u32,
}

/// An event.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRow {
    /// The key, with a text for each column.
    pub cells: Vec<String>,
    /// The thread.
    pub thread: String,
    /// Nanoseconds since the start of the recording in its JVM.
    pub nanos: u64,
    /// The process id.
    pub process: u32,
    values: Vec<(String, Option<String>)>,
}

impl EventRow {
    /// Returns a value by its name, as text. Returns `None` if it does not exist or could not be
    /// read.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        let found = self.values.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.as_deref())
    }
}

impl<'a> Recorded<'a> {
    /// Uses the data of this source.
    #[must_use]
    pub fn new(source: &'a dyn RecordedSource) -> Self {
        Self(source)
    }

    /// Iterates over the rows of a table of counts and times, and fetches them page by page. Empty
    /// if the table has no recorded data.
    pub fn sums(self, of: &Table) -> impl Iterator<Item = SumRow> + 'a {
        self.numbers(of, TableKind::Sums)
            .into_iter()
            .flat_map(move |(table, _)| {
                let row = move |(sum, row): (Sum, u32)| SumRow::of(sum, table, row);
                paged(move |start| self.0.sums(table, start)).map(row)
            })
    }

    /// Iterates over the events of a table ([`Table::EVENTS`] for events without a table), and
    /// fetches them page by page. Sorted by time within each JVM.
    pub fn events(self, of: &Table) -> impl Iterator<Item = EventRow> + 'a {
        let tables = self.numbers(of, TableKind::Events).into_iter();
        tables.flat_map(move |(table, names)| {
            let row = move |(event, _)| EventRow::of(event, &names);
            paged(move |start| self.0.events(table, start)).map(row)
        })
    }

    /// Returns the number of times that the points of a table's events were reached, including
    /// events that were not recorded.
    #[must_use]
    pub fn reached(self, of: &Table) -> u64 {
        let tables = self.0.tables().into_iter();
        let of_it = tables.filter(|table| table.kind == TableKind::Events && is(table, of));
        of_it.map(|table| table.reached).sum()
    }

    /// Computes quantiles, each between 0 and 1, of the times of rows of one table together. The
    /// results are in nanoseconds, exact to 12.5 %, and 0 if no row has times.
    ///
    /// # Errors
    /// If the rows belong to several tables, or a quantile is not between 0 and 1.
    #[track_caller]
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
                return Err("quantiles need rows of one table".into());
            }
            numbers.push(row.row);
        }
        Ok(self.0.quantiles(table, &numbers, of)?)
    }

    /// Returns the numbers of the tables with this name and these columns, and the names of their
    /// values.
    fn numbers(self, of: &Table, kind: TableKind) -> Vec<(u32, Vec<String>)> {
        let tables = (0..).zip(self.0.tables());
        let tables = tables.filter(|(_, table)| table.kind == kind && is(table, of));
        tables
            .map(|(number, table)| (number, table.values))
            .collect()
    }
}

fn is(table: &RecordedTable, of: &Table) -> bool {
    table.name == of.name && table.columns == of.columns()
}

/// Iterates over rows with their numbers; fetches the next page at the end of one.
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
    /// The table of events that have no row of another table.
    pub const EVENTS: Table = Table {
        name: "events",
        columns: &[("method", ColumnKind::Method), ("line", ColumnKind::Line)],
    };
}

/// The output of a report.
pub struct Report<'a>(&'a dyn RecordedSource);

impl<'a> Report<'a> {
    /// Sends the tables to this source.
    #[must_use]
    pub fn new(source: &'a dyn RecordedSource) -> Self {
        Self(source)
    }

    /// Adds rows to a table, with a text for each column and numbers in decimal. Texts are cut at
    /// 1,024 bytes. A table without rows is shown as well.
    ///
    /// # Errors
    /// If the cells do not fit the columns, or the report has more than 64 tables; no row is then
    /// added.
    #[track_caller]
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
