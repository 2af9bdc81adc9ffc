//! Numbers and texts.

use crate::impl_stored;

/// A number or text that a field or an argument can have. Floating point
/// numbers are kept by their bits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Literal {
    /// An `int`, or what the JVM keeps as one (`boolean`, `byte`, `char`, `short`).
    Int(i32),
    /// A `long`.
    Long(i64),
    /// The bits of a `float`.
    Float(u32),
    /// The bits of a `double`.
    Double(u64),
    /// A string.
    String(String),
}

impl_stored!(enum Literal {
    0 Int(value),
    1 Long(value),
    2 Float(bits),
    3 Double(bits),
    4 String(text),
});
