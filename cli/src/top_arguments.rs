//! Values of the options of `top`.

use clap::ValueEnum;
use live_traces::top::columns;
use trace::rates::Group;

/// A column. Counts are of one interval, and times per second of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Column {
    /// Name of the row
    Name,
    /// Calls that ended
    Calls,
    /// Ended calls per second
    #[value(name = "rate")]
    PerSecond,
    /// Calls per second that ended with an exception
    Errors,
    /// Time in the methods themselves, per second
    #[value(name = "self")]
    Own,
    /// Time from entry to end, per second
    Total,
    /// Average time of a call
    Mean,
    /// 99th percentile of the time of a call
    P99,
}

impl From<Column> for columns::Column {
    fn from(column: Column) -> Self {
        match column {
            Column::Name => Self::Name,
            Column::Calls => Self::Calls,
            Column::PerSecond => Self::PerSecond,
            Column::Errors => Self::Errors,
            Column::Own => Self::Own,
            Column::Total => Self::Total,
            Column::Mean => Self::Mean,
            Column::P99 => Self::P99,
        }
    }
}

/// The element that a row shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum RowGroup {
    /// Packages
    Package,
    /// Classes
    Class,
    /// Methods
    #[default]
    Method,
    /// Threads
    Thread,
}

impl From<RowGroup> for Group {
    fn from(by: RowGroup) -> Self {
        match by {
            RowGroup::Package => Self::Package,
            RowGroup::Class => Self::Class,
            RowGroup::Method => Self::Method,
            RowGroup::Thread => Self::Thread,
        }
    }
}
