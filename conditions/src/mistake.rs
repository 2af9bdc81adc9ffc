//! Errors in the text of a condition, with their span.

use std::fmt;

use thiserror::Error;

/// An error in the text of a condition or of a list of values.
///
/// It displays as three lines: expectation and fault, the text, and carets below the span.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("expected {expected}, found {found}\n{}", self.excerpt())]
pub struct Mistake {
    text: String,
    /// Byte range in the text: start and end.
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

    /// Returns the expected syntax.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// Returns the text found instead.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.found
    }

    /// Returns the remedy, unless it is obvious.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// Returns the first column of the span, counted from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.characters(0, self.span.0) + 1
    }

    /// Returns the text in one line, and a line with carets below the span.
    #[must_use]
    pub fn excerpt(&self) -> Excerpt<'_> {
        Excerpt(self)
    }

    fn characters(&self, from: usize, to: usize) -> usize {
        let part = self.text.get(from..to).unwrap_or_default();
        part.chars().count()
    }
}

/// Quotes a part of the text for a message.
pub(crate) fn quoted(part: &str) -> String {
    let escape = |char: char| match char.is_control() {
        true => char.escape_default().collect(),
        false => char.to_string(),
    };
    format!("`{}`", part.chars().map(escape).collect::<String>())
}

/// The text of a [`Mistake`] with carets below the span.
#[derive(Debug)]
pub struct Excerpt<'m>(&'m Mistake);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mistake { text, span, .. } = self.0;
        let blank = |char: char| if char.is_control() { ' ' } else { char };
        writeln!(f, "{}", text.chars().map(blank).collect::<String>())?;
        let before = self.0.characters(0, span.0);
        let length = self.0.characters(span.0, span.1).max(1);
        write!(f, "{}{}", " ".repeat(before), "^".repeat(length))
    }
}
