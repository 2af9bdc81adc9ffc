//! Methods recorded as spans.
//!
//! | module | holds |
//! |---|---|
//! | `runtime` | where the threads of the application record, and how values are read |
//! | `counters` | the arrays of counters |
//! | `event_file` | the event file of one agent |
//! | `recorder` | the thread that reads what the threads of the application record |
//!
//! What the running code writes to stays in the JVM for its lifetime, as the probe arrays do: a method
//! that was entered as a span says so when it is left, also after the agent has left.

pub(crate) mod counters;
pub(crate) mod event_file;
pub(crate) mod recorder;
pub(crate) mod runtime;
