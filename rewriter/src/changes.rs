//! Changes of single instructions, resolved against the code.

mod around;
mod facts;
mod objects;
mod resolve;

pub use around::Operands;
pub(crate) use resolve::{ChangedMethod, Replacement};
