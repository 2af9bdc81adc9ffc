//! The marks of a plugin on its probes.

/// A plugin's mark on probes, a part of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tag {
    /// No mark.
    None,
    /// The plugin's own bytes.
    Bytes(Vec<u8>),
    /// A row of a table, in which the probes are counted and timed.
    Row(Row),
}

impl From<&[u8]> for Tag {
    fn from(bytes: &[u8]) -> Self {
        match bytes {
            [] => Self::None,
            bytes => Self::Bytes(bytes.to_vec()),
        }
    }
}

impl<const N: usize> From<&[u8; N]> for Tag {
    fn from(bytes: &[u8; N]) -> Self {
        Self::from(&bytes[..])
    }
}

impl From<&Vec<u8>> for Tag {
    fn from(bytes: &Vec<u8>) -> Self {
        Self::from(&bytes[..])
    }
}

impl From<&Tag> for Tag {
    fn from(tag: &Tag) -> Self {
        tag.clone()
    }
}

impl From<Row> for Tag {
    fn from(row: Row) -> Self {
        Self::Row(row)
    }
}

/// The key of a table row; its values are the counts and times of the probes with this tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The table's name.
    pub table: String,
    /// The columns of the key.
    pub columns: Vec<Column>,
    /// One text for each column, numbers in decimal.
    pub cells: Vec<String>,
}

/// A column of a table's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The kind of its values.
    pub kind: ColumnKind,
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
    /// The kinds.
    pub const ALL: [Self; 7] = [
        Self::Text,
        Self::Integer,
        Self::Duration,
        Self::Bytes,
        Self::Class,
        Self::Method,
        Self::Line,
    ];

    /// Returns the name of the kind in the interface.
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

    /// Returns the kind with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Checks for a kind of numbers.
    #[must_use]
    pub fn is_number(self) -> bool {
        matches!(
            self,
            Self::Integer | Self::Duration | Self::Bytes | Self::Line
        )
    }
}
