//! Limits for one JVM.

/// Maximum number of spans in one JVM: numbers are never reused.
pub const MAX_SPANS: u32 = 1 << 18;
/// Maximum number of different programs in one JVM. Spans refer to them by a 16-bit number, so none is ever freed.
pub const MAX_PROGRAMS: usize = u16::MAX as usize;
