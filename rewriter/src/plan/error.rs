//! Why an edit is refused.

use thiserror::Error;

use crate::edits::{ChangeError, StructureError};
use crate::error::ReadError;
use crate::index::{Bci, MethodIndex};
use crate::limits::MAX_EDITS;
use crate::plan::location::InsertionPoint;
use crate::plan::skip::SkipReason;
use crate::snippet::SnippetError;

/// Why an edit was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The plan is full.
    #[error("a plan holds at most {MAX_EDITS} edits; split the work or select fewer classes")]
    TooManyEdits,
    /// The class has fewer methods.
    #[error("method {method} does not exist: the class has {count}")]
    NoSuchMethod {
        /// The index asked for.
        method: MethodIndex,
        /// How many methods there are.
        count: u32,
    },
    /// An abstract or native method.
    #[error("method {method} has no code, so nothing can be inserted into it")]
    NoCode {
        /// The method.
        method: MethodIndex,
    },
    /// No instruction begins there.
    #[error("no instruction begins at bci {bci} of method {method}")]
    NotAnInstruction {
        /// The method.
        method: MethodIndex,
        /// The bci asked for.
        bci: Bci,
    },
    /// The instruction never goes on to the next one.
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
    /// The instruction does not jump there.
    #[error("the {mnemonic} at bci {bci} of method {method} does not jump to bci {target}")]
    NoJump {
        /// The method.
        method: MethodIndex,
        /// The instruction.
        bci: Bci,
        /// Its mnemonic.
        mnemonic: &'static str,
        /// The target asked for.
        target: Bci,
    },
    /// The method's code cannot be read.
    #[error("method {method} cannot be read: {error}")]
    Unreadable {
        /// The method.
        method: MethodIndex,
        /// Why.
        error: ReadError,
    },
    /// A change that is at no instruction, or something else that is.
    #[error("{point}: a change stands at an instruction, and nothing else does")]
    Misplaced {
        /// Where.
        point: InsertionPoint,
    },
    /// The change does not suit its instruction.
    #[error("method {method} bci {bci} cannot be changed so: {error}")]
    Change {
        /// The method.
        method: MethodIndex,
        /// The instruction.
        bci: Bci,
        /// Why not.
        error: ChangeError,
    },
    /// The class cannot be edited so.
    #[error(transparent)]
    Class(#[from] StructureError),
    /// Nothing can stand there.
    #[error("{point}: {reason}")]
    NotThere {
        /// Where.
        point: InsertionPoint,
        /// Why not.
        reason: Box<SkipReason>,
    },
    /// The snippet cannot stand there.
    #[error("{point}: {error}")]
    Snippet {
        /// Where.
        point: InsertionPoint,
        /// Why not.
        error: SnippetError,
    },
}
