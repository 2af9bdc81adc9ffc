//! Why a class file cannot take the place of another.

use thiserror::Error;

use crate::class::Method;
use crate::error::ReadError;
use crate::self_check::error::SelfCheckError;

/// A bci, and what was expected there.
pub(super) type Wrong = (u32, &'static str);

/// Why a class file cannot stand in for another.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReplacementError {
    /// It is not a class file.
    #[error("it is no class file: {0}")]
    Unreadable(#[from] ReadError),
    /// It is another class, or has another shape.
    #[error("expected {what} of the class, {expected}, found {found}")]
    Differs {
        /// What differs.
        what: &'static str,
        /// What the class has.
        expected: String,
        /// What the other has.
        found: String,
    },
    /// A part of it is not as the JVM takes it.
    #[error("expected {expected} in {part}")]
    Unsound {
        /// Which part.
        part: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The same, of a method's code.
    #[error("expected {expected} in {method} at bci {bci}")]
    Code {
        /// The method.
        method: String,
        /// Where.
        bci: u32,
        /// What was expected.
        expected: &'static str,
    },
    /// A name or descriptor that no class file may hold.
    #[error(transparent)]
    Name(SelfCheckError),
}

/// Longest text shown in an error.
const SHOWN: usize = 80;

pub(super) fn shown(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

pub(super) fn heading(method: &Method<'_, '_>) -> String {
    format!("{}{}", method.name(), method.descriptor())
}
