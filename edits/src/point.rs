//! Locations in the code of methods.

use std::fmt;

use stored::{impl_stored, index};

index! {
    /// Index of an instruction in the original code array (JVMS 4.7.3).
    Bci;
    /// Index of a method in the class file, from 0.
    MethodIndex;
}

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
pub enum Location {
    /// Once per invocation; jumps to bci 0 do not pass it.
    Entry,
    /// Every path into the instruction: fall-through, jumps and handlers.
    Before(Bci),
    /// The instruction itself, for edits that change it.
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

impl From<InsertionPoint> for u64 {
    /// Packs a point: bits 0 to 15 are the method, 16 to 31 the bci, 32 to 47 the target of a jump, 48 to 63 the kind.
    fn from(point: InsertionPoint) -> Self {
        let (kind, bci, target) = match point.location {
            Location::Entry => (0, Bci(0), Bci(0)),
            Location::Before(bci) => (1, bci, Bci(0)),
            Location::FallThrough(bci) => (2, bci, Bci(0)),
            Location::Jump { source, target } => (3, source, target),
            Location::Unwind => (4, Bci(0), Bci(0)),
            Location::At(bci) => (5, bci, Bci(0)),
        };
        let [method, bci, target] = [point.method.0, bci.0, target.0].map(u64::from);
        method | bci << 16 | target << 32 | kind << 48
    }
}

impl InsertionPoint {
    /// Unpacks a point. Returns `None` for an unknown kind.
    #[must_use]
    pub fn unpacked(number: u64) -> Option<Self> {
        let bci = Bci((number >> 16) as u16);
        let location = match number >> 48 {
            0 => Location::Entry,
            1 => Location::Before(bci),
            2 => Location::FallThrough(bci),
            3 => Location::Jump {
                source: bci,
                target: Bci((number >> 32) as u16),
            },
            4 => Location::Unwind,
            5 => Location::At(bci),
            _ => return None,
        };
        Some(Self {
            method: MethodIndex(number as u16),
            location,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_packed_as_the_interface_specifies() {
        let jump = Location::Jump {
            source: Bci(1),
            target: Bci(0xabcd),
        };
        for (location, number) in [
            (Location::Entry, 0xfffe),
            (Location::Before(Bci(0x1234)), 0x0001_0000_1234_fffe),
            (Location::FallThrough(Bci(1)), 0x0002_0000_0001_fffe),
            (jump, 0x0003_abcd_0001_fffe),
            (Location::Unwind, 0x0004_0000_0000_fffe),
            (Location::At(Bci(1)), 0x0005_0000_0001_fffe),
        ] {
            let point = InsertionPoint {
                method: MethodIndex(0xfffe),
                location,
            };
            assert_eq!(u64::from(point), number);
            assert_eq!(InsertionPoint::unpacked(number), Some(point));
        }
        assert_eq!(InsertionPoint::unpacked(6 << 48), None);
    }

    #[test]
    fn location_of_an_unknown_kind_is_refused() {
        let jump = Location::Jump {
            source: Bci(1),
            target: Bci(2),
        };
        let point = InsertionPoint::unpacked(0x0003_0002_0001_0007).expect("a point");
        assert_eq!((point.method, point.location), (MethodIndex(7), jump));
        assert_eq!(InsertionPoint::unpacked(6 << 48), None);
    }
}
