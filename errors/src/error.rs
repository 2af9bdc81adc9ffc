//! The error that ends a job: a stable code, a message, labelled lines, and the class of its cause.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::notes::{write_message, write_notes};
use error_codes::table as codes;

/// Exit code of a command with an incomplete result.
pub const PARTIAL: u8 = 3;

/// Exit code of a command that found less coverage than required.
pub const SHORT: u8 = 4;

/// The class of the cause of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A mistake of the user: input, configuration, plugin or grant.
    Mistake,
    /// A fault of Classhook.
    Fault,
    /// A part of the result is missing; the rest is complete.
    Partial,
    /// Less is covered than the rules require.
    Shortfall,
    /// A signal ended the job.
    Interrupted,
}

impl Cause {
    /// Returns the exit code of a command that ends with such an error.
    #[must_use]
    pub fn exit(self) -> u8 {
        match self {
            Self::Mistake => 2,
            Self::Fault => 1,
            Self::Partial => PARTIAL,
            Self::Shortfall => SHORT,
            Self::Interrupted => 130, // 128 and the number of SIGINT, as shells expect
        }
    }
}

/// An error that ends a job: a stable code, the expected and the found input, and help.
///
/// The codes are listed in `docs/errors.md`: `H01xx` configuration and plugin files, `H02xx`
/// grants, `H03xx` run time, `H04xx` snapshot and output, `H06xx` command, `H07xx` agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    cause: Cause,
    code: Cow<'static, str>,
    message: String,
    /// Labelled lines below the message, in order.
    notes: Vec<(Cow<'static, str>, String)>,
}

impl Error {
    /// Creates an error with the class of its cause, a stable code and a one-line message.
    #[cold]
    #[must_use]
    pub fn new(
        cause: Cause,
        code: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        Self(Box::new(Inner {
            cause,
            code: code.into(),
            message: message.into(),
            notes: Vec::new(),
        }))
    }

    /// Creates the error for a mistake of the user.
    #[cold]
    #[must_use]
    pub fn mistake(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(Cause::Mistake, code, message)
    }

    /// Creates the error for a failure that is not the user's mistake.
    #[cold]
    #[must_use]
    pub fn fault(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(Cause::Fault, code, message)
    }

    /// Creates the error for an incomplete result.
    #[cold]
    #[must_use]
    pub fn partial(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(Cause::Partial, code, message)
    }

    /// Creates the error for insufficient coverage.
    #[cold]
    #[must_use]
    pub fn shortfall(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(Cause::Shortfall, code, message)
    }

    /// Creates the error for an interrupted job (`H0645`).
    #[must_use]
    pub fn interrupted() -> Self {
        Self::new(
            Cause::Interrupted,
            codes::H0645,
            "interrupted; nothing was written",
        )
    }

    /// Creates the error for an unreadable file that the user named (`H0612`).
    #[must_use]
    pub fn unreadable(path: &Path, error: &io::Error) -> Self {
        Self::mistake(codes::H0612, format!("cannot read {}", path.display()))
            .with("found", error.to_string())
            .with("help", "check the path and its permissions")
    }

    /// Creates the error for a partly written file (`H0620`).
    #[must_use]
    pub fn cut_short(path: &Path, error: &io::Error) -> Self {
        Self::partial(codes::H0620, format!("cannot write {} to its end", path.display()))
            .with("found", error.to_string())
            .with(
                "help",
                "the file holds the earlier data, and its last line may be cut; name a file on a disk with space",
            )
    }

    /// Creates the error for an unwritable file or folder (`H0620`). Without space the result is
    /// partial, because the user made no mistake.
    #[must_use]
    pub fn unwritable(path: &Path, error: &io::Error) -> Self {
        let message = format!("cannot write {}", path.display());
        let no_space = matches!(
            error.kind(),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded
        );
        let (unwritable, help) = match no_space {
            true => (
                Self::partial(codes::H0620, message),
                "make room there, and try again",
            ),
            false => (
                Self::mistake(codes::H0620, message),
                "nothing was changed there; check the path, its permissions and the space left",
            ),
        };
        unwritable
            .with("found", error.to_string())
            .with("help", help)
    }

    /// Returns this error as that of an incomplete result: the rest of the result is complete.
    #[must_use]
    pub fn partly(mut self) -> Self {
        self.0.cause = Cause::Partial;
        self
    }

    /// Adds a labelled line, such as `found` or `help`.
    #[must_use]
    pub fn with(mut self, label: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        self.0.notes.push((label.into(), text.into()));
        self
    }

    /// Returns the class of the cause.
    #[must_use]
    pub fn cause(&self) -> Cause {
        self.0.cause
    }

    /// Returns the exit code of a command that ends with this error.
    #[must_use]
    pub fn exit(&self) -> u8 {
        self.0.cause.exit()
    }

    /// Returns the stable code, for example `H0203`.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.0.code
    }

    /// Returns the message without code and notes.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Iterates over the labelled lines (`at`, `expected`, `found`, `help` …), in order.
    pub fn notes(&self) -> impl Iterator<Item = (&str, &str)> {
        let notes = self.0.notes.iter();
        notes.map(|(label, text)| (label.as_ref(), text.as_str()))
    }

    /// Returns the message and the found input, for a warning of a job that continues.
    #[must_use]
    pub fn summary(&self) -> String {
        let found = self.notes().filter(|(label, _)| *label == "found");
        let parts = std::iter::once(self.message()).chain(found.map(|(_, text)| text));
        parts.collect::<Vec<_>>().join(": ")
    }

    /// Returns the help, if any.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        self.notes()
            .find_map(|(label, text)| (label == "help").then(|| text.to_owned()))
    }
}

impl std::error::Error for Error {}

/// Formats `error[H0203]: message`, and one indented line per note.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: ", self.code())?;
        write_message(f, self.message())?;
        write_notes(f, self.notes())
    }
}
