//! What a condition and a list of values may be.

/// Longest text of a condition or a list, in bytes.
pub const MAX_LENGTH: usize = 4_096;
/// Most parentheses and `!` around a test.
pub const MAX_DEPTH: usize = 32;
/// Most tests of a condition.
pub const MAX_TESTS: usize = 128;
/// Most steps from an object to a value: `this.a.b[3]` has three.
pub const MAX_STEPS: usize = 8;
/// Most different values that a condition and a list read from objects.
pub const MAX_SLOTS: usize = 64;
/// Most frames of a stack.
pub const MAX_STACK: u8 = 100;
/// Longest text that is compared, in bytes of UTF-8.
pub const MAX_TEXT: usize = 1_024;
/// Most objects within one another that are shown with what they hold.
pub const MAX_LEVELS: u8 = 8;
