//! The summary on a terminal.

use std::fmt::Write as _;
use std::io::{self, Write};

use probes::events::{Aggregate, Lost};

use crate::summary::{Row, Summary};

/// Width of a column: two blanks and `999.9 ms`, or a number of calls.
const COLUMN: usize = 11;
/// Names are cut to no less than this.
const NARROWEST_NAME: usize = 24;

/// How the table is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Characters in a line; columns are left out where they do not fit.
    pub width: usize,
    /// Whether to use the terminal's colours (ANSI escapes).
    pub colours: bool,
    /// Most rows shown.
    pub rows: usize,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            width: 100,
            colours: false,
            rows: 40,
        }
    }
}

/// One column.
#[derive(Clone, Copy)]
struct Column {
    title: &'static str,
    /// Those with the highest are left out first.
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

/// Writes the table as `layout` says, and below it what is not in it.
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
        return writeln!(out, "no call was recorded of {methods}");
    }
    let rows = &summary.rows[..summary.rows.len().min(layout.rows)];
    let table = Table::fit(rows, layout);
    let mut text = String::new();
    table.heading(&mut text);
    rows.iter().for_each(|row| table.row(row, &mut text));
    let shown = rows.len() as u64;
    let called = summary.rows.len() as u64;
    if shown < called {
        let _ = writeln!(text, "… and {}", counted(called - shown, "more method"));
    }
    let calls = summary.rows.iter().map(|row| row.calls).sum();
    let _ = writeln!(
        text,
        "{} of {}, {called} of them called",
        counted(calls, "call"),
        counted(summary.methods as u64, "traced method"),
    );
    if summary.open > 0 {
        let _ = writeln!(
            text,
            "{} still open at the end, not counted here",
            counted(summary.open, "call")
        );
    }
    lost(&summary.lost, &mut text);
    out.write_all(text.as_bytes())
}

/// One line per kind of loss.
fn lost(lost: &Lost, text: &mut String) {
    let lines = [
        (
            lost.full,
            "call",
            "counted here, but not among the single calls: a thread's buffer was full",
        ),
        (
            lost.untracked,
            "call",
            "not recorded: nested too deeply, or on too many virtual threads at once",
        ),
        (
            lost.sums,
            "call",
            "not counted here: there was no memory left for sums",
        ),
        (
            lost.captures,
            "value",
            "left out: a thread's buffer was full",
        ),
        (
            lost.unended,
            "call",
            "without an end: the JVM had no stack left to tell of it",
        ),
    ];
    for (number, what, why) in lines.iter().filter(|(number, ..)| *number > 0) {
        let _ = writeln!(text, "lost: {} {why}", counted(*number, what));
    }
}

struct Table {
    name: usize,
    columns: Vec<Column>,
    colours: bool,
}

impl Table {
    /// Leaves out columns until names have room.
    fn fit(rows: &[Row], layout: &Layout) -> Self {
        let longest = rows
            .iter()
            .map(|row| row.name.chars().count())
            .max()
            .unwrap_or(0);
        let wanted = longest.clamp(NARROWEST_NAME, layout.width / 2);
        let mut columns = COLUMNS.to_vec();
        let space = |columns: usize| layout.width.saturating_sub(COLUMN * (columns + 1));
        while space(columns.len()) < wanted && columns.len() > 3 {
            let last = columns.iter().map(|column| column.rank).max();
            columns.retain(|column| Some(column.rank) != last);
        }
        Self {
            name: longest
                .max("method".len())
                .min(space(columns.len()).max(NARROWEST_NAME)),
            columns,
            colours: layout.colours,
        }
    }

    fn heading(&self, text: &mut String) {
        let mut line = format!("{:<1$}{2:>COLUMN$}", "method", self.name, "calls");
        for column in &self.columns {
            let _ = write!(line, "{:>COLUMN$}", column.title);
        }
        self.styled("2", &line, text);
        text.push('\n');
    }

    fn row(&self, row: &Row, text: &mut String) {
        let name = shortened(&row.name, self.name);
        let _ = write!(
            text,
            "{name:<0$}{1:>COLUMN$}",
            self.name,
            thousands(row.calls)
        );
        for column in &self.columns {
            let value = row
                .sums
                .as_ref()
                .map_or_else(|| "-".to_owned(), column.value);
            let value = format!("{value:>COLUMN$}");
            let red =
                column.title == "errors" && row.sums.as_ref().is_some_and(|sums| sums.errors > 0);
            self.styled(if red { "31" } else { "" }, &value, text);
        }
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

/// Nanoseconds with four digits and a unit: `999 ns`, `12.35 ms`, `1234 s`.
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

/// `1,234,567`.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 call`, `2 calls`.
fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", thousands(number))
}

/// The end of a name says more than its beginning.
fn shortened(name: &str, width: usize) -> String {
    let length = name.chars().count();
    if length <= width {
        return name.to_owned();
    }
    let end: String = name.chars().skip(length - width + 1).collect();
    format!("…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit_that_fits() {
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
