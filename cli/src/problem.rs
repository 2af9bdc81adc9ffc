//! The error that a user sees when something cannot be done.

use std::borrow::Cow;
use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

use control::Refusal;
use host::HostError;
use trace::numbers::counted;

/// The exit code of a command whose answer is not the whole: something that was asked for could not be had.
pub const PARTIAL: u8 = 3;

/// The exit code of a command that found less coverage than it was to.
pub const SHORT: u8 = 4;

/// An error that ends the command: a stable code, what was expected, what was found, what to do.
///
/// Codes `H06xx` belong to the command line; others come from the libraries below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    exit: u8,
    error: HostError,
}

impl Problem {
    /// The user's mistake; the command ends with 2.
    #[must_use]
    pub fn user(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            exit: 2,
            error: HostError::new(code, message),
        }
    }

    /// Not the user's mistake; the command ends with 1.
    #[must_use]
    pub fn ours(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            exit: 1,
            error: HostError::new(code, message),
        }
    }

    /// Somebody asked the command to stop; it ends as a shell expects, with 130.
    #[must_use]
    pub fn interrupted() -> Self {
        let error = HostError::new("H0645", "interrupted; nothing was written");
        Self { exit: 130, error }
    }

    /// Somebody asked the command to stop while it had the classes of a JVM changed; it ends as a shell expects, with 130.
    #[must_use]
    pub fn stopped_halfway() -> Self {
        let error = HostError::new("H0645", "interrupted between two batches of classes")
            .with("found", "the classes after that are as they were before")
            .with("help", "`classhook status` tells how many are changed; the same command again, or `classhook off`, brings them in line");
        Self { exit: 130, error }
    }

    /// Somebody asked the command to stop before all classes of a JVM that it visits were changed; it ends as a shell
    /// expects, with 130.
    #[must_use]
    pub fn stopped_visit(changed: usize) -> Self {
        let changed = format!("{} had been changed", counted(changed, "class"));
        let error = HostError::new("H0645", "interrupted before all classes were changed")
            .with("found", changed)
            .with("note", "the JVM's classes are as they were before");
        Self { exit: 130, error }
    }

    /// Something was done or found in part only; the command ends with 3.
    #[must_use]
    pub fn partial(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            exit: PARTIAL,
            error: HostError::new(code, message),
        }
    }

    /// Less is covered than was asked for; the command ends with 4.
    #[must_use]
    pub fn short(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            exit: SHORT,
            error: HostError::new(code, message),
        }
    }

    /// The same, where all else that was asked for is there; the command ends with 3.
    #[must_use]
    pub fn partly(self) -> Self {
        let exit = PARTIAL;
        Self { exit, ..self }
    }

    /// The same with one more labelled line, such as `found` or `help`.
    #[must_use]
    pub fn with(self, label: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        Self {
            error: self.error.with(label, text),
            ..self
        }
    }

    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &str {
        self.error.code()
    }

    /// The exit code of the command.
    #[must_use]
    pub fn exit(&self) -> u8 {
        self.exit
    }

    /// The message and what was found, for a warning of something that goes on without.
    #[must_use]
    pub fn cause(&self) -> String {
        let found = self.error.notes().filter(|(label, _)| *label == "found");
        let parts = std::iter::once(self.error.message()).chain(found.map(|(_, text)| text));
        parts.collect::<Vec<_>>().join(": ")
    }

    /// What to do, if that is known.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let mut notes = self.error.notes();
        notes.find_map(|(label, text)| (label == "help").then(|| text.to_owned()))
    }

    /// A file that was named by the user and cannot be read (`H0612`).
    #[must_use]
    pub fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        Self::user("H0612", format!("cannot read {}", path.display()))
            .with("found", error.to_string())
            .with("help", "check the path and its permissions")
    }

    /// A file that was begun, and cannot be written to its end (`H0620`); the command ends with 3.
    #[must_use]
    pub fn cut_short(path: &Path, error: &std::io::Error) -> Self {
        Self::partial("H0620", format!("cannot write {} to its end", path.display()))
            .with("found", error.to_string())
            .with(
                "help",
                "what came before is in it, and its last line may be cut; name a file where there is room",
            )
    }

    /// A file or folder that cannot be written (`H0620`); the command ends with 3 if there is no space, which is no
    /// mistake of the user's.
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
    /// The host refuses configuration, plugins and grants: the user's mistakes.
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
