//! Methods recorded as spans.
//!
//! | module | holds |
//! |---|---|
//! | `runtime` | the memory in which the application's threads record, and the reading of values |
//! | `counters` | the arrays of counters |
//! | `event_file` | the event file of one agent |
//! | `recorder` | the thread that reads the calls that the application's threads record |
//!
//! The memory to which running code writes stays in the JVM for its lifetime, as the probe arrays do. A method that was
//! entered as a span records its end even after the agent has left.

pub(crate) mod counters;
pub(crate) mod event_file;
pub(crate) mod recorder;
pub(crate) mod runtime;
