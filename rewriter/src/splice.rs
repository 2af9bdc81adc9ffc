//! Applying a plan to a class.

mod added;
mod added_frames;
mod analysis;
mod class;
mod class_array;
mod emit;
mod frames;
mod hit_methods;
mod inserts;
mod layout;
mod method;
mod order;
mod overflow;
mod positions;
mod probe;
mod replacements;
mod report;
mod snippets;
mod tables;
mod unwinding;

pub use class::{Scratch, splice};
pub use report::{SpliceError, SpliceReport, Warning};

pub(crate) use added::{Added, head, tail};
pub(crate) use analysis::Analysis;
pub(crate) use layout::{INVERTED, TRAMPOLINE_MARK};
pub(crate) use order::{by_method, edit_index, order_by_method};
pub(crate) use positions::Positions;
pub(crate) use probe::ProbeWriter;
pub(crate) use replacements::Replacements;
