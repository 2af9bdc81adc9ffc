//! Finds instructions by their operands. Only this module calls these functions of the host.

use crate::bindings::classhook::plugin::queries as host;
use crate::source::{ClassSide, ClassSource};
use crate::wit::{DynamicFound, Found};
use edits::{Bci, InsertionPoint, InstructionKind, Location, MethodIndex, Refusal};

impl Found {
    /// The point of the instruction itself, for edits that change it.
    #[must_use]
    pub fn instruction(&self) -> InsertionPoint {
        InsertionPoint {
            method: self.method(),
            location: Location::At(self.bci()),
        }
    }

    /// The point before the instruction, on every path to it.
    #[must_use]
    pub fn before(&self) -> InsertionPoint {
        InsertionPoint {
            method: self.method(),
            location: Location::Before(self.bci()),
        }
    }

    /// The method of the instruction.
    #[must_use]
    pub fn method(&self) -> MethodIndex {
        MethodIndex(self.at as u16)
    }

    /// The bci of the instruction.
    #[must_use]
    pub fn bci(&self) -> Bci {
        Bci((self.at >> 16) as u16)
    }
}

pub(crate) fn find(
    of: &dyn ClassSource,
    kind: InstructionKind,
    method: Option<u16>,
    pattern: &str,
) -> Result<Vec<Found>, Refusal> {
    match of.side() {
        ClassSide::Host(view) => host::find(view, kind, method, pattern),
        ClassSide::Native(class) => class.find(kind, method, pattern),
    }
}

pub(crate) fn dynamic_calls(
    of: &dyn ClassSource,
    method: Option<u16>,
    pattern: &str,
) -> Result<Vec<DynamicFound>, Refusal> {
    match of.side() {
        ClassSide::Host(view) => host::dynamic_calls(view, method, pattern),
        ClassSide::Native(class) => class.dynamic_calls(method, pattern),
    }
}

pub(crate) fn loops(of: &dyn ClassSource, method: u16) -> Result<Vec<InsertionPoint>, Refusal> {
    match of.side() {
        ClassSide::Host(view) => Ok(points(host::loops(view, method)?)),
        ClassSide::Native(class) => class.loops(method),
    }
}

/// Unpacks points that the host returns.
pub(crate) fn points(numbers: Vec<u64>) -> Vec<InsertionPoint> {
    let numbers = numbers.into_iter();
    numbers.filter_map(InsertionPoint::unpacked).collect()
}
