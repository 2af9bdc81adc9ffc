//! The error that a user sees when a command fails.

use std::borrow::Cow;
use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

use control::Refusal;
use host::HostError;
use trace::numbers::counted;

/// Exit code of a command with an incomplete result.
pub const PARTIAL: u8 = 3;

/// Exit code of a command that found less coverage than required.
pub const SHORT: u8 = 4;

/// An error that ends the command: a stable code, the expected and the found input, and help.
///
/// Codes `H06xx` belong to the command line; others come from the libraries below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    exit: u8,
    error: HostError,
}

impl Problem {
    /// Returns a mistake of the user; exit code 2.
    #[must_use]
    pub fn user(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            exit: 2,
            error: HostError::new(code, message),
        }
    }

    /// Returns a failure that is not the user's mistake; exit code 1.
    #[must_use]
    pub fn ours(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            exit: 1,
            error: HostError::new(code, message),
        }
    }

    /// Returns the error for an interrupted command; exit code 130, as shells expect.
    #[must_use]
    pub fn interrupted() -> Self {
        let error = HostError::new("H0645", "interrupted; nothing was written");
        Self { exit: 130, error }
    }

    /// Returns the error for a command interrupted while the classes of a JVM were changed; exit
    /// code 130, as shells expect.
    #[must_use]
    pub fn stopped_halfway() -> Self {
        let error = HostError::new("H0645", "interrupted between two batches of classes")
            .with("found", "later classes are unchanged")
            .with("help", "`classhook status` counts the changed classes; repeat the command, or undo it with `classhook off`");
        Self { exit: 130, error }
    }

    /// Returns the error for a visit interrupted before all classes of the JVM were changed; exit
    /// code 130, as shells expect.
    #[must_use]
    pub fn stopped_visit(changed: usize) -> Self {
        let changed = format!("{} had been changed", counted(changed, "class"));
        let error = HostError::new("H0645", "interrupted before all classes were changed")
            .with("found", changed)
            .with("note", "the JVM's classes are restored");
        Self { exit: 130, error }
    }

    /// Returns the error for an incomplete result; exit code 3.
    #[must_use]
    pub fn partial(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            exit: PARTIAL,
            error: HostError::new(code, message),
        }
    }

    /// Returns the error for insufficient coverage; exit code 4.
    #[must_use]
    pub fn short(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            exit: SHORT,
            error: HostError::new(code, message),
        }
    }

    /// Returns this error with exit code 3: the rest of the result is complete.
    #[must_use]
    pub fn partly(self) -> Self {
        let exit = PARTIAL;
        Self { exit, ..self }
    }

    /// Adds a labelled line, such as `found` or `help`.
    #[must_use]
    pub fn with(self, label: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        Self {
            error: self.error.with(label, text),
            ..self
        }
    }

    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> &str {
        self.error.code()
    }

    /// Returns the exit code of the command.
    #[must_use]
    pub fn exit(&self) -> u8 {
        self.exit
    }

    /// Returns the message and the found input, for a warning of a command that continues.
    #[must_use]
    pub fn cause(&self) -> String {
        let found = self.error.notes().filter(|(label, _)| *label == "found");
        let parts = std::iter::once(self.error.message()).chain(found.map(|(_, text)| text));
        parts.collect::<Vec<_>>().join(": ")
    }

    /// Returns the help, if any.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let mut notes = self.error.notes();
        notes.find_map(|(label, text)| (label == "help").then(|| text.to_owned()))
    }

    /// Returns the error for an unreadable file that the user named (`H0612`).
    #[must_use]
    pub fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        Self::user("H0612", format!("cannot read {}", path.display()))
            .with("found", error.to_string())
            .with("help", "check the path and its permissions")
    }

    /// Returns the error for a partly written file (`H0620`); exit code 3.
    #[must_use]
    pub fn cut_short(path: &Path, error: &std::io::Error) -> Self {
        Self::partial("H0620", format!("cannot write {} to its end", path.display()))
            .with("found", error.to_string())
            .with(
                "help",
                "the file holds the earlier data, and its last line may be cut; name a file on a disk with space",
            )
    }

    /// Returns the error for an unwritable file or folder (`H0620`). Without space the exit code is
    /// 3, because the user made no mistake.
    #[must_use]
    pub fn unwritable(path: &Path, error: &std::io::Error) -> Self {
        let message = format!("cannot write {}", path.display());
        let no_space = matches!(
            error.kind(),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded
        );
        let (problem, help) = match no_space {
            true => (
                Self::partial("H0620", message),
                "make room there, and try again",
            ),
            false => (
                Self::user("H0620", message),
                "nothing was changed there; check the path, its permissions and the space left",
            ),
        };
        problem.with("found", error.to_string()).with("help", help)
    }
}

impl From<HostError> for Problem {
    /// The host refuses configuration, plugins and grants: mistakes of the user.
    fn from(error: HostError) -> Self {
        Self { exit: 2, error }
    }
}

impl From<Refusal> for Problem {
    /// An agent refuses a request of the user.
    fn from(refusal: Refusal) -> Self {
        let Refusal {
            code,
            message,
            notes,
        } = refusal;
        let problem = Self::user(code, message);
        notes
            .into_iter()
            .fold(problem, |problem, (label, text)| problem.with(label, text))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for Problem {}
