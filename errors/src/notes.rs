//! The message of an error and the labelled lines below it.

use std::fmt;

/// Writes a message. Indents all lines but the first, so that no line looks like a separate
/// message.
///
/// # Errors
/// Those of `f`.
pub fn write_message(f: &mut fmt::Formatter<'_>, message: &str) -> fmt::Result {
    for (index, line) in message.lines().enumerate() {
        let start = if index == 0 { "" } else { "\n  " };
        write!(f, "{start}{}", escape::lines(line))?;
    }
    Ok(())
}

/// Writes labelled lines below a message, aligned and with indented continuation lines.
///
/// # Errors
/// Those of `f`.
pub fn write_notes<'a>(
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
