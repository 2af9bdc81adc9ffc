//! Tables with a plugin's results.

use edits::{Column, ColumnKind, Row, Tag};

/// A table: its name, and the columns of its key.
///
/// ```
/// use classhook_sdk::{ColumnKind, Table};
///
/// const CALLS: Table = Table {
///     name: "calls",
///     columns: &[("method", ColumnKind::Method), ("line", ColumnKind::Line)],
/// };
/// ```
///
/// The plugin creates rows with [`Table::row`] and passes them to [`crate::Plan::count`] and
/// [`crate::Plan::span`] as tags. Counts and times come from these probes, without any code of the
/// plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// The name: letters, digits, `-` and `_`. A table whose name begins with `_` is only input for
    /// [`crate::Reporter::report`]. The command shows it only with `--table`, but writes it to
    /// files.
    pub name: &'static str,
    /// The columns of the key, at most 16, with names of the same characters.
    pub columns: &'static [(&'static str, ColumnKind)],
}

impl Table {
    /// Creates a row, which is used as the tag of counts, spans and events. Counts and times of rows
    /// with the same cells are added up; each event is a separate row with these cells in front.
    /// `classhook report` and `classhook plugin run` show both.
    ///
    /// `cells` is the key of the row, with a text for each column and numbers in decimal. Texts are
    /// cut at 1,024 bytes. A request with an invalid row is rejected.
    #[must_use]
    pub fn row(&self, cells: &[&str]) -> Tag {
        Tag::Row(Row {
            table: self.name.to_owned(),
            columns: self.columns(),
            cells: cells.iter().map(|cell| (*cell).to_owned()).collect(),
        })
    }

    /// Returns the columns as values of the interface.
    #[doc(hidden)]
    #[must_use]
    pub fn columns(&self) -> Vec<Column> {
        let columns = self.columns.iter();
        let column = |(name, kind): &(&str, ColumnKind)| Column {
            name: (*name).to_owned(),
            kind: *kind,
        };
        columns.map(column).collect()
    }
}
