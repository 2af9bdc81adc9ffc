//! Compiles plugins to machine code, in a child process under limits.
//!
//! The compiler is most of wasmtime's code. It may take minutes and gigabytes for a component that is made for it.
//! So the agent does not hold it: the agent and the command start `classhook child-process compile`, which calls
//! `serve` (`host::compiler`).
//!
//! | module | |
//! |---|---|
//! | `service` | one component on standard input, the answer on standard output |
//! | `compiler` | the engine's own compiler |
//! | `wrapping` | a component from the core module that a compiler of C or Go makes |
//! | `confinement` | limits, and files that are closed |

mod compiler;
mod confinement;
mod service;
mod wrapping;

use std::io;

pub use compiler::compile_file;
pub use wrapping::wrap_file;

/// Compiles the component on standard input, and writes a [`plugin_code::Answer`] to standard output.
///
/// Closes the files that the parent left open, and limits this process before the compiler runs.
///
/// # Errors
/// If this process cannot be limited, or the answer cannot be written.
pub fn serve() -> io::Result<()> {
    confinement::close_inherited()?;
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    service::serve(&mut input, &mut output, &confinement::restrict)
}
