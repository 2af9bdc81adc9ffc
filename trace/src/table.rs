//! The summary on a terminal.

use std::fmt::Write as _;
use std::io::{self, Write};

use probes::events::{Aggregate, Lost};

use crate::losses;
use crate::numbers::counted;
pub use crate::numbers::thousands;
use crate::summary::{Row, Summary};

/// Number of blanks before a column.
const GAP: usize = 2;
/// Minimum width of a column: two blanks and `999.9 ms`.
const COLUMN: usize = 11;
/// Maximum width of the column of names in lines of any length. A longer name moves the numbers of its line only.
const WIDEST_NAME: usize = 80;
/// Minimum length of a truncated name.
const NARROWEST_NAME: usize = 24;
/// Minimum number of columns, however narrow the line is.
const FEWEST_COLUMNS: usize = 3;

/// The layout of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Characters in a line: names are shortened and columns left out to fit, with a note. `None` for lines of any
    /// length, with whole names.
    pub width: Option<usize>,
    /// Uses the terminal's colours (ANSI escapes).
    pub colours: bool,
    /// Maximum number of rows.
    pub rows: usize,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            width: None,
            colours: false,
            rows: 40,
        }
    }
}

/// One column.
#[derive(Clone, Copy)]
struct Column {
    title: &'static str,
    /// Columns of the highest rank are left out first.
    rank: u8,
    value: fn(&Aggregate) -> String,
}

const COLUMNS: [Column; 8] = [
    Column {
        title: "self",
        rank: 0,
        value: |sums| duration(sums.own),
    },
    Column {
        title: "total",
        rank: 1,
        value: |sums| duration(sums.total),
    },
    Column {
        title: "min",
        rank: 7,
        value: |sums| duration(sums.min),
    },
    Column {
        title: "p50",
        rank: 3,
        value: |sums| quantile(sums, 0.5),
    },
    Column {
        title: "p95",
        rank: 6,
        value: |sums| quantile(sums, 0.95),
    },
    Column {
        title: "p99",
        rank: 5,
        value: |sums| quantile(sums, 0.99),
    },
    Column {
        title: "max",
        rank: 4,
        value: |sums| duration(sums.max),
    },
    Column {
        title: "errors",
        rank: 2,
        value: |sums| errors(sums.errors),
    },
];

/// Writes the table with this layout, and notes about data outside its rows.
///
/// # Errors
/// `out` cannot be written.
pub fn write(
    summary: &Summary,
    layout: &Layout,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    if summary.rows.is_empty() {
        let methods = counted(summary.methods as u64, "traced method");
        let nothing = match summary.unsummed {
            0 => "no recorded call of",
            _ => "no sums yet of",
        };
        let mut text = format!("{nothing} {methods}\n");
        below(summary, &mut text);
        return out.write_all(text.as_bytes());
    }
    let rows = &summary.rows[..summary.rows.len().min(layout.rows)];
    let table = Table::fit(rows, layout);
    let mut text = String::new();
    table.heading(&mut text);
    rows.iter().for_each(|row| table.row(row, &mut text));
    table.missing(&mut text);
    let shown = rows.len() as u64;
    let called = summary.rows.len() as u64;
    if shown < called {
        let _ = writeln!(text, "… and {}", counted(called - shown, "more method"));
    }
    let calls: u64 = summary.rows.iter().map(|row| row.calls).sum();
    let _ = writeln!(
        text,
        "{} of {}, {called} of them called",
        counted(calls, "call"),
        counted(summary.methods as u64, "traced method"),
    );
    if summary.only_counted {
        text.push_str(
            "counted without synchronization: simultaneous calls of several threads may count once\n",
        );
    }
    below(summary, &mut text);
    out.write_all(text.as_bytes())
}

/// Writes only the notes, for traces without traced methods.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_missing(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let mut text = String::new();
    below(summary, &mut text);
    out.write_all(text.as_bytes())
}

/// Writes notes about data outside the rows.
fn below(summary: &Summary, text: &mut String) {
    if summary.open > 0 {
        let _ = writeln!(
            text,
            "{} still open at the end, not counted here",
            counted(summary.open, "call")
        );
    }
    if summary.unsummed > 0 {
        let _ = writeln!(
            text,
            "{} recorded after the last sums, not counted here (sums are written once a second)",
            counted(summary.unsummed, "call")
        );
    }
    lost(&summary.lost, text);
    for limited in &summary.limited {
        let _ = writeln!(text, "left out: {limited}");
    }
    for gap in &summary.incomplete {
        let _ = writeln!(text, "incomplete: {gap}");
    }
}

/// Writes one line for each kind of loss.
fn lost(lost: &Lost, text: &mut String) {
    for loss in losses::present(lost) {
        let number = counted(loss.number, loss.unit);
        let _ = writeln!(text, "lost: {number} {}: {}", loss.consequence, loss.cause);
    }
    left_out(lost, text);
}

/// Writes the numbers of calls left out on request.
fn left_out(lost: &Lost, text: &mut String) {
    if lost.filtered > 0 {
        let calls = counted(lost.filtered, "call");
        let _ = writeln!(
            text,
            "left out: {calls} not matching the condition, counted here"
        );
    }
    if lost.undecided > 0 {
        let _ = writeln!(
            text,
            "          {} of them lacked a value of the condition, or had one of another type",
            lost.undecided
        );
    }
    if lost.beyond_limit > 0 {
        let calls = counted(lost.beyond_limit, "matching call");
        let _ = writeln!(text, "left out: {calls} beyond the limit, counted here");
    }
}

struct Table {
    /// Width of the column of names.
    name: usize,
    /// Shortens longer names.
    is_limited: bool,
    /// Width of the column of calls.
    calls: usize,
    columns: Vec<(Column, usize)>,
    /// Columns that did not fit.
    left_out: Vec<Column>,
    colours: bool,
}

impl Table {
    /// Leaves out columns until class and method fit.
    fn fit(rows: &[Row], layout: &Layout) -> Self {
        let longest = |name: &dyn Fn(&Row) -> String, title: &str| {
            let names = rows.iter().map(|row| name(row).chars().count());
            names.max().unwrap_or(0).max(title.len())
        };
        let width = |cell: &dyn Fn(&Row) -> String, title| (longest(cell, title) + GAP).max(COLUMN);
        let calls = width(&|row| thousands(row.calls), "calls");
        let mut columns: Vec<(Column, usize)> = COLUMNS
            .into_iter()
            .map(|column| (column, width(&|row| column.cell(row), column.title)))
            .collect();
        let whole = longest(&|row| row.name.to_string(), "method");
        let wanted = whole.min(longest(&|row| row.name.shortest(), "method").max(NARROWEST_NAME));
        let room = |columns: &[(Column, usize)]| {
            let taken = columns.iter().map(|(_, width)| width).sum::<usize>() + calls;
            layout
                .width
                .map_or(whole, |width| width.saturating_sub(taken))
        };
        let mut left_out = Vec::new();
        while room(&columns) < wanted && columns.len() > FEWEST_COLUMNS {
            let last = columns.iter().map(|(column, _)| column.rank).max();
            let out = columns.extract_if(.., |(column, _)| Some(column.rank) == last);
            left_out.extend(out.map(|(column, _)| column));
        }
        let is_limited = layout.width.is_some();
        let most = match is_limited {
            true => room(&columns).max(NARROWEST_NAME),
            false => WIDEST_NAME,
        };
        Self {
            name: whole.min(most),
            is_limited,
            calls,
            columns,
            left_out,
            colours: layout.colours,
        }
    }

    fn heading(&self, text: &mut String) {
        let mut line = format!("{:<1$}{2:>3$}", "method", self.name, "calls", self.calls);
        for (column, width) in &self.columns {
            let _ = write!(line, "{:>width$}", column.title);
        }
        self.styled("2", &line, text);
        text.push('\n');
    }

    fn row(&self, row: &Row, text: &mut String) {
        let name = match self.is_limited {
            true => row.name.shortened(self.name),
            false => row.name.to_string(),
        };
        let calls = thousands(row.calls);
        let _ = write!(text, "{name:<0$}{calls:>1$}", self.name, self.calls);
        for (column, width) in &self.columns {
            let value = format!("{:>width$}", column.cell(row));
            let red =
                column.title == "errors" && row.sums.as_ref().is_some_and(|sums| sums.errors > 0);
            self.styled(if red { "31" } else { "" }, &value, text);
        }
        text.push('\n');
    }

    /// Names the columns that did not fit.
    fn missing(&self, text: &mut String) {
        if self.left_out.is_empty() {
            return;
        }
        let columns = COLUMNS.iter().map(|column| column.title);
        let left_out = |title: &&str| self.left_out.iter().any(|column| column.title == *title);
        let titles: Vec<&str> = columns.filter(left_out).collect();
        let line = format!(
            "no room for {}: use a wider terminal, a pipe or --table-csv FILE",
            titles.join(", ")
        );
        self.styled("2", &line, text);
        text.push('\n');
    }

    fn styled(&self, style: &str, content: &str, text: &mut String) {
        if self.colours && !style.is_empty() {
            let _ = write!(text, "\x1b[{style}m{content}\x1b[0m");
        } else {
            text.push_str(content);
        }
    }
}

impl Column {
    fn cell(&self, row: &Row) -> String {
        row.sums.as_ref().map_or_else(|| "-".to_owned(), self.value)
    }
}

fn quantile(sums: &Aggregate, share: f64) -> String {
    sums.quantile(share)
        .map_or_else(|| "-".to_owned(), duration)
}

fn errors(number: u64) -> String {
    if number == 0 {
        "-".to_owned()
    } else {
        thousands(number)
    }
}

/// Formats nanoseconds with four digits and a unit: `999 ns`, `12.35 ms`, `1234 s`.
#[must_use]
pub fn duration(nanos: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")];
    let unit = UNITS.iter().find(|(unit, _)| nanos >= *unit);
    let Some((unit, name)) = unit else {
        return format!("{nanos} ns");
    };
    let value = nanos as f64 / *unit as f64;
    let digits = match value {
        ..10.0 => 3,
        ..100.0 => 2,
        ..1000.0 => 1,
        _ => 0,
    };
    format!("{value:.digits$} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_fitting_unit() {
        for (nanos, expected) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.000 µs"),
            (12_345, "12.35 µs"),
            (999_949, "999.9 µs"),
            (1_234_567, "1.235 ms"),
            (61_000_000_000, "61.00 s"),
            (9_999_000_000_000, "9999 s"),
        ] {
            assert_eq!(duration(nanos), expected);
        }
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(thousands),
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(
            (counted(1, "call"), counted(2, "call")),
            ("1 call".into(), "2 calls".into())
        );
    }
}
