//! Rows and tables before they are printed.

use crate::names::printable;

/// A row before it has a rank.
pub(super) struct Row {
    /// What it is sorted by, and what its part is taken of.
    pub weight: f64,
    /// What rows of one weight are sorted by.
    pub then: f64,
    /// The cells behind rank and parts, without the last.
    pub cells: Vec<String>,
    /// The stack that it comes from.
    pub node: Option<u32>,
    /// What it is of: a method, a class.
    pub name: String,
}

/// A table: what it is called, and the titles of a row's cells.
pub(super) struct Table<'a> {
    pub heading: String,
    pub titles: &'a [&'a str],
    pub name: &'a str,
    pub rows: Vec<Row>,
    /// What an empty one says.
    pub nothing: &'a str,
    /// Of how many samples the parts are estimated; none if everything was counted.
    pub samples: Option<u64>,
    /// The whole of which rows are parts, if it is more than their sum.
    pub whole: Option<f64>,
}

/// The stack with the most of something.
#[derive(Default)]
pub(super) struct Hottest {
    pub node: Option<u32>,
    pub most: u64,
}

impl Hottest {
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

/// Returns a class as it is printed.
pub(super) fn named(class: &str) -> String {
    match class {
        "" => "(unknown)".to_owned(),
        class => printable(class),
    }
}
