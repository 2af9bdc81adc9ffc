//! Every numeric limit, with where it comes from.

/// Longest code array (JVMS 4.7.3: `code_length` must be less than 65,536).
pub const MAX_CODE_LENGTH: usize = 65_535;
/// Most entries of a constant pool, the unused one at index 0 included (JVMS 4.1).
pub const MAX_POOL_COUNT: usize = 65_535;
/// Deepest operand stack (JVMS 4.7.3, a `u2`).
pub const MAX_STACK: u32 = 65_535;
/// HotSpot never compiles a longer method (`HugeMethodLimit`).
pub const HUGE_METHOD: usize = 8_000;
/// Deepest nesting of `element_value`s that is followed (JVMS 4.7.16.1 sets
/// none; recursion on hostile input has to end).
pub const MAX_ELEMENT_DEPTH: u32 = 64;
/// Most edits in one plan: ten per code byte of the largest method, times sixteen.
pub const MAX_EDITS: usize = 1 << 24;
/// Highest index `sipush` can push (JVMS 6.5.sipush).
pub const MAX_PROBE_INDEX: u32 = 32_767;
/// First version whose methods have a `StackMapTable` (JVMS 4.10.1).
pub const FRAMES_SINCE: u16 = 50;
/// First version whose methods need one (JVMS 4.10).
pub const FRAMES_REQUIRED_SINCE: u16 = 51;
