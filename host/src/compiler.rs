//! Compiles plugins to machine code, in a separate process with limits.
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
