//! Classes, plans and differences as text, in the style of `javap -v -p`.
//!
//! The same input gives the same text in every run, so the text can be stored and compared. The functions are pure and
//! accept any bytes that [`ClassFile::read`](rewriter::ClassFile::read) accepts. They report malformed parts and continue
//! after them. Output is bounded: one text of the class at 1,000 bytes, all of it at [`MAX_OUTPUT`].
//!
//! Control characters and those that change the writing direction are escaped, so that a class cannot manipulate a
//! terminal.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

mod bounded;
mod code;
mod constant;
mod difference;
mod flags;
mod frames;
mod header;
mod name;
mod plan;
mod row;

pub use bounded::MAX_OUTPUT;
pub use difference::difference;
pub use plan::{Remark, RemarkContent, class, edits, plan};
