//! Reasons for skipping a method.

use thiserror::Error;

use crate::edits::{ChangeError, ChangeId};
use crate::error::ReadError;
use crate::index::Bci;
use crate::snippet::{SnippetError, SnippetId};
use ::edits::Location;

/// The reason why one method stays unchanged. The rest of the class is not affected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SkipReason {
    /// It is abstract or native.
    #[error("the method has no code")]
    NoCode,
    /// A location of the plan does not exist in this method.
    #[error(
        "the method has no location at bci {bci}: the plan belongs to another version of the class"
    )]
    NoSuchLocation {
        /// The bci in the plan.
        bci: Bci,
    },
    /// Its code or one of its tables violates the JVMS.
    #[error("the method cannot be read: {0}")]
    Unreadable(#[from] ReadError),
    /// The result would exceed 65,535 bytes.
    #[error("the method would grow to {length} bytes, and 65535 are allowed")]
    MethodTooLarge {
        /// The length of the result.
        length: u32,
    },
    /// The constant pool has no room for the entries of the inserted code.
    #[error("the constant pool has no room for the entries that the inserted code needs")]
    PoolFull,
    /// Its operand stack would be too deep.
    #[error("the operand stack would be deeper than 65535")]
    StackTooDeep,
    /// An unknown attribute of its code that may hold bcis.
    #[error("its code has the unknown attribute `{name}`, which may refer to bcis")]
    UnknownAttribute {
        /// Name of the attribute.
        name: String,
    },
    /// A jump needs a trampoline, and its target has no stack map frame.
    #[error("the jump target at bci {bci} has no stack map frame for a trampoline")]
    NoFrame {
        /// The jump's target.
        bci: Bci,
    },
    /// A conditional branch cannot reach its target, no trampoline is in range, and no instruction follows it.
    #[error(
        "the branch at bci {bci} cannot reach its target, and no trampoline fits into its range"
    )]
    OutOfReach {
        /// The branch.
        bci: Bci,
    },
    /// Trampolines need too many stack map frames.
    #[error("its stack map frames would take too many bytes")]
    FramesTooLarge,
    /// A snippet does not fit its location.
    #[error("the snippet {location} does not fit: {error}")]
    Snippet {
        /// The location.
        location: Location,
        /// The reason.
        error: SnippetError,
    },
    /// A change does not suit its instruction.
    #[error("the change does not fit the instruction at bci {bci}: {error}")]
    Change {
        /// The instruction.
        bci: Bci,
        /// The reason.
        error: ChangeError,
    },
    /// Two changes of one instruction.
    #[error("two edits change the instruction at bci {bci}")]
    ChangedTwice {
        /// The instruction.
        bci: Bci,
    },
    /// An edit names a change of another plan.
    #[error("change {change} is not in this plan")]
    NoSuchChange {
        /// The change.
        change: ChangeId,
    },
    /// An edit names a snippet of another plan.
    #[error("snippet {snippet} is not in this plan")]
    NoSuchSnippet {
        /// The snippet.
        snippet: SnippetId,
    },
    /// Too many local variables.
    #[error("the method would need more than 65535 local variables")]
    TooManyLocals,
    /// A snippet or an inverted branch needs a frame, but the types there are unknown.
    #[error(
        "the types at bci {bci} are unknown, but the inserted code needs a stack map frame there"
    )]
    UnknownTypes {
        /// The bci of the missing frame.
        bci: Bci,
    },
    /// A snippet needs a frame between a `new` and its constructor call, but the plan changes the `new`.
    #[error("a snippet with branches is between a changed `new` and its constructor call")]
    NewIsChanged,
    /// No handler can cover the method's code.
    #[error("exceptions that leave the method cannot be observed: {reason}")]
    CannotUnwind {
        /// The reason.
        reason: &'static str,
    },
    /// The exception table would have more than 65,535 rows.
    #[error("its exception table would be longer than 65,535 rows")]
    TooManyHandlers,
    /// Control falls off the end of the code, so no code can follow it.
    #[error("control can fall off the end of the method's code")]
    OpenEnd,
}
