//! Rows and tables before printing.

use crate::names::printable;

/// A row without a rank.
pub(super) struct Row {
    /// The first sort key, from which shares are computed.
    pub weight: f64,
    /// The second sort key.
    pub then: f64,
    /// The cells after rank and shares, except the last one.
    pub cells: Vec<String>,
    /// The stack of the row.
    pub node: Option<u32>,
    /// Name of the method or class.
    pub name: String,
}

/// A table with its heading and the titles of its cells.
pub(super) struct Table<'a> {
    pub heading: String,
    pub titles: &'a [&'a str],
    pub name: &'a str,
    pub rows: Vec<Row>,
    /// The text of an empty table.
    pub nothing: &'a str,
    /// Number of samples behind the shares; `None` if everything was counted.
    pub samples: Option<u64>,
    /// The whole for shares, if it is more than the sum of the rows.
    pub whole: Option<f64>,
}

/// The stack with the largest number.
#[derive(Default)]
pub(super) struct HeaviestStack {
    pub node: Option<u32>,
    pub most: u64,
}

impl HeaviestStack {
    pub fn see(&mut self, node: Option<u32>, amount: u64) {
        if amount >= self.most {
            (self.node, self.most) = (node, amount);
        }
    }
}

pub(super) fn percent(part: f64, whole: f64) -> String {
    match whole {
        0.0 => "-".to_owned(),
        whole => format!("{:.2}%", part / whole * 100.0),
    }
}

/// Returns the printed form of a class.
pub(super) fn named(class: &str) -> String {
    match class {
        "" => "(unknown)".to_owned(),
        class => printable(class),
    }
}
