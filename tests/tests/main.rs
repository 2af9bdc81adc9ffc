//! The end-to-end tests: one real JVM per case, by job.
//!
//! One binary, so that it is linked once, what several tests need is compiled once, and no core waits at the end of
//! each file. A part of it: `cargo test --release -p e2e-tests -- trace::spans`.

mod agent;
mod attach;
mod command;
mod coverage;
mod instrument;
mod patch;
mod plugins;
mod profile;
mod rewriter;
mod support;
mod trace;
