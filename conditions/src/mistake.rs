//! What is wrong with the text of a condition, and where.

use std::fmt;

use thiserror::Error;

/// A mistake in the text of a condition or of a list of values.
///
/// Displayed in three lines: what was expected and found, the text, and carets below the place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("expected {expected}, found {found}\n{}", self.place())]
pub struct Mistake {
    text: String,
    /// Bytes of the text: the first of the place, and the first behind it.
    span: (usize, usize),
    expected: String,
    found: String,
    help: Option<String>,
}

impl Mistake {
    pub(crate) fn new(
        text: &str,
        span: (usize, usize),
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self {
            text: text.to_owned(),
            span,
            expected: expected.into(),
            found: found.into(),
            help: None,
        }
    }

    pub(crate) fn with_help(self, help: impl Into<String>) -> Self {
        Self {
            help: Some(help.into()),
            ..self
        }
    }

    /// What was expected there.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// What was found there.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.found
    }

    /// What to do, where that is not plain.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The first character of the place, counted from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.characters(0, self.span.0) + 1
    }

    /// The text in one line, and below it a line with carets under the place.
    #[must_use]
    pub fn place(&self) -> Place<'_> {
        Place(self)
    }

    fn characters(&self, from: usize, to: usize) -> usize {
        let part = self.text.get(from..to).unwrap_or_default();
        part.chars().count()
    }
}

/// A part of the text in a message.
pub(crate) fn quoted(part: &str) -> String {
    let escape = |char: char| match char.is_control() {
        true => char.escape_default().collect(),
        false => char.to_string(),
    };
    format!("`{}`", part.chars().map(escape).collect::<String>())
}

/// The text of a [`Mistake`] with carets under the place.
#[derive(Debug)]
pub struct Place<'m>(&'m Mistake);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mistake { text, span, .. } = self.0;
        let blank = |char: char| if char.is_control() { ' ' } else { char };
        writeln!(f, "{}", text.chars().map(blank).collect::<String>())?;
        let before = self.0.characters(0, span.0);
        let length = self.0.characters(span.0, span.1).max(1);
        write!(f, "{}{}", " ".repeat(before), "^".repeat(length))
    }
}
