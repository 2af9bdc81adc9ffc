//! The self-check: un-splices the output and compares it with the original.
//!
//! The check parses the output, and removes the planned code instruction by instruction. The rest must be the original:
//! every instruction, target, handler, frame and table entry at its computed position.

mod added_frames;
mod class;
mod edited_frames;
mod error;
mod expected;
mod fast_path;
mod frames;
mod inserted_code;
mod machine;
mod method;
mod mismatch;
mod new_names;
mod snippet;
mod structure;
mod tables;
mod unsplice;
mod unwinding;

pub use class::check_splice;
pub use method::CheckScratch;

pub(crate) use error::SelfCheckError;
pub(crate) use machine::{Machine, Source};
pub(crate) use new_names::all as check_names;
