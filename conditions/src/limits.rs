//! Limits of a condition and of a list of values.

/// Maximum bytes of the text of a condition or a list.
pub const MAX_LENGTH: usize = 4_096;
/// Maximum nesting of parentheses and `!` around a test.
pub const MAX_DEPTH: usize = 32;
/// Maximum number of tests of a condition.
pub const MAX_TESTS: usize = 128;
/// Maximum number of steps from an object to a value: `this.a.b[3]` has three.
pub const MAX_STEPS: usize = 8;
/// Maximum number of different values that a condition and a list read from objects.
pub const MAX_SLOTS: usize = 64;
/// Maximum number of frames of a stack.
pub const MAX_STACK: u8 = 100;
/// Maximum bytes of UTF-8 of a compared text.
pub const MAX_TEXT: usize = 1_024;
/// Maximum levels of nested objects that are shown with their fields.
pub const MAX_LEVELS: u8 = 8;
