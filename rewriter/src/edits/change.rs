//! Changes of single instructions.

use std::fmt;
use thiserror::Error;

use crate::snippet::{Member, Snippet, SnippetError};
use ::edits::Constant;
use stored::impl_stored;

/// A method and the instruction that invokes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallTarget {
    /// `invokestatic`, `invokevirtual`, `invokeinterface` or `invokespecial`.
    pub opcode: u8,
    /// The method.
    pub method: Member,
}

impl_stored!(struct CallTarget { opcode, method });

/// A change of one instruction. Operands and result keep their types, so stack map frames stay as they are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Change {
    /// Replaces a call (`invoke…`, also `invokedynamic`) or field access by the call of a method. The method takes the
    /// operands (a static method takes the receiver first) and returns the expected result. Reference types may be
    /// taken as `Object`.
    Call(CallTarget),
    /// Replaces a field access by that of another field of the same type. An instance access may become a static one.
    Field {
        /// `getstatic`, `putstatic`, `getfield` or `putfield`.
        opcode: u8,
        /// The field.
        field: Member,
    },
    /// Removes a call or field access: drops its operands, and pushes this value as the result. Without a value it
    /// pushes zero or null.
    Remove(Option<Constant>),
    /// Creates an object of this class in a `new` and its constructor calls. The class is a subclass of the old one and
    /// has a constructor of the same descriptor.
    New {
        /// Internal name of the subclass.
        class: String,
        /// Adds a cast to the old class, for a subclass relation that no class file here shows to the verifier.
        cast: bool,
    },
    /// Replaces `new`, `dup` and the constructor calls by calls of a static method with the constructor's parameters
    /// that returns the object.
    Factory(Member),
    /// Surrounds a call, field access, `monitorenter`, `monitorexit` or array creation with code; constructor calls are
    /// excluded. The code starts with an empty stack and reads the operands by [`crate::Assemble::load_operand`]. It runs the
    /// instruction by one [`crate::Assemble::proceed`] and leaves its result.
    Around(Snippet),
}

impl_stored!(enum Change {
    0 Call(target),
    1 Field { opcode, field },
    2 Remove(value),
    3 New { class, cast },
    4 Factory(method),
    5 Around(code),
});

/// Number of a change within its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangeId(pub(crate) u32);

impl_stored!(struct ChangeId(number));

impl fmt::Display for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The reason why a change does not suit its instruction.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The instruction has another kind.
    #[error("expected {expected}, found {found}")]
    OtherInstruction {
        /// The instructions that the change accepts.
        expected: &'static str,
        /// Mnemonic of the instruction.
        found: &'static str,
    },
    /// Operands or result differ from those of the target.
    #[error("expected {expected}, found {found}")]
    OtherTypes {
        /// Operands and result of the instruction.
        expected: String,
        /// Operands and result of the target.
        found: String,
    },
    /// The verifier would not accept the new class as the old one.
    #[error(
        "the class file does not show that {class} is a subclass of {wanted}: allocate it with a cast"
    )]
    NotShown {
        /// The new class.
        class: String,
        /// The old one.
        wanted: String,
    },
    /// An invalid name or opcode.
    #[error("{0}")]
    BadTarget(SnippetError),
    /// The code around the instruction does not fit it.
    #[error("the code around it does not fit: {0}")]
    Code(SnippetError),
    /// The change is impossible at this instruction.
    #[error("{0}")]
    NotHere(&'static str),
}
