//! Finds instructions by their operands. Only this module calls these functions of the host.

use crate::bindings::classhook::plugin::queries as host;
use crate::numbers::{At, Place};
use crate::source::{ClassSide, ClassSource};
use crate::wit::{DynamicFound, Failure, Found, Jump};

impl Found {
    /// The place before the instruction, on every path to it.
    #[must_use]
    pub fn before(&self) -> Place {
        self.place(At::Before(self.bci))
    }

    /// The place of the instruction itself, for edits that change it.
    #[must_use]
    pub fn instruction(&self) -> Place {
        self.place(At::Instruction(self.bci))
    }

    fn place(&self, at: At) -> Place {
        let method = self.method;
        Place { method, at }
    }
}

pub(crate) fn find(
    of: &dyn ClassSource,
    kind: &str,
    method: Option<u16>,
    pattern: &str,
) -> Result<Vec<Found>, Failure> {
    match of.side() {
        ClassSide::Host(view) => host::find(view, kind, method, pattern),
        ClassSide::Native(class) => class.find(kind, method, pattern),
    }
}

pub(crate) fn dynamic_calls(
    of: &dyn ClassSource,
    method: Option<u16>,
    pattern: &str,
) -> Result<Vec<DynamicFound>, Failure> {
    match of.side() {
        ClassSide::Host(view) => host::dynamic_calls(view, method, pattern),
        ClassSide::Native(class) => class.dynamic_calls(method, pattern),
    }
}

pub(crate) fn loops(of: &dyn ClassSource, method: u16) -> Result<Vec<Jump>, Failure> {
    match of.side() {
        ClassSide::Host(view) => host::loops(view, method),
        ClassSide::Native(class) => class.loops(method),
    }
}
