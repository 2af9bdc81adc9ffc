//! Tables with a plugin's results.

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
/// The plugin creates rows with [`crate::Plan::row`] and passes them to [`crate::Plan::count`] and
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

/// The kind of values in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Any text.
    Text,
    /// A number.
    Integer,
    /// Nanoseconds.
    Duration,
    /// A number of bytes.
    Bytes,
    /// A class's name.
    Class,
    /// A method's name, with or without its class.
    Method,
    /// A line number.
    Line,
}

impl ColumnKind {
    /// The name of the kind in the interface.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "integer",
            Self::Duration => "duration",
            Self::Bytes => "bytes",
            Self::Class => "class",
            Self::Method => "method",
            Self::Line => "line",
        }
    }
}
