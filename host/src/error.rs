//! The error type of this crate: a stable code, a message and labelled notes.

use std::borrow::Cow;
use std::fmt;

/// An error that occurred before any class was changed.
///
/// Codes are stable and listed in `docs/errors.md`: `H01xx` configuration and plugin files, `H02xx`
/// grants, `H03xx` run time, `H04xx` snapshot and output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostError(Box<Inner>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    code: Cow<'static, str>,
    message: String,
    /// Labelled lines below the message, in order.
    notes: Vec<(Cow<'static, str>, String)>,
}

impl HostError {
    /// Creates an error with a stable code and a one-line message.
    #[cold]
    #[must_use]
    pub fn new(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            code: code.into(),
            message: message.into(),
            notes: Vec::new(),
        }))
    }

    /// Adds a labelled line, such as `found` or `help`.
    #[must_use]
    pub fn with(mut self, label: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        self.0.notes.push((label.into(), text.into()));
        self
    }

    /// The stable code, for example `H0203`.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.0.code
    }

    /// The message without code and notes.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Iterates over the labelled lines (`at`, `expected`, `found`, `help` …), in order.
    pub fn notes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .notes
            .iter()
            .map(|(label, text)| (label.as_ref(), text.as_str()))
    }
}

impl std::error::Error for HostError {}

/// Formats `error[H0203]: message`, and one indented line per note.
impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: ", self.0.code)?;
        write_message(f, &self.0.message)?;
        write_notes(f, self.notes())
    }
}

/// Writes a message. Indents all lines but the first, so that no line looks like a separate
/// message.
pub(crate) fn write_message(f: &mut fmt::Formatter<'_>, message: &str) -> fmt::Result {
    for (index, line) in message.lines().enumerate() {
        let start = if index == 0 { "" } else { "\n  " };
        write!(f, "{start}{}", escape::lines(line))?;
    }
    Ok(())
}

/// Writes labelled lines below a message, aligned and with indented continuation lines.
pub(crate) fn write_notes<'a>(
    f: &mut fmt::Formatter<'_>,
    notes: impl Iterator<Item = (&'a str, &'a str)>,
) -> fmt::Result {
    for (label, text) in notes {
        for (index, line) in text.lines().enumerate() {
            let label = if index == 0 { label } else { "" };
            write!(f, "\n  {label:<8} {}", escape::lines(line))?;
        }
    }
    Ok(())
}
