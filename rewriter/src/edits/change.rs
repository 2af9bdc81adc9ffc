//! Changes of single instructions.

use std::fmt;
use thiserror::Error;

use crate::edits::literal::Literal;
use crate::impl_stored;
use crate::snippet::{MemberName, Snippet, SnippetError};

/// A method and how it is called.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallTarget {
    /// `invokestatic`, `invokevirtual`, `invokeinterface` or `invokespecial`.
    pub opcode: u8,
    /// The method.
    pub method: MemberName,
}

impl_stored!(struct CallTarget { opcode, method });

/// What becomes of one instruction. Operands and result stay what they are, so
/// no stack map frame changes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Change {
    /// A call (`invoke…`, `invokedynamic` included) or field access becomes the
    /// call of a method that takes what was on the stack (receiver first, for a
    /// static method) and gives what was expected. Reference types may be taken
    /// as `Object`.
    Call(CallTarget),
    /// A field access becomes that of another field of the same type; an
    /// instance access may become a static one.
    Field {
        /// `getstatic`, `putstatic`, `getfield` or `putfield`.
        opcode: u8,
        /// The field.
        field: MemberName,
    },
    /// A call or field access is taken out: its operands are dropped, and
    /// instead of a result this is pushed; zero or null if nothing is given.
    Remove(Option<Literal>),
    /// `new` and the constructor calls that belong to it make an object of this
    /// class instead, which has a constructor of the same descriptor and is a
    /// subclass of the old one.
    New {
        /// Internal name of the subclass.
        class: String,
        /// Whether a cast to the old class shows the verifier what no class file
        /// here says: that this is a subclass of it.
        cast: bool,
    },
    /// `new`, `dup` and the constructor calls that belong to it become calls of
    /// a static method with the constructor's parameters that gives the object.
    Factory(MemberName),
    /// Code around a call other than a constructor's, a field access,
    /// `monitorenter`, `monitorexit` or the creation of an array. It finds
    /// nothing on the stack, reads the operands by
    /// [`Snippet::load_operand`], has the instruction executed by one
    /// [`Snippet::proceed`], and leaves what the instruction gives.
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

/// Why a change does not suit its instruction.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The instruction is of another kind.
    #[error("expected {expected}, found {found}")]
    OtherInstruction {
        /// What the change is for.
        expected: &'static str,
        /// Mnemonic of what stands there.
        found: &'static str,
    },
    /// Operands or result are not those of the target.
    #[error("expected {expected}, found {found}")]
    OtherTypes {
        /// What the instruction takes and gives.
        expected: String,
        /// What the target takes and gives.
        found: String,
    },
    /// The verifier would not take the new class for the old one.
    #[error(
        "no class is loaded to see that {class} is a subclass of {wanted}: allocate it with a cast"
    )]
    NotShown {
        /// The new class.
        class: String,
        /// The old one.
        wanted: String,
    },
    /// A name or opcode that cannot be.
    #[error("{0}")]
    BadTarget(SnippetError),
    /// The code around the instruction does not fit it.
    #[error("the code around it does not fit: {0}")]
    Code(SnippetError),
    /// It cannot be done here.
    #[error("{0}")]
    NotHere(&'static str),
}
