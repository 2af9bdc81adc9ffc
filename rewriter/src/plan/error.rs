//! Errors of plans.

use thiserror::Error;

use crate::edits::{ChangeError, StructureError};
use crate::error::ReadError;
use crate::index::{Bci, MethodIndex};
use crate::limits::MAX_EDITS;
use crate::plan::skip::SkipReason;
use crate::snippet::SnippetError;
use ::edits::InsertionPoint;

/// The reason why an edit was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The plan is full.
    #[error("a plan holds at most {MAX_EDITS} edits; split the work or select fewer classes")]
    TooManyEdits,
    /// The class has fewer methods.
    #[error("method {method} does not exist: the class has {count}")]
    NoSuchMethod {
        /// The requested index.
        method: MethodIndex,
        /// Number of methods.
        count: u32,
    },
    /// An abstract or native method.
    #[error("method {method} has no code, so nothing can be inserted into it")]
    NoCode {
        /// The method.
        method: MethodIndex,
    },
    /// The bci is not the start of an instruction.
    #[error("no instruction begins at bci {bci} of method {method}")]
    NotAnInstruction {
        /// The method.
        method: MethodIndex,
        /// The requested bci.
        bci: Bci,
    },
    /// The instruction never completes into the next one.
    #[error(
        "the {mnemonic} at bci {bci} of method {method} never completes into the next instruction"
    )]
    NoFallThrough {
        /// The method.
        method: MethodIndex,
        /// The instruction.
        bci: Bci,
        /// Its mnemonic.
        mnemonic: &'static str,
    },
    /// The instruction does not jump to this target.
    #[error("the {mnemonic} at bci {bci} of method {method} does not jump to bci {target}")]
    NoJump {
        /// The method.
        method: MethodIndex,
        /// The instruction.
        bci: Bci,
        /// Its mnemonic.
        mnemonic: &'static str,
        /// The requested target.
        target: Bci,
    },
    /// The method's code is malformed.
    #[error("method {method} cannot be read: {error}")]
    Unreadable {
        /// The method.
        method: MethodIndex,
        /// The fault.
        error: ReadError,
    },
    /// A change and [`Location::At`](crate::Location::At) occur without each other.
    #[error("{point}: changes are at an instruction, and other edits never are")]
    Misplaced {
        /// The insertion point.
        point: InsertionPoint,
    },
    /// The change does not suit its instruction.
    #[error("the change does not fit method {method} bci {bci}: {error}")]
    Change {
        /// The method.
        method: MethodIndex,
        /// The instruction.
        bci: Bci,
        /// The reason.
        error: ChangeError,
    },
    /// The class does not allow this edit.
    #[error(transparent)]
    Class(#[from] StructureError),
    /// The location cannot have inserted code.
    #[error("{point}: {reason}")]
    NotThere {
        /// The insertion point.
        point: InsertionPoint,
        /// The reason.
        reason: Box<SkipReason>,
    },
    /// The location cannot have this snippet.
    #[error("{point}: {error}")]
    Snippet {
        /// The insertion point.
        point: InsertionPoint,
        /// The reason.
        error: SnippetError,
    },
}
