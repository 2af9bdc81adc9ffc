//! A line of text that marks its bcis.

use std::fmt;

use rewriter::Bci;

/// A line under construction.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    /// The displayed text.
    pub(super) text: String,
    /// The compared text, with `@` for each bci.
    pub(super) key: String,
    /// The bcis, in order.
    pub(super) places: Vec<u32>,
    /// The bci of the line's instruction.
    pub(super) bci: Option<u16>,
}

impl Row {
    /// Creates a line for the instruction at `bci`.
    pub(super) fn instruction(bci: Bci) -> Self {
        let mut row = Row {
            bci: Some(bci.0),
            ..Row::default()
        };
        row.quiet(&format!("{:>10}: ", bci.0));
        row
    }

    /// Adds a bci.
    pub(super) fn place(&mut self, bci: u32) {
        self.quiet(&bci.to_string());
        self.key.push('@');
        self.places.push(bci);
    }

    /// Adds a bci, or the text for a missing one.
    pub(super) fn target(&mut self, bci: Option<Bci>) {
        match bci {
            Some(bci) => self.place(u32::from(bci.0)),
            None => self.write("(outside)"),
        }
    }

    /// Adds text.
    pub(super) fn write(&mut self, text: &str) {
        self.text.push_str(text);
        self.key.push_str(text);
    }

    /// Adds text that is displayed but not compared.
    pub(super) fn quiet(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds spaces up to a column.
    pub(super) fn column(&mut self, column: usize) {
        let missing = column.saturating_sub(self.text.len()).max(1);
        self.text.extend(std::iter::repeat_n(' ', missing));
        self.key.push(' ');
    }
}

impl fmt::Write for Row {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.write(text);
        Ok(())
    }
}

/// Formats a line of plain text.
macro_rules! row {
    ($($piece:tt)*) => {{
        let mut row = $crate::row::Row::default();
        let _ = std::fmt::Write::write_fmt(&mut row, format_args!($($piece)*)); // a row takes everything
        row
    }};
}

/// Receives lines one by one.
pub(super) type Rows<'r> = &'r mut dyn FnMut(Row) -> fmt::Result;
pub(super) use row;
