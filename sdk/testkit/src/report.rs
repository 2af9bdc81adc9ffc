//! Runs a plugin's report without a real recording.

use std::cell::RefCell;
use std::fmt::Write as _;

use classhook_sdk::source::RecordedSource;
use classhook_sdk::wit::{RecordedEvent, RecordedTable, Sum, Times};
use classhook_sdk::{Error, Recorded, Report, Reporter, Table};
use edits::{Refusal, TableKind};
use plan_rules::{ComputedTable, ComputedTables, RefusedRequest};

use crate::Harness;

/// The recorded rows of one run, in the order of addition.
///
/// ```
/// use classhook_testkit::Recording;
/// # use classhook_sdk::{ColumnKind, Table};
/// # const CALLS: Table = Table { name: "calls", columns: &[("class", ColumnKind::Class)] };
/// # const TIMES: Table = Table { name: "times", columns: &[("statement", ColumnKind::Text)] };
///
/// let recording = Recording::default()
///     .counted(&CALLS, &["com.acme.Store"], 12)
///     .timed(&TIMES, &["select 1"], &[1_000, 3_000])
///     .event(&Table::EVENTS, &["com.acme.Store.find", "7"], &[("id", "42")]);
/// ```
#[derive(Debug, Default)]
pub struct Recording {
    tables: Vec<Rows>,
}

/// A recorded table.
#[derive(Debug)]
struct Rows {
    about: RecordedTable,
    sums: Vec<(Sum, Vec<u64>)>,
    events: Vec<RecordedEvent>,
}

impl Recording {
    /// Adds a row with a count.
    #[must_use]
    pub fn counted(self, table: &Table, cells: &[&str], count: u64) -> Self {
        let row = Sum {
            cells: owned(cells),
            count,
            times: None,
        };
        self.sum(table, row, Vec::new())
    }

    /// Adds a row with times: the nanoseconds of each of its calls.
    #[must_use]
    pub fn timed(self, table: &Table, cells: &[&str], calls: &[u64]) -> Self {
        let times = Times {
            errors: 0,
            total: calls.iter().sum(),
            max: calls.iter().copied().max().unwrap_or(0),
        };
        let row = Sum {
            cells: owned(cells),
            count: calls.len() as u64,
            times: Some(times),
        };
        self.sum(table, row, calls.to_vec())
    }

    /// Adds an event, in the thread `main` of process 1, a microsecond after the previous one.
    #[must_use]
    pub fn event(mut self, table: &Table, cells: &[&str], values: &[(&str, &str)]) -> Self {
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        let rows = self.rows(table, TableKind::Events, &owned(&names));
        let nanos = 1_000 * rows.events.len() as u64;
        rows.events.push(RecordedEvent {
            cells: owned(cells),
            values: values
                .iter()
                .map(|(_, it)| Some((*it).to_owned()))
                .collect(),
            thread: "main".to_owned(),
            nanos,
            process: 1,
        });
        rows.about.rows += 1;
        rows.about.reached += 1;
        self
    }

    fn sum(mut self, table: &Table, row: Sum, mut calls: Vec<u64>) -> Self {
        calls.sort_unstable();
        let rows = self.rows(table, TableKind::Sums, &[]);
        rows.sums.push((row, calls));
        rows.about.rows += 1;
        self
    }

    fn rows(&mut self, table: &Table, kind: TableKind, values: &[String]) -> &mut Rows {
        let columns = table.columns();
        let is = |rows: &Rows| {
            let about = &rows.about;
            about.name == table.name
                && about.kind == kind
                && about.columns == columns
                && about.values == values
        };
        let at = match self.tables.iter().position(is) {
            Some(at) => at,
            None => {
                self.tables.push(Rows {
                    about: RecordedTable {
                        name: table.name.to_owned(),
                        kind,
                        columns,
                        values: values.to_vec(),
                        rows: 0,
                        reached: 0,
                    },
                    sums: Vec::new(),
                    events: Vec::new(),
                });
                self.tables.len() - 1
            }
        };
        &mut self.tables[at]
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Number of rows per page, fewer than in production. This detects a plugin that reads only one
/// page.
const PAGE: usize = 2;

/// A report that is being computed from a recording.
pub(crate) struct Making<'r> {
    recording: &'r Recording,
    computed: RefCell<ComputedTables>,
}

impl<'r> Making<'r> {
    pub fn new(recording: &'r Recording) -> Self {
        Self {
            recording,
            computed: RefCell::default(),
        }
    }

    pub fn reported(self, result: Result<(), Error>) -> Reported {
        Reported {
            error: result.err(),
            tables: self.computed.into_inner().into_tables(),
        }
    }
}

impl RecordedSource for Making<'_> {
    fn tables(&self) -> Vec<RecordedTable> {
        let tables = self.recording.tables.iter();
        tables.map(|rows| rows.about.clone()).collect()
    }

    fn sums(&self, table: u32, start: u32) -> Vec<Sum> {
        let rows = self.recording.tables.get(table as usize);
        let rows = rows.into_iter().flat_map(|rows| &rows.sums);
        let rows = rows.skip(start as usize).take(PAGE);
        rows.map(|(row, _)| row.clone()).collect()
    }

    fn events(&self, table: u32, start: u32) -> Vec<RecordedEvent> {
        let rows = self.recording.tables.get(table as usize);
        let rows = rows.into_iter().flat_map(|rows| &rows.events);
        rows.skip(start as usize).take(PAGE).cloned().collect()
    }

    fn quantiles(&self, table: u32, rows: &[u32], of: &[f64]) -> Result<Vec<u64>, Refusal> {
        if let Some(wrong) = of.iter().find(|it| !(0.0..=1.0).contains(*it)) {
            let cause = format!("expected quantiles between 0 and 1, found {wrong}");
            return Err(RefusedRequest::unsuitable(None, &cause).into());
        }
        let known = &self.recording.tables[table as usize].sums;
        let mut calls: Vec<u64> = Vec::new();
        for row in rows {
            calls.extend(&known[*row as usize].1);
        }
        calls.sort_unstable();
        let rank = |quantile: f64| (quantile * calls.len() as f64).ceil().max(1.0) as usize - 1;
        let value = |quantile: &f64| calls.get(rank(*quantile)).copied().unwrap_or(0);
        Ok(of.iter().map(value).collect())
    }

    fn add_rows(&self, table: &Table, rows: &[Vec<String>]) -> Result<(), Refusal> {
        let columns = plan_rules::columns(table.columns());
        let mut computed = self.computed.borrow_mut();
        let added = computed.add(table.name.to_owned(), columns, rows.to_vec());
        added.map_err(Refusal::from)
    }
}

impl<T: Reporter> Harness<T> {
    /// Runs the plugin's report on a recording.
    ///
    /// # Panics
    /// If the plugin rejects its configuration.
    #[must_use]
    pub fn report(&self, recording: &Recording) -> Reported {
        let plugin = self
            .plugin()
            .unwrap_or_else(|error| panic!("the plugin rejects its configuration: {error}"));
        let making = Making::new(recording);
        let reported = plugin.report(&Recorded::new(&making), &mut Report::new(&making));
        making.reported(reported)
    }
}

/// The computed tables of a plugin.
#[derive(Debug)]
pub struct Reported {
    tables: Vec<ComputedTable>,
    error: Option<Error>,
}

impl Reported {
    /// The tables, in the order of their declaration.
    #[must_use]
    pub fn tables(&self) -> &[ComputedTable] {
        &self.tables
    }

    /// The error of a plugin that gave up; its tables are then not shown.
    #[must_use]
    pub fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    /// Asserts all cells of a table: a line with the names of its columns, and a line for each row,
    /// separated by commas.
    ///
    /// # Panics
    /// If the table differs or does not exist, or the plugin gave up.
    pub fn assert_table(&self, name: &str, expected: &str) {
        if let Some(error) = &self.error {
            panic!("the plugin gave up: {error}");
        }
        let found = self.tables.iter().find(|table| table.name == name);
        let table = found.unwrap_or_else(|| panic!("there is no table {name}: {self:?}"));
        let titles: Vec<&str> = table.columns.iter().map(|(name, _)| &**name).collect();
        let mut text = titles.join(",");
        for row in &table.rows {
            let _ = write!(text, "\n{}", row.join(","));
        }
        text.push('\n');
        assert_eq!(text, expected, "the table {name} is not the expected one");
    }
}
