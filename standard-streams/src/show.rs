//! Writes text to standard output and standard error. Only output for other programs bypasses this
//! module.
//!
//! Control characters for terminals are escaped here ([`escape`]). Foreign names are escaped before
//! they enter a line ([`name`], [`path`]), so that they cannot start one.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::path::Path;

use errors::{Error, codes};
use serde_json::Value;

/// Writes text of several lines. A reader that closes its end is no error.
///
/// # Errors
/// If standard output cannot be written (`H0624`).
pub fn show(text: &str) -> Result<(), Error> {
    write(&escape::lines(text))
}

/// As [`show`], for a JSON document with the content of `value`.
///
/// # Errors
/// As [`show`].
pub fn show_json(value: &Value) -> Result<(), Error> {
    write(&escape::json(&format!("{value:#}\n")))
}

/// As [`show`], for coloured text whose names are already escaped.
///
/// # Errors
/// As [`show`].
pub fn show_coloured(text: &str) -> Result<(), Error> {
    write(text)
}

/// As [`show_coloured`], on standard error if standard output is taken.
///
/// # Errors
/// As [`show`].
pub fn show_beside(is_taken: bool, text: &str) -> Result<(), Error> {
    if is_taken {
        to_stderr(text);
        return Ok(());
    }
    show_coloured(text)
}

/// Writes to standard error. A failure is ignored; the exit code still reports the error.
fn to_stderr(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Writes a line to standard error: `classhook: …`.
pub fn say(text: impl Display) {
    to_stderr(&format!("classhook: {}\n", escape::line(&text.to_string())));
}

/// Writes errors, warnings and lists, with their line ends, to standard error.
pub fn complain(text: impl Display) {
    to_stderr(&escape::lines(&text.to_string()));
}

/// Returns the exit status of a command that started a program. A failed program gives its own status, and the problem
/// is only printed.
///
/// # Errors
/// The problem after a program that succeeded.
pub fn with_exit_of_program(code: u8, result: Result<u8, Error>) -> Result<u8, Error> {
    match result {
        result if code == 0 => result,
        Ok(_) => Ok(code),
        Err(problem) => {
            let problem = problem.with("command", format!("ended with exit status {code}"));
            complain(format_args!("{problem}\n"));
            Ok(code)
        }
    }
}

/// Prints all of these problems but the last.
///
/// # Errors
/// The last problem.
pub fn all_but_last(problems: impl IntoIterator<Item = Error>) -> Result<(), Error> {
    let mut last = None;
    for problem in problems {
        if let Some(before) = last.replace(problem) {
            complain(format_args!("{before}\n"));
        }
    }
    last.map_or(Ok(()), Err)
}

/// Escapes a foreign name for use in a line.
#[must_use]
pub fn name(text: &str) -> Cow<'_, str> {
    escape::line(text)
}

/// Formats a path for use in a line.
#[must_use]
pub fn path(path: &Path) -> String {
    escape::path(path)
}

fn write(text: &str) -> Result<(), Error> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Error::fault(
            codes::H0624,
            "cannot write to standard output",
        )
        .with("found", error.to_string())),
        _ => Ok(()),
    }
}
