//! A plugin table as displayed text, in a terminal and in a browser.

use std::io::{self, Write};

use crate::numbers::counted;

/// Blanks between columns.
const GAP: &str = "  ";
/// Maximum width of a cell in a terminal, in characters.
const WIDEST: usize = 80;

/// Titles and rows as texts.
pub(crate) struct Sheet {
    /// `PLUGIN: TABLE`.
    pub(crate) heading: String,
    pub(crate) titles: Vec<Title>,
    /// Each row has as many cells as there are titles.
    pub(crate) rows: Vec<Vec<Cell>>,
    /// Number of rows that are left out.
    pub(crate) more: usize,
    /// A note below the rows.
    pub(crate) note: Option<String>,
}

/// The title of a column.
pub(crate) struct Title {
    pub(crate) text: String,
    /// `true` for right-aligned cells.
    pub(crate) is_right: bool,
}

/// A cell as escaped text.
pub(crate) struct Cell {
    pub(crate) text: String,
    /// The sort key; `None` for texts.
    pub(crate) number: Option<i64>,
}

impl Title {
    pub(crate) fn new(text: impl Into<String>, is_right: bool) -> Self {
        let text = text.into();
        Self { text, is_right }
    }
}

impl Cell {
    pub(crate) fn text(text: String) -> Self {
        Self { text, number: None }
    }

    /// Creates the cell of a number with its displayed text.
    pub(crate) fn number(number: u64, text: String) -> Self {
        let number = Some(i64::try_from(number).unwrap_or(i64::MAX));
        Self { text, number }
    }

    /// Returns the text, cut for a terminal.
    fn cut(&self) -> String {
        match self.text.char_indices().nth(WIDEST) {
            None => self.text.clone(),
            Some((end, _)) => format!("{}…", self.text.get(..end).unwrap_or_default()),
        }
    }
}

impl Sheet {
    /// Writes heading, titles, rows and note.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.heading)?;
        if !self.rows.is_empty() {
            self.grid(out)?;
        }
        for line in self.below() {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// Returns the lines below the rows.
    pub(crate) fn below(&self) -> impl Iterator<Item = String> {
        let more = (self.more > 0).then(|| {
            let rows = counted(self.more as u64, "more row");
            format!("… and {rows}")
        });
        more.into_iter().chain(self.note.clone())
    }

    /// Writes titles and rows, each cell as wide as its column.
    fn grid(&self, out: &mut dyn Write) -> io::Result<()> {
        let titles = self.titles.iter().map(|title| title.text.clone()).collect();
        let rows = self.rows.iter();
        let rows = rows.map(|row| row.iter().map(Cell::cut).collect());
        let lines: Vec<Vec<String>> = std::iter::once(titles).chain(rows).collect();
        let width = |column: usize| {
            let cells = lines.iter().filter_map(|line| line.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.titles.len()).map(width).collect();
        for line in &lines {
            let columns = self.titles.iter().zip(&widths);
            let padded =
                line.iter()
                    .zip(columns)
                    .map(|(cell, (title, width))| match title.is_right {
                        false => format!("{cell:<width$}"),
                        true => format!("{cell:>width$}"),
                    });
            let text = padded.collect::<Vec<_>>().join(GAP);
            writeln!(out, "{}", text.trim_end())?;
        }
        Ok(())
    }
}
