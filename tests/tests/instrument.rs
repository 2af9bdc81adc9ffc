//! Offline instrumented classes, and the agent linked into a launcher.

mod link;
mod modes;
