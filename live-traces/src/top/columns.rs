//! The columns of a table of rates.

use std::cmp::Ordering;

use trace::rates::Rate;
use trace::table::{duration, thousands};

/// A column. Counts are of one interval, and times per second of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// Name of the row
    Name,
    /// Calls that ended
    Calls,
    /// Ended calls per second
    PerSecond,
    /// Calls per second that ended with an exception
    Errors,
    /// Time in the methods themselves, per second
    Own,
    /// Time from entry to end, per second
    Total,
    /// Average time of a call
    Mean,
    /// 99th percentile of the time of a call
    P99,
}

impl Column {
    /// All columns, from left to right.
    pub const ALL: [Self; 8] = [
        Self::Name,
        Self::Calls,
        Self::PerSecond,
        Self::Errors,
        Self::Own,
        Self::Total,
        Self::Mean,
        Self::P99,
    ];

    /// Columns to hide on a narrow screen, the first ones first.
    pub const DISPENSABLE: [Self; 5] = [
        Self::P99,
        Self::Mean,
        Self::Calls,
        Self::Total,
        Self::Errors,
    ];

    /// Returns the title.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Calls => "calls",
            Self::PerSecond => "calls/s",
            Self::Errors => "errors/s",
            Self::Own => "self/s",
            Self::Total => "total/s",
            Self::Mean => "mean",
            Self::P99 => "p99",
        }
    }

    /// Returns the text of a row for an interval of this length.
    #[must_use]
    pub fn cell(self, rate: &Rate, seconds: f64) -> String {
        let time = |nanos: Option<u64>| nanos.map_or_else(nothing, duration);
        let of_second = |nanos: Option<u64>| time(nanos.map(|nanos| per(nanos, seconds) as u64));
        match self {
            Self::Name => rate.name.clone(),
            Self::Calls => thousands(rate.calls),
            Self::PerSecond => number(per(rate.calls, seconds)),
            Self::Errors => match rate.errors {
                None | Some(0) => nothing(),
                Some(errors) => number(per(errors, seconds)),
            },
            Self::Own => of_second(rate.own),
            Self::Total => of_second(rate.total),
            Self::Mean => time(rate.mean),
            Self::P99 => time(rate.p99),
        }
    }

    /// Compares two rows: higher numbers come first, and names in alphabetical order. Equal rows are ordered by calls and
    /// name.
    #[must_use]
    pub fn compare(self, one: &Rate, other: &Rate) -> Ordering {
        let by = |value: fn(&Rate) -> Option<u64>| value(other).cmp(&value(one));
        let first = match self {
            Self::Name => one.name.cmp(&other.name),
            Self::Calls | Self::PerSecond => Ordering::Equal,
            Self::Errors => by(|rate| rate.errors),
            Self::Own => by(|rate| rate.own),
            Self::Total => by(|rate| rate.total),
            Self::Mean => by(|rate| rate.mean),
            Self::P99 => by(|rate| rate.p99),
        };
        first
            .then_with(|| other.calls.cmp(&one.calls))
            .then_with(|| one.name.cmp(&other.name))
    }
}

/// Returns a count per second.
#[must_use]
pub fn per(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        count as f64 / seconds
    } else {
        0.0
    }
}

/// Formats a number: whole from 10 on, with a decimal below.
#[must_use]
pub fn number(value: f64) -> String {
    if value < 9.95 {
        format!("{value:.1}")
    } else {
        thousands(value.round() as u64)
    }
}

fn nothing() -> String {
    "-".to_owned()
}
