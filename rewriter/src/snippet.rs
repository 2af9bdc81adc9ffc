//! Code to be inserted, as a value that knows no class yet.
//!
//! Names are symbols: pool entries, local variable slots, the parameters'
//! slots and stack map frames are found when the snippet is spliced into a
//! method, and that is when its types are checked.

mod assembler;
mod display;
mod error;
mod names;
mod operation;

pub use assembler::Snippet;
pub use error::SnippetError;
pub use operation::{Label, MemberName, SnippetId};

pub(crate) use operation::{Member, Operation, Value};
