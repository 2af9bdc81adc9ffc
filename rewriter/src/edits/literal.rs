//! Numbers and texts.

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
