//! Tables of what a plugin finds.

/// A table: its name, and the columns of its key.
///
/// ```
/// use classhook_sdk::{Kind, Table};
///
/// const CALLS: Table = Table {
///     name: "calls",
///     columns: &[("method", Kind::Method), ("line", Kind::Line)],
/// };
/// ```
///
/// The plugin makes rows with [`crate::Plan::row`] and hands them to [`crate::Plan::count`] and [`crate::Plan::span`] as
/// tags; counts and times come from these probes, and no code of the plugin runs for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Its name: letters, digits, `-` and `_`. One that begins with `_` is there for [`crate::Reporter::report`] alone:
    /// the command shows it when it is asked for with `--table`, and its files have it.
    pub name: &'static str,
    /// The columns of its key, at most 16, with names of the same letters.
    pub columns: &'static [(&'static str, Kind)],
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
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
    /// A method's name, with its class or without.
    Method,
    /// The number of a line.
    Line,
}

impl Kind {
    /// Its name in the interface.
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
