//! Limits for one JVM.

/// Maximum number of spans in one JVM: numbers are never reused.
pub const MAX_SPANS: u32 = 1 << 18;
/// Maximum number of different programs in one JVM. Spans refer to them by a 16-bit number, so none is ever freed.
pub const MAX_PROGRAMS: usize = u16::MAX as usize;
/// Maximum bytes of the rows and names of values that a plugin requests for its spans, counters and events in one JVM,
/// as an event file writes them. The agent holds them in memory, once more while it writes them, and so does the file.
pub const MAX_PLUGIN_BYTES: usize = 64 << 20;
