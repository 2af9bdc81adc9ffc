//! Numbers and texts.

use crate::impl_stored;

/// A number or text as the value of a field or an argument. Floating point numbers are kept as bits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Literal {
    /// An `int`, or a type that the JVM stores as one (`boolean`, `byte`, `char`, `short`).
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
