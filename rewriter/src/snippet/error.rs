//! Errors of snippets.

use thiserror::Error;

use crate::limits::{MAX_SNIPPET_OPERATIONS, MAX_SNIPPET_TEXT};
use jvms::opcode;

/// The reason why a snippet was refused. Operations are counted from 0, labels included.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SnippetError {
    /// It is full.
    #[error("a snippet holds at most {MAX_SNIPPET_OPERATIONS} operations; call a method instead")]
    TooLong,
    /// Its names and strings are too long together.
    #[error("a snippet holds at most {MAX_SNIPPET_TEXT} bytes of names and strings")]
    TooMuchText,
    /// One string is longer than the constant pool allows.
    #[error("a string of {length} bytes does not fit a constant pool, which allows 65535")]
    TextTooLong {
        /// Its length in modified UTF-8.
        length: u64,
    },
    /// An invalid name or descriptor (JVMS 4.2, 4.3).
    #[error("operation {at}: expected a {expected}, found `{found}`")]
    BadName {
        /// The operation.
        at: u32,
        /// The expected syntax.
        expected: &'static str,
        /// The invalid text, truncated if long.
        found: String,
    },
    /// An instruction that this method does not create.
    #[error("operation {at}: expected {expected}, found {found} ({opcode})")]
    BadOpcode {
        /// The operation.
        at: u32,
        /// The opcode.
        opcode: u16,
        /// Its mnemonic.
        found: &'static str,
        /// The accepted instructions.
        expected: &'static str,
    },
    /// An operand out of range.
    #[error("operation {at}: {mnemonic} cannot have the operand {operand}")]
    BadOperand {
        /// The operation.
        at: u32,
        /// The instruction.
        mnemonic: &'static str,
        /// The operand.
        operand: i32,
    },
    /// A label of another snippet.
    #[error("operation {at}: the label belongs to another snippet; create it with new_label")]
    UnknownLabel {
        /// The operation.
        at: u32,
    },
    /// A label was placed twice.
    #[error("operation {at}: the label has been placed before")]
    LabelPlacedTwice {
        /// The operation.
        at: u32,
    },
    /// A label was never placed.
    #[error("label {label} is never placed")]
    LabelNotPlaced {
        /// Its number in the order of creation, from 0.
        label: u32,
    },
    /// Types do not fit (JVMS 4.10.1.9).
    #[error("operation {at} ({mnemonic}): expected {expected}, found {found}")]
    Mismatch {
        /// The operation; the number of operations for the end of the snippet.
        at: u32,
        /// The instruction.
        mnemonic: &'static str,
        /// The required types.
        expected: String,
        /// The types found.
        found: String,
    },
    /// The operation is not allowed in this class, method or location.
    #[error("operation {at}: {reason}")]
    NotHere {
        /// The operation.
        at: u32,
        /// The reason.
        reason: &'static str,
    },
}

impl SnippetError {
    #[cold]
    pub(crate) fn opcode(at: u32, opcode: u16, expected: &'static str) -> Self {
        let known = u8::try_from(opcode).ok().and_then(opcode::mnemonic);
        SnippetError::BadOpcode {
            at,
            opcode,
            found: known.unwrap_or("no instruction"),
            expected,
        }
    }

    #[cold]
    pub(crate) fn operand(at: u32, opcode: u8, operand: i32) -> Self {
        SnippetError::BadOperand {
            at,
            mnemonic: opcode::mnemonic(opcode).unwrap_or("?"),
            operand,
        }
    }
}
