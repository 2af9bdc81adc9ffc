//! The edge: everything that is `unsafe`, and nothing that decides anything.
//!
//! Entry points and callbacks ([`entry`], [`callbacks`]) convert their arguments, run safe code
//! inside [`guard`], and convert the answer back.

#![expect(
    unsafe_code,
    reason = "this is the edge; everywhere else unsafe code is denied"
)]

pub(crate) mod callbacks;
pub(crate) mod clock;
pub(crate) mod current;
mod entry;
pub(crate) mod error;
mod guard;
pub(crate) mod jvmti;
pub(crate) mod live;
mod natives;
pub(crate) mod phases;
pub(crate) mod place;
pub(crate) mod process;
pub(crate) mod refs;
#[expect(
    non_snake_case,
    reason = "functions and events bear the names of the specification"
)]
pub(crate) mod table;
pub(crate) mod values;
pub(crate) mod vm;
