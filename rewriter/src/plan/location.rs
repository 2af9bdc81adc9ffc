//! Locations in the code of methods.

use std::fmt;

use crate::impl_stored;
use crate::index::{Bci, MethodIndex};

/// A location in a method's original code.
///
/// Several edits at one location run in the order of the plan.
/// Before one instruction, code runs in this order: fall-through (or entry), `Before`, the edge of a `goto`, the
/// instruction.
///
/// The tables of the method treat inserted code as follows:
/// * code at `Entry` and `FallThrough` precedes the label of the next instruction. Jumps skip it. An exception range
///   that begins or ends at that instruction does not cover it;
/// * code at `Before` follows the label. Jumps and handlers reach it, ranges that begin at the instruction cover it,
///   and it has the line of the instruction;
/// * the line entry and the local variables that begin at bci 0 also cover the code at `Entry`;
/// * code on a jump edge that cannot precede its `goto` follows the method's code, outside all ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Location {
    /// Once per invocation; jumps to bci 0 do not pass it.
    Entry,
    /// Every path into the instruction: fall-through, jumps and handlers.
    Before(Bci),
    /// The instruction itself: only for [`Action::Change`](crate::Action::Change).
    At(Bci),
    /// Normal completion of the instruction at this bci into the next one; jumps to the next one skip it. A conditional
    /// branch completes normally when it is not taken.
    FallThrough(Bci),
    /// The jump from `source` to `target`. All keys of a switch, and its
    /// default, that go to `target` are one edge.
    Jump {
        /// A branch, `goto`, or switch.
        source: Bci,
        /// The target of the jump.
        target: Bci,
    },
    /// Exit of the method by an exception that it does not handle. A catch-all handler, last in the exception table,
    /// runs the inserted code and rethrows. In a constructor it covers the code after `super()` or `this()`. The
    /// handler follows all other code.
    Unwind,
}

impl_stored!(enum Location {
    0 Entry,
    1 Before(bci),
    2 At(bci),
    3 FallThrough(bci),
    4 Jump { source, target },
    5 Unwind,
});

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Entry => write!(f, "entry"),
            Location::Before(bci) => write!(f, "before {bci}"),
            Location::At(bci) => write!(f, "at {bci}"),
            Location::FallThrough(source) => write!(f, "after {source}"),
            Location::Jump { source, target } => write!(f, "jump {source} -> {target}"),
            Location::Unwind => write!(f, "unwind"),
        }
    }
}

/// A location in one of a class's methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InsertionPoint {
    /// The method.
    pub method: MethodIndex,
    /// The location in the method.
    pub location: Location,
}

impl_stored!(struct InsertionPoint { method, location });

impl fmt::Display for InsertionPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "method {} {}", self.method, self.location)
    }
}
