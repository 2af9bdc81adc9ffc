//! Classes instrumented before they run, and the agent linked into a launcher.

mod link;
mod modes;
