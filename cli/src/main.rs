//! The `classhook` command. The library beside this file holds all of its code.

use std::process::ExitCode;

/// musl's own allocator has one lock for all threads, and reports use every core.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main()
}
