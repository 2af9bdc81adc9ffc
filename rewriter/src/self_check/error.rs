//! How a spliced class differs from what its plan says.

use thiserror::Error;

use crate::edits::StructureError;
use crate::error::ReadError;
use crate::index::MethodIndex;
use crate::plan::SkipReason;

/// How a spliced class differs from what its plan says.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SelfCheckError {
    /// The output is not a class file.
    #[error("the output cannot be read: {0}")]
    Unreadable(#[from] ReadError),
    /// Something outside of the methods' code differs.
    #[error("the {part} of the output differs from the original's")]
    Differs {
        /// What differs.
        part: &'static str,
    },
    /// A method's code is not the original's with the plan's edits.
    #[error("method {method}: expected {expected} at bci {bci} (now {position})")]
    Method {
        /// The method.
        method: MethodIndex,
        /// What was expected.
        expected: &'static str,
        /// Where in the original code.
        bci: u32,
        /// Where in the new code.
        position: u32,
    },
    /// A class edit is not there, or something else than that changed.
    #[error("the class edits are not what the plan says: expected {expected}")]
    ClassEdits {
        /// What was expected.
        expected: &'static str,
    },
    /// A name or descriptor came into the class that no class file may hold (JVMS 4.2, 4.3).
    #[error("expected a {what} as class files hold it, found `{found}`")]
    BadName {
        /// What it should be.
        what: &'static str,
        /// What it is, cut off where it is long.
        found: String,
    },
    /// The class was changed although its class edits are refused.
    #[error("the class was changed although {0}")]
    ClassRefused(StructureError),
    /// The original of a changed method cannot be read.
    #[error("method {method} was changed although {reason}")]
    Refused {
        /// The method.
        method: MethodIndex,
        /// Why it should have been left alone.
        reason: SkipReason,
    },
}
