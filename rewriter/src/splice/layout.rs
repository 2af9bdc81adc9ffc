//! Layout of the new code: decoding, locations, and positions after insertion.

mod decode;
mod edits;
mod fast_path;
mod model;
mod reach;
mod settle;

pub(crate) use model::{Gap, INVERTED, Jump, JumpKind, Layout, TRAMPOLINE_MARK, Trampoline};
