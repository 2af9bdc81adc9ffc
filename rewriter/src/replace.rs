//! Replacements of single instructions, resolved against the code.

mod around;
mod method_cache;
mod objects;
mod resolve;

pub use around::Operands;
pub(crate) use resolve::{ChangedMethod, Replacement};
