//! Differences between a spliced class and its plan.

use thiserror::Error;

use crate::edits::StructureError;
use crate::error::ReadError;
use crate::index::MethodIndex;
use crate::plan::SkipReason;

/// A difference between a spliced class and its plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SelfCheckError {
    /// The output is not a class file.
    #[error("the output cannot be read: {0}")]
    Unreadable(#[from] ReadError),
    /// A part outside the methods' code differs.
    #[error("the {part} of the output differs from the original's")]
    Differs {
        /// The part.
        part: &'static str,
    },
    /// A method's code is not that of the original with the plan's edits.
    #[error("method {method}: expected {expected} at bci {bci} (now {position})")]
    Method {
        /// The method.
        method: MethodIndex,
        /// The expectation.
        expected: &'static str,
        /// Bci in the original code.
        bci: u32,
        /// Position in the new code.
        position: u32,
    },
    /// A class edit is missing, or there is another change.
    #[error("the class edits differ from the plan: expected {expected}")]
    ClassEdits {
        /// The expectation.
        expected: &'static str,
    },
    /// An added name or descriptor is invalid (JVMS 4.2, 4.3).
    #[error("expected a valid {what}, found `{found}`")]
    BadName {
        /// The expected syntax.
        what: &'static str,
        /// The invalid text, truncated if long.
        found: String,
    },
    /// The class changed although its class edits are refused.
    #[error("the class was changed although {0}")]
    ClassRefused(StructureError),
    /// The original of a changed method is malformed.
    #[error("method {method} was changed although {reason}")]
    Refused {
        /// The method.
        method: MethodIndex,
        /// The reason to skip it.
        reason: SkipReason,
    },
}
