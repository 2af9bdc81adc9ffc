//! Classes, plans and differences as text, in the manner of `javap -v -p`.
//!
//! The same input gives the same text in every run, so it can be kept and
//! compared. The functions are pure, take any bytes that
//! [`ClassFile::read`](crate::ClassFile::read) takes, say where something
//! cannot be read, and go on behind it. What they write is bounded: one text of
//! the class at 1,000 bytes, all of it at [`MAX_OUTPUT`].
//!
//! Control characters and those that change the direction of writing are
//! escaped, so that a class cannot play tricks on a terminal.

mod bounded;
mod code;
mod constant;
mod difference;
mod flags;
mod frames;
mod header;
mod plan;
mod row;

pub use bounded::MAX_OUTPUT;
pub use difference::difference;
pub use plan::{Remark, What, class, edits, plan};
