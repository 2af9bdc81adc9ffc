//! Cells of the tables of plugins, for people, as CSV and as JSON.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::names::printable;
use crate::table::duration;

/// Blanks between columns.
const GAP: &str = "  ";
/// Widest cell of a key in the text, in characters.
const WIDEST: usize = 80;

/// Whether cells of this kind are numbers.
pub(crate) fn is_number(kind: &str) -> bool {
    matches!(kind, "integer" | "duration" | "bytes" | "line")
}

/// A cell as JSON.
pub(crate) fn cell_json(cell: &str, kind: &str) -> Value {
    let number = cell.parse::<i64>().ok().filter(|_| is_number(kind));
    number.map_or_else(|| json!(cell), |number| json!(number))
}

/// Writes lines of cells, each as wide as its column; `is_right` says which columns end at the right.
pub(crate) fn grid(
    lines: &[Vec<String>],
    is_right: impl Fn(usize) -> bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let width = |column: usize| {
        let widths = lines.iter().filter_map(|line| line.get(column));
        widths.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let columns = lines.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for line in lines {
        let cells = line.iter().zip(&widths).enumerate();
        let padded = cells.map(|(column, (cell, width))| match is_right(column) {
            false => format!("{cell:<width$}"),
            true => format!("{cell:>width$}"),
        });
        let text = padded.collect::<Vec<_>>().join(GAP);
        writeln!(out, "{}", text.trim_end())?;
    }
    Ok(())
}

/// A cell for people: escaped, and not too wide.
pub(crate) fn shown(cell: &str, kind: &str) -> String {
    if let ("duration", Ok(nanos)) = (kind, cell.parse()) {
        return duration(nanos);
    }
    let text = printable(cell);
    match text.char_indices().nth(WIDEST) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// A cell of CSV; in quotes where it holds what would end it, or what a spreadsheet would compute.
pub(crate) fn quoted(cell: &str) -> String {
    let risky = cell.contains([',', '"', '\n', '\r']) || cell.starts_with(['=', '+', '@', '\t']);
    match risky {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

/// What is written.
#[cfg(test)]
pub(crate) fn text(write: impl Fn(&mut dyn Write) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}
