//! What one JVM can have.

/// Most spans of one JVM: numbers are never used again.
pub const MAX_SPANS: u32 = 1 << 18;
/// Most different programs of one JVM. Spans refer to them by a number of 16 bits, so none is ever freed.
pub const MAX_PROGRAMS: usize = u16::MAX as usize;
