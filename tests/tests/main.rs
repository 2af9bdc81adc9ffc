//! The end-to-end tests: one real JVM per case, by job.
//!
//! All tests are one binary. So it is linked once, shared fixtures are compiled once, and no core waits at the end of a
//! file.
//! Run a part with `cargo test --release -p e2e-tests -- trace::spans`.

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
