//! The self-check: un-splices the output and compares it with the original.
//!
//! The check parses the output, and removes the planned code instruction by instruction. The rest must be the original:
//! every instruction, target, handler, frame and table entry at its computed position.

mod class;
mod edited_frames;
mod error;
mod expected;
mod fast_path;
mod frame_cursor;
mod frames;
mod inserted_code;
mod machine;
mod method;
mod mismatch;
mod new_names;
mod replaced;
mod snippet;
mod structure;
mod tables;
mod unsplice;
mod verifier;

pub use class::check_splice;
pub use method::CheckScratch;
pub use replaced::{check_replacement, check_shape, check_soundness};
pub use verifier::ReplacementError;
pub(crate) use verifier::verify_class;
