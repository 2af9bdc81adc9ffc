//! Cells of plugin tables: as text, CSV and JSON.

use serde_json::{Value, json};

use probes::events::Column;

use crate::names::printable;
use crate::sheet::{Cell, Title};
use crate::table::duration;

/// Checks whether cells of this kind are numbers.
pub(crate) fn is_number(kind: &str) -> bool {
    matches!(kind, "integer" | "duration" | "bytes" | "line")
}

/// Returns a cell as JSON.
pub(crate) fn cell_json(cell: &str, kind: &str) -> Value {
    let number = cell.parse::<i64>().ok().filter(|_| is_number(kind));
    number.map_or_else(|| json!(cell), |number| json!(number))
}

/// Returns the heading of a plugin's table.
pub(crate) fn heading(plugin: &str, table: &str) -> String {
    format!("{}: {}", printable(plugin), printable(table))
}

/// Returns the titles of key columns.
pub(crate) fn key_titles(columns: &[Column]) -> impl Iterator<Item = Title> {
    let title = |column: &Column| Title::new(printable(&column.name), is_number(&column.kind));
    columns.iter().map(title)
}

/// Formats the cells of a key as text.
pub(crate) fn key_cells(cells: &[String], columns: &[Column]) -> impl Iterator<Item = Cell> {
    let cells = cells.iter().zip(columns);
    cells.map(|(cell, column)| shown(cell, &column.kind))
}

/// Formats a cell as escaped text.
fn shown(cell: &str, kind: &str) -> Cell {
    let text = match (kind, cell.parse()) {
        ("duration", Ok(nanos)) => duration(nanos),
        _ => printable(cell),
    };
    let number = cell.parse().ok().filter(|_| is_number(kind));
    Cell { text, number }
}

/// Encodes a CSV cell; quotes text that would end the cell or that a spreadsheet would evaluate.
pub(crate) fn quoted(cell: &str) -> String {
    let risky = cell.contains([',', '"', '\n', '\r']) || cell.starts_with(['=', '+', '@', '\t']);
    match risky {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

/// Returns the written text.
#[cfg(test)]
pub(crate) fn text(write: impl Fn(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}
