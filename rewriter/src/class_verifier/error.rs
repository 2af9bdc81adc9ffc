//! Errors of a class file that should replace another.

use thiserror::Error;

use crate::class::Method;
use crate::edits::StructureError;
use crate::error::ReadError;
use crate::self_check::SelfCheckError;
use jvms::flag_rules::Flags;

pub(super) const FITS: &str = "types that fit the stack map frame";
pub(super) const CODE: &str = "code whose types fit";

/// A bci, and the expectation at it.
pub(super) type CodeFault = (u32, &'static str);

/// The reason why a class file cannot replace another.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReplacementError {
    /// It is not a class file.
    #[error("not a class file: {0}")]
    Unreadable(#[from] ReadError),
    /// It is another class, or has another shape.
    #[error("expected {what} of the class, {expected}, found {found}")]
    Differs {
        /// The part that differs.
        what: &'static str,
        /// The value in the original.
        expected: String,
        /// The value in the replacement.
        found: String,
    },
    /// The JVM would reject a part of it.
    #[error("expected {expected} in {part}")]
    Unsound {
        /// The part.
        part: String,
        /// The expectation.
        expected: &'static str,
    },
    /// The JVM would reject a combination of access flags.
    #[error("{part} has access flags {bits:#06x}, but {rule}")]
    Flags {
        /// The part.
        part: String,
        /// The flags.
        bits: u16,
        /// The rule.
        rule: &'static str,
    },
    /// A member or interface is declared twice.
    #[error(transparent)]
    Structure(StructureError),
    /// The JVM would reject a method's code.
    #[error("expected {expected} in {method} at bci {bci}")]
    Code {
        /// The method.
        method: String,
        /// The bci.
        bci: u32,
        /// The expectation.
        expected: &'static str,
    },
    /// An invalid name or descriptor.
    #[error(transparent)]
    Name(SelfCheckError),
}

pub(super) type Checked = Result<(), ReplacementError>;

/// Fails with the part and the expectation unless `holds`.
pub(super) fn expect(
    holds: bool,
    part: impl FnOnce() -> String,
    expected: &'static str,
) -> Checked {
    match holds {
        true => Ok(()),
        false => Err(ReplacementError::Unsound {
            part: shown(&part()),
            expected,
        }),
    }
}

/// Fails unless the flags go together.
pub(super) fn expect_flags(flags: Flags<'_>, part: impl FnOnce() -> String) -> Checked {
    flags.check().map_err(|rule| ReplacementError::Flags {
        part: shown(&part()),
        bits: flags.bits,
        rule,
    })
}

/// Maximum bytes of a text shown in an error.
const SHOWN: usize = 80;

pub(super) fn shown(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

pub(super) fn heading(method: &Method<'_, '_>) -> String {
    format!("{}{}", method.name(), method.descriptor())
}
