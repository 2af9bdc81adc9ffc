//! Tables of intervals without a terminal.

use std::fmt::Write as _;

use trace::losses;
use trace::numbers::{counted, seconds};
use trace::rates::Interval;

use super::columns::Column;
use super::state::State;

/// Returns a table of the rows of `state`, at most `most`, with all columns in full width.
#[must_use]
pub fn table(interval: &Interval, state: &State, most: usize) -> String {
    let rows = state.rows(interval);
    let mut text = format!("interval of {} s\n", seconds(interval.seconds));
    if rows.is_empty() {
        let _ = writeln!(
            text,
            "no call ended of {}",
            counted(interval.traced, "traced method")
        );
    } else {
        let heading = Column::ALL.map(|column| column.title().to_owned()).to_vec();
        let cells = rows.iter().take(most).map(|row| {
            let cells = Column::ALL.map(|column| column.cell(row, interval.seconds));
            cells.to_vec()
        });
        let lines: Vec<Vec<String>> = std::iter::once(heading).chain(cells).collect();
        write_aligned(&lines, &mut text);
    }
    if rows.len() > most {
        let _ = writeln!(text, "… and {} more", rows.len() - most);
    }
    let lost = &interval.lost;
    if !lost.is_none() {
        let calls = losses::calls(lost);
        let calls = counted(calls, "call");
        let _ = writeln!(text, "lost: {calls}, missing in some numbers");
    }
    for gap in &interval.incomplete {
        let _ = writeln!(text, "incomplete: {gap}");
    }
    text
}

/// Writes lines with the first column aligned left and the others right.
fn write_aligned(lines: &[Vec<String>], text: &mut String) {
    let width = |at: usize| {
        let cells = lines.iter().filter_map(|line| line.get(at));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..Column::ALL.len()).map(width).collect();
    for line in lines {
        for (at, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let _ = match at {
                0 => write!(text, "{cell:<width$}"),
                _ => write!(text, "  {cell:>width$}"),
            };
        }
        text.push('\n');
    }
}
