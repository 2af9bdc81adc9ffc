//! Rows of a plugin's tables. The tag of a probe can be a row, which names its counts and times.

use std::fmt;

use edits::ColumnKind;

use crate::refusal::RefusedRequest;

/// Maximum number of columns of a table.
const MAX_COLUMNS: usize = 16;
/// Maximum bytes of the name of a table or column.
pub const MAX_NAME_BYTES: usize = 64;
/// Maximum bytes kept of one cell.
const MAX_CELL_BYTES: usize = 1 << 10;
/// The first bytes of a tag that is a row.
const MAGIC: &[u8] = b"\0row\x01";

/// The key of a table row; its values are the counts and times of the probes with this tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The table's name.
    pub table: String,
    /// The columns of the key: names and types.
    pub columns: Vec<(String, String)>,
    /// One text for each column, numbers in decimal.
    pub cells: Vec<String>,
}

impl Row {
    /// Creates a row; longer cells are cut.
    ///
    /// # Errors
    /// A name is invalid, a column type is unknown, or cells and columns differ in number.
    pub fn new(
        table: String,
        columns: Vec<(String, String)>,
        mut cells: Vec<String>,
    ) -> Result<Self, RefusedRequest> {
        expect_columns(&table, &columns)?;
        fit(&table, &columns, &mut cells)?;
        Ok(Self {
            table,
            columns,
            cells,
        })
    }

    /// Creates the row of a tag.
    ///
    /// # Errors
    /// As [`Row::new`].
    pub fn of(row: edits::Row) -> Result<Self, RefusedRequest> {
        Self::new(row.table, columns(row.columns), row.cells)
    }

    /// Encodes the row as a tag.
    #[must_use]
    pub fn to_tag(&self) -> Vec<u8> {
        let mut tag = MAGIC.to_vec();
        let mut put = |text: &str| {
            // A cell has at most MAX_CELL_BYTES.
            tag.extend_from_slice(&(text.len() as u16).to_le_bytes());
            tag.extend_from_slice(text.as_bytes());
        };
        put(&self.table);
        for ((name, kind), cell) in self.columns.iter().zip(&self.cells) {
            put(name);
            put(kind);
            put(cell);
        }
        tag
    }

    /// Decodes the row in a tag; `None` for the plugin's other tags.
    #[must_use]
    pub fn of_tag(tag: &[u8]) -> Option<Self> {
        let mut rest = tag.strip_prefix(MAGIC)?;
        let table = text(&mut rest)?;
        let (mut columns, mut cells) = (Vec::new(), Vec::new());
        while !rest.is_empty() {
            columns.push((text(&mut rest)?, text(&mut rest)?));
            cells.push(text(&mut rest)?);
        }
        Self::new(table, columns, cells).ok()
    }
}

/// Returns names and kinds of columns.
#[must_use]
pub fn columns(columns: Vec<edits::Column>) -> Vec<(String, String)> {
    let columns = columns.into_iter();
    columns
        .map(|column| (column.name, column.kind.as_str().to_owned()))
        .collect()
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row of {}:", self.table)?;
        for ((name, _), cell) in self.columns.iter().zip(&self.cells) {
            write!(f, " {name} {cell:?}")?;
        }
        Ok(())
    }
}

/// Checks names and types of columns.
pub(crate) fn expect_columns(
    table: &str,
    columns: &[(String, String)],
) -> Result<(), RefusedRequest> {
    expect_name(table)?;
    if columns.len() > MAX_COLUMNS {
        let (found, cause) = (columns.len(), format!("at most {MAX_COLUMNS} columns"));
        return Err(unsuitable(table, &cause, &found.to_string()));
    }
    for (name, kind) in columns {
        expect_name(name)?;
        if ColumnKind::named(kind).is_none() {
            let known = ColumnKind::ALL.map(ColumnKind::as_str).join(", ");
            let cause = format!("one of {known} as the kind of `{name}`");
            return Err(unsuitable(table, &cause, kind));
        }
    }
    Ok(())
}

/// Checks that cells match columns, and cuts longer cells.
pub(crate) fn fit(
    table: &str,
    columns: &[(String, String)],
    cells: &mut [String],
) -> Result<(), RefusedRequest> {
    if cells.len() != columns.len() {
        let cause = format!("{} cells, one for each column", columns.len());
        return Err(unsuitable(table, &cause, &cells.len().to_string()));
    }
    for ((name, kind), cell) in columns.iter().zip(cells) {
        expect_cell(table, name, kind, cell)?;
        escape::cut(cell, MAX_CELL_BYTES);
    }
    Ok(())
}

/// Reads a text.
fn text(rest: &mut &[u8]) -> Option<String> {
    let (length, behind) = rest.split_first_chunk::<2>()?;
    let (text, behind) = behind.split_at_checked(u16::from_le_bytes(*length).into())?;
    *rest = behind;
    String::from_utf8(text.to_vec()).ok()
}

/// Checks whether a table or column may have this name, which becomes a part of a file name.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    (1..=MAX_NAME_BYTES).contains(&name.len()) && name.chars().all(fits)
}

pub(crate) fn expect_name(name: &str) -> Result<(), RefusedRequest> {
    if is_name(name) {
        return Ok(());
    }
    let cause = format!(
        "expected 1 to {MAX_NAME_BYTES} letters, digits, `-` and `_` as the name of a table, column or value, found `{}`",
        name.get(..name.floor_char_boundary(MAX_NAME_BYTES))
            .unwrap_or_default()
    );
    Err(RefusedRequest::unsuitable(None, &cause))
}

fn expect_cell(table: &str, column: &str, kind: &str, cell: &str) -> Result<(), RefusedRequest> {
    if ColumnKind::named(kind).is_some_and(ColumnKind::is_number) && cell.parse::<i64>().is_err() {
        let cause = format!("a decimal number in `{column}`, which is of the kind {kind}");
        return Err(unsuitable(table, &cause, cell));
    }
    Ok(())
}

pub(crate) fn unsuitable(table: &str, expected: &str, found: &str) -> RefusedRequest {
    let found = found.get(..found.floor_char_boundary(MAX_NAME_BYTES));
    let found = found.unwrap_or_default();
    let cause = format!("expected {expected}, in the table `{table}`, found `{found}`");
    RefusedRequest::unsuitable(None, &cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(kinds: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |(name, kind): &(&str, &str)| ((*name).to_owned(), (*kind).to_owned());
        kinds.iter().map(owned).collect()
    }

    fn row(kinds: &[(&str, &str)], cells: &[&str]) -> Result<Row, RefusedRequest> {
        let cells = cells.iter().map(|cell| (*cell).to_owned()).collect();
        Row::new("calls".to_owned(), columns(kinds), cells)
    }

    #[test]
    fn row_round_trips_through_its_tag() {
        let row = row(&[("method", "method"), ("line", "line")], &["a.B.f é", "7"]).unwrap();
        assert_eq!(Row::of_tag(&row.to_tag()), Some(row.clone()));
        assert_eq!(
            row.to_string(),
            "row of calls: method \"a.B.f é\" line \"7\""
        );
    }

    #[test]
    fn other_tags_and_parts_of_rows_are_no_rows() {
        let tag = row(&[("a", "text")], &["b"]).unwrap().to_tag();
        assert_eq!(Row::of_tag(b""), None);
        assert_eq!(Row::of_tag(b"entry"), None);
        for end in 0..tag.len() {
            let part = Row::of_tag(&tag[..end]);
            assert!(part.is_none_or(|row| row.columns.is_empty()), "{end}");
        }
    }

    #[test]
    fn cells_fit_their_columns() {
        for (kinds, cells, part) in [
            (&[("a", "text")][..], &[][..], "expected 1 cells"),
            (
                &[("a", "colour")],
                &["red"],
                "expected one of text, integer",
            ),
            (&[("a", "line")], &["first"], "a decimal number in `a`"),
            (&[("a b", "text")], &[""], "found `a b`"),
            (&[("", "text")], &[""], "expected 1 to 64"),
        ] {
            let refused = row(kinds, cells).unwrap_err();
            assert_eq!(refused.code, "H0317");
            assert!(refused.message.contains(part), "{}", refused.message);
        }
        let many = vec![("a", "text"); MAX_COLUMNS + 1];
        assert!(row(&many, &[""; MAX_COLUMNS + 1]).is_err());
        let long = row(&[("a", "text")], &[&"é".repeat(MAX_CELL_BYTES)]).unwrap();
        assert_eq!(long.cells[0].len(), MAX_CELL_BYTES);
    }
}
