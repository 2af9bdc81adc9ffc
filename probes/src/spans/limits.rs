//! What one JVM can have.

/// Most spans of one JVM: numbers are never used again.
pub const MAX_SPANS: u32 = 1 << 18;
/// Most different programs of one JVM: what runs refers to them by number, so none is ever freed.
pub const MAX_PROGRAMS: usize = 1_024;
