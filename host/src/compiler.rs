//! Plugins become machine code: in a process of a program of its own, under limits.
//!
//! ```text
//! CompilerProcess → `classhook-plugin-compiler` (the crate `plugin-compiler`) → plugin_code::Answer
//! ```

mod code;
mod process;

pub use code::{Code, Compiler};
pub use plugin_code::COMPILER;
pub use process::{COMMAND, CompilerProcess};
pub(crate) use process::{beyond, lasting};
