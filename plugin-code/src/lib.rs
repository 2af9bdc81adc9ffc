//! The contract between the compiler of plugins and the host that runs their machine code.
//!
//! The compiler (the crate `plugin-compiler`) runs in a child process, `classhook child-process compile`: the agent in a
//! JVM does not hold it. Both sides build their engine from [`settings`].

mod answer;
mod digest;
pub mod limits;

use wasmtime::Config;

pub use answer::{Answer, MAX_ANSWER};
pub use digest::sha256_hex;

/// The task of a child process that compiles the component on its standard input.
pub const COMPILE: &str = "compile";
/// Most bytes of one instance, the host's own for it included; and most bytes that one call hands to the host.
pub const MAX_MEMORY: usize = 64 << 20;
/// Most of the stack that wasm may use; the stack it runs on is larger.
const WASM_STACK: usize = 256 << 10;

/// The one set of settings that all plugins are compiled and run with.
///
/// * No signal handler is installed: HotSpot's stay as they are.
/// * The address space of the largest instance is reserved, not 4 GiB, so memory never moves as it grows.
/// * The initial content of memory is copied, not mapped from a file: a process may be forbidden to write such files.
/// * Nothing runs concurrently.
#[must_use]
pub fn settings() -> Config {
    let mut config = Config::new();
    config
        .signals_based_traps(false)
        .epoch_interruption(true)
        .max_wasm_stack(WASM_STACK)
        .memory_reservation(MAX_MEMORY as u64)
        .memory_may_move(false)
        .memory_guard_size(0)
        .memory_init_cow(false)
        .concurrency_support(false)
        .wasm_memory64(false);
    config
}
