//! The self-check: un-splices the output and compares it with the original.
//!
//! The check parses the output, and removes the planned code instruction by instruction. The rest must be the original:
//! every instruction, target, handler, frame and table entry at its computed position.

mod class;
mod error;
mod expected;
mod followed;
mod frames;
mod inserted;
mod machine;
mod method;
mod mismatch;
mod near;
mod new_names;
mod replaced;
mod retyped;
mod snippet;
mod structure;
mod tables;
mod unsound;
mod walk;
mod whole;
mod whole_types;

pub use class::check_splice;
pub use method::CheckScratch;
pub use replaced::{check_replacement, check_shape, check_soundness};
pub use unsound::ReplacementError;
pub(crate) use whole::check as check_whole;
