//! Warnings of a command: each is printed once, and many of a kind are summarised.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use crate::notes::write_notes;

/// Maximum number of printed warnings of a kind.
const PRINTED: usize = 10;

/// One warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    code: &'static str,
    message: String,
    notes: Vec<(&'static str, String)>,
    /// True if the command's result is incomplete because of it.
    is_missing: bool,
    /// True if it is printed however many of its kind there are.
    is_always_printed: bool,
}

impl Warning {
    /// Creates a warning with its stable code.
    #[must_use]
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            notes: Vec::new(),
            is_missing: false,
            is_always_printed: false,
        }
    }

    /// Has the warning printed even if there are many of its kind.
    #[must_use]
    pub fn always_printed(mut self) -> Self {
        self.is_always_printed = true;
        self
    }

    /// Marks the command's result as incomplete, so that the exit code becomes 3.
    #[must_use]
    pub fn of_missing(mut self) -> Self {
        self.is_missing = true;
        self
    }

    /// Adds a labelled line.
    #[must_use]
    pub fn with(mut self, label: &'static str, text: impl Into<String>) -> Self {
        self.notes.push((label, text.into()));
        self
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "warning[{}]: {}", self.code, escape::line(&self.message))?;
        let notes = self.notes.iter();
        write_notes(f, notes.map(|(label, text)| (*label, text.as_str())))?;
        writeln!(f)
    }
}

/// The warnings of one command, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Warnings {
    all: Vec<Warning>,
}

impl Warnings {
    /// Adds a warning, unless an equal one exists.
    pub fn add(&mut self, warning: Warning) {
        if !self.all.contains(&warning) {
            self.all.push(warning);
        }
    }

    /// Adds all warnings of another list.
    pub fn merge(&mut self, other: Self) {
        self.extend(other.all);
    }

    /// Adds several warnings.
    pub fn extend(&mut self, warnings: impl IntoIterator<Item = Warning>) {
        warnings.into_iter().for_each(|warning| self.add(warning));
    }

    /// Checks whether the command's result is incomplete.
    #[must_use]
    pub fn of_missing(&self) -> bool {
        self.all.iter().any(|warning| warning.is_missing)
    }

    /// Checks whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// Formats the first of each kind and counts the rest. A note that was printed for a kind is not
/// repeated.
impl fmt::Display for Warnings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printed = BTreeMap::<&str, usize>::new();
        let mut said = HashSet::new();
        for warning in &self.all {
            let count = printed.entry(warning.code).or_default();
            *count += usize::from(!warning.is_always_printed);
            if *count <= PRINTED || warning.is_always_printed {
                let mut short = warning.clone();
                short
                    .notes
                    .retain(|note| said.insert((warning.code, note.clone())));
                write!(f, "{short}")?;
            }
        }
        let rest = printed.into_iter().filter(|(_, count)| *count > PRINTED);
        for (code, count) in rest {
            writeln!(
                f,
                "warning[{code}]: and {} more of this kind",
                count - PRINTED
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_of_a_kind_are_summarised_and_printed_once() {
        let mut warnings = Warnings::default();
        for number in (0..13).chain(0..13) {
            warnings.add(Warning::new("H0616", format!("number {number}")).with("help", "none"));
        }
        warnings.add(Warning::new("H0617", "another"));
        let named = (0..13).map(|number| Warning::new("H0618", format!("named {number}")));
        warnings.extend(named.map(Warning::always_printed));
        let text = warnings.to_string();
        assert_eq!(text.matches("warning[H0616]: number").count(), 10);
        assert_eq!(text.matches("number 3\n").count(), 1);
        assert!(
            text.contains("warning[H0616]: and 3 more of this kind"),
            "{text}"
        );
        assert_eq!(text.matches("  help     none").count(), 1, "{text}");
        assert!(text.contains("warning[H0617]: another"), "{text}");
        assert_eq!(text.matches("warning[H0618]: named").count(), 13, "{text}");
    }
}
