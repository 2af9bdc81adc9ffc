//! One line of text that knows which of its numbers are places in the code.

use std::fmt;

use crate::index::Bci;

/// A line under construction.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    /// What is shown.
    pub(super) text: String,
    /// What is compared: the text with `@` for each place.
    pub(super) key: String,
    /// The places, in order.
    pub(super) places: Vec<u32>,
    /// The instruction that the line shows.
    pub(super) bci: Option<u16>,
}

impl Row {
    /// A line that shows the instruction at `bci`.
    pub(super) fn instruction(bci: Bci) -> Self {
        let mut row = Row {
            bci: Some(bci.0),
            ..Row::default()
        };
        row.quiet(&format!("{:>10}: ", bci.0));
        row
    }

    /// Adds a place in the code.
    pub(super) fn place(&mut self, bci: u32) {
        self.quiet(&bci.to_string());
        self.key.push('@');
        self.places.push(bci);
    }

    /// Adds a place, or says that there is none such.
    pub(super) fn target(&mut self, bci: Option<Bci>) {
        match bci {
            Some(bci) => self.place(u32::from(bci.0)),
            None => self.say("(outside)"),
        }
    }

    /// Adds text.
    pub(super) fn say(&mut self, text: &str) {
        self.text.push_str(text);
        self.key.push_str(text);
    }

    /// Adds text that is shown and not compared.
    pub(super) fn quiet(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Fills up with spaces to a column.
    pub(super) fn column(&mut self, column: usize) {
        let missing = column.saturating_sub(self.text.len()).max(1);
        self.text.extend(std::iter::repeat_n(' ', missing));
        self.key.push(' ');
    }
}

impl fmt::Write for Row {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.say(text);
        Ok(())
    }
}

/// A line of plain text.
macro_rules! row {
    ($($piece:tt)*) => {{
        let mut row = $crate::print::row::Row::default();
        let _ = std::fmt::Write::write_fmt(&mut row, format_args!($($piece)*)); // a row takes everything
        row
    }};
}

/// Takes lines as they are made.
pub(super) type Rows<'r> = &'r mut dyn FnMut(Row) -> fmt::Result;
pub(super) use row;
