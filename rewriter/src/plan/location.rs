//! Locations in the code of methods.

use std::fmt;

use crate::impl_stored;
use crate::index::{Bci, MethodIndex};

/// A location in a method's original code.
///
/// Several edits at one location run in the order of the plan. Where locations meet
/// in front of one instruction, a fall-through (or entry) comes first, then
/// `Before`, then the edge of a `goto`, then the instruction.
///
/// What the tables of the method say about inserted code:
/// * code at `Entry` and `FallThrough` stands before the label of the next
///   instruction: jumps skip it, and an exception range that begins at that
///   instruction does not cover it, nor does one that ends there;
/// * code at `Before` stands behind the label: jumps and handlers land on it,
///   ranges that begin at the instruction cover it, and its line is the
///   instruction's;
/// * the line entry and the local variables that begin at bci 0 cover the code
///   at `Entry` as well;
/// * code on a jump edge that cannot stand in front of its `goto` stands behind
///   the method's code, in no range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Location {
    /// Once per invocation; jumps to bci 0 do not pass it.
    Entry,
    /// Every path into the instruction: falling into it, jumps and handlers.
    Before(Bci),
    /// The instruction itself: only for [`Action::Change`](crate::Action::Change).
    At(Bci),
    /// Only when the instruction at this bci completes normally and control
    /// goes on to the one behind it; jumps to that one skip it. A conditional
    /// branch completes so when it is not taken.
    FallThrough(Bci),
    /// The jump from `source` to `target`. All keys of a switch, and its
    /// default, that go to `target` are one edge.
    Jump {
        /// A branch, `goto`, or switch.
        source: Bci,
        /// Where it goes.
        target: Bci,
    },
    /// The method left by an exception that it does not handle: a handler of
    /// everything over the original code, last in the exception table, that
    /// throws the exception again when the inserted code has run. In a
    /// constructor it covers what comes after `super()` or `this()`. The handler
    /// stands behind all other code.
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
    /// Where in it.
    pub location: Location,
}

impl_stored!(struct InsertionPoint { method, location });

impl fmt::Display for InsertionPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "method {} {}", self.method, self.location)
    }
}
