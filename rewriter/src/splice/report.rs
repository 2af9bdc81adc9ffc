//! Results and errors of splicing.

use thiserror::Error;

use crate::edits::StructureError;
use crate::index::MethodIndex;
use crate::plan::SkipReason;

/// The result of a splice.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpliceReport {
    /// Number of methods that were changed.
    pub rewritten: u32,
    /// Number of edits that were applied.
    pub edits: u32,
    /// Methods that stay unchanged although the plan edits them, and the reasons.
    pub skipped: Vec<(MethodIndex, SkipReason)>,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
    /// Number of class edits that were applied: all of the plan's, or none.
    pub class_edits: u32,
    /// The reason why the whole class stays unchanged, if its class edits were refused.
    pub refused: Option<StructureError>,
}

/// A warning about a changed method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Warning {
    /// HotSpot does not compile methods over 8,000 bytes.
    #[error(
        "method {method} grew from {before} to {after} bytes; HotSpot compiles none longer than 8000"
    )]
    HugeMethod {
        /// The method.
        method: MethodIndex,
        /// Length of its code before.
        before: u32,
        /// Length of its code now.
        after: u32,
    },
    /// A conditional branch now spans more than 32 KB.
    #[error("a branch of method {method} is out of range and became its inverse around a `goto_w`")]
    InvertedBranch {
        /// The method.
        method: MethodIndex,
    },
}

/// The reason why a plan cannot be applied at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpliceError {
    /// The plan has a counter, whose storage only the merging caller knows.
    #[error("probe {probe} is a counter: replace it by its code when you merge the plans")]
    Counter {
        /// The probe.
        probe: u32,
    },
    /// A probe's index exceeds the length of an array.
    #[error("probe {probe} exceeds index 65535; register the class in a fresh array")]
    ProbeOutOfRange {
        /// The probe.
        probe: u32,
    },
    /// A name of the storage is longer than 65,535 bytes.
    #[error("a name of {length} bytes does not fit a constant pool, which allows 65535")]
    NameTooLong {
        /// Its length.
        length: u64,
    },
    /// The plan edits a method that the class does not have.
    #[error(
        "the plan edits method {method}, but the class has {count} methods: it belongs to another class"
    )]
    NoSuchMethod {
        /// The index in the plan.
        method: MethodIndex,
        /// Number of methods.
        count: u32,
    },
}
