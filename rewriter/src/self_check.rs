//! Un-splicing: is the output what the plan says, and nothing else?
//!
//! The output is read again, the inserted code is taken out of it instruction
//! by instruction, and what is left has to be the original: every instruction,
//! target, handler, frame and table entry at the place found on the way.

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
