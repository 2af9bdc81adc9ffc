//! Plugins become machine code: in a process of the command `classhook`, under limits.
//!
//! ```text
//! CompilerProcess → `classhook plugin-compiler` → serve → answer
//! ```
//!
//! The compiler is most of wasmtime's code and may take minutes and gigabytes for a component that is made for it.
//! So it is no part of the agent: cargo's feature `compiler` brings it, for the command and for tests.

mod answer;
mod code;
mod process;
#[cfg(feature = "compiler")]
mod service;

pub use code::{Code, Compiler};
pub use process::{COMMAND, CompilerProcess, SUBCOMMAND, cause_of_end};
pub(crate) use process::{beyond, lasting};
#[cfg(feature = "compiler")]
pub use service::{InProcess, precompile, serve};
