//! Code to insert, as a value that is independent of a class.
//!
//! Names are symbols. Splicing assigns pool entries, local variable slots, parameter slots and stack map frames, and
//! checks the types.

mod assembler;
mod checked;
mod display;
mod error;
mod names;
mod operation;

pub use assembler::Snippet;
pub use error::SnippetError;
pub use operation::{Assemble, Label, Member, SnippetId};

pub(crate) use operation::{EncodedMember, Operation, Value};
