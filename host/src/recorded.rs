//! What was recorded of a plugin, as it may ask for it when a report is made.

use std::sync::Arc;

use plan_rules::ComputedTables;

/// Most rows of one answer.
pub const PAGE: usize = 1_000;

/// A table of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedTable {
    /// Its name.
    pub name: String,
    /// Whether its rows are events; else they are counts and times.
    pub is_events: bool,
    /// The columns of the key: names and kinds.
    pub columns: Vec<(String, String)>,
    /// What the values of its events are called.
    pub values: Vec<String>,
    /// How many rows there are.
    pub rows: usize,
    /// How often the places of its events were reached.
    pub reached: u64,
}

/// A row of counts and times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedSum {
    /// Its key.
    pub cells: Vec<String>,
    /// Calls and counts.
    pub count: u64,
    /// Errors, time of all calls and of the longest in nanoseconds; none if it was only counted.
    pub times: Option<(u64, u64, u64)>,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedEvent {
    /// Its key.
    pub cells: Vec<String>,
    /// Its values as texts.
    pub values: Vec<Option<String>>,
    /// The thread.
    pub thread: String,
    /// Nanoseconds since the recording began.
    pub nanos: u64,
    /// The process.
    pub process: u32,
}

/// What was recorded of one plugin.
pub trait Recorded: Send + Sync {
    /// Its tables.
    fn tables(&self) -> Vec<RecordedTable>;
    /// A row of a table of counts and times.
    fn sum(&self, table: usize, row: usize) -> Option<RecordedSum>;
    /// A row of a table of events.
    fn event(&self, table: usize, row: usize) -> Option<RecordedEvent>;
    /// Quantiles of the times of rows together; none without such a table or row.
    fn quantiles(&self, table: usize, rows: &[u32], of: &[f64]) -> Option<Vec<u64>>;
}

/// Nothing was recorded, or it is not the time to ask.
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
    /// What was recorded.
    pub recorded: Arc<dyn Recorded>,
    /// What the plugin computed so far.
    pub computed: ComputedTables,
}
