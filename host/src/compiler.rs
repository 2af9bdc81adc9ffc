//! Compiles plugins to machine code, in a separate process with limits.
//!
//! ```text
//! CompilerProcess → `classhook child-process compile` (the crate `plugin-compiler`) → plugin_code::Answer
//! ```

mod interface;
mod process;

pub use crate::compiled_code::Code;
pub use interface::Compiler;
pub use process::{COMMAND, CompilerProcess};
pub(crate) use process::{beyond, lasting};
