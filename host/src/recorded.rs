//! The recorded data of a plugin, which it can query when a report is made.

use std::sync::Arc;

use plan_rules::ComputedTables;

/// Maximum number of rows in one answer.
pub const PAGE: usize = 1_000;

/// A table of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedTable {
    /// Its name.
    pub name: String,
    /// `true` if its rows are events, `false` if they are counts and times.
    pub is_events: bool,
    /// The columns of the key, with names and kinds.
    pub columns: Vec<(String, String)>,
    /// The names of the events' values.
    pub values: Vec<String>,
    /// The number of rows.
    pub rows: usize,
    /// The number of times that the places of its events were reached.
    pub reached: u64,
}

/// A row of counts and times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedSum {
    /// The key.
    pub cells: Vec<String>,
    /// The number of calls, or the count.
    pub count: u64,
    /// The number of exceptions, the total time and the longest time of calls in nanoseconds;
    /// `None` for a count.
    pub times: Option<(u64, u64, u64)>,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedEvent {
    /// The key.
    pub cells: Vec<String>,
    /// The values as texts.
    pub values: Vec<Option<String>>,
    /// The thread.
    pub thread: String,
    /// Nanoseconds since the start of the recording.
    pub nanos: u64,
    /// The process id.
    pub process: u32,
}

/// The recorded data of one plugin.
pub trait Recorded: Send + Sync {
    /// Returns the tables of the plugin.
    fn tables(&self) -> Vec<RecordedTable>;
    /// Returns a row of a table of counts and times.
    fn sum(&self, table: usize, row: usize) -> Option<RecordedSum>;
    /// Returns a row of a table of events.
    fn event(&self, table: usize, row: usize) -> Option<RecordedEvent>;
    /// Returns quantiles of the durations in all given rows together. Returns `None` if the table
    /// or a row does not exist.
    fn quantiles(&self, table: usize, rows: &[u32], of: &[f64]) -> Option<Vec<u64>>;
}

/// No recorded data, used outside of reports.
pub struct NothingRecorded;

impl Recorded for NothingRecorded {
    fn tables(&self) -> Vec<RecordedTable> {
        Vec::new()
    }
    fn sum(&self, _: usize, _: usize) -> Option<RecordedSum> {
        None
    }
    fn event(&self, _: usize, _: usize) -> Option<RecordedEvent> {
        None
    }
    fn quantiles(&self, _: usize, _: &[u32], _: &[f64]) -> Option<Vec<u64>> {
        None
    }
}

/// A call of a plugin's `report`, or of an observer's `on-results`.
pub struct ReportCall {
    /// The recorded data.
    pub recorded: Arc<dyn Recorded>,
    /// The tables that the plugin computed so far.
    pub computed: ComputedTables,
}
