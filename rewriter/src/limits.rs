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
/// Highest index of a probe: what `sipush` and `i2c` make of two bytes.
pub const MAX_PROBE_INDEX: u32 = 65_535;
/// Highest index that `sipush` alone can push (JVMS 6.5.sipush).
pub const MAX_SHORT_INDEX: u32 = 32_767;
/// First version whose methods have a `StackMapTable` (JVMS 4.10.1).
pub const FRAMES_SINCE: u16 = 50;
/// First version whose methods need one (JVMS 4.10).
pub const FRAMES_REQUIRED_SINCE: u16 = 51;
/// Most operations of one snippet: no instruction is longer than 6 bytes, so
/// every branch within it reaches.
pub const MAX_SNIPPET_OPERATIONS: usize = 4_096;
/// Most bytes of names and strings of one snippet.
pub const MAX_SNIPPET_TEXT: usize = 1 << 18;
/// Most verification types at all labels of one snippet together.
pub const MAX_SNIPPET_STATE: usize = 1 << 16;
/// First version with `CONSTANT_Class` for `ldc` (JVMS table 4.4-C).
pub const LDC_CLASS_SINCE: u16 = 49;
/// First version that calls static and private methods of interfaces (JVMS 4.9.1).
pub const STATIC_INTERFACE_METHODS_SINCE: u16 = 52;
/// First version in which any unqualified name will do (JVMS 4.2.2); before, names are identifiers of Java.
pub const ODD_NAMES_SINCE: u16 = 49;
/// Most local variable slots of a snippet's own.
pub const MAX_SNIPPET_SLOTS: u16 = 1_024;
/// Most times that a snippet is followed until the types at its labels settle.
pub const MAX_SNIPPET_PASSES: u32 = 32;
/// Most local variable slots (JVMS 4.7.3, a `u2`).
pub const MAX_LOCALS: u32 = 65_535;
/// Most class edits of one plan.
pub const MAX_CLASS_EDITS: usize = 1 << 16;
/// Most rows of an exception table whose ranges are extended to what stands on the
/// edges of jumps (each row is held against each edge and each other row).
pub const MAX_EXTENDED_RANGES: usize = 256;
/// Most bytes of attributes that class edits add.
pub const MAX_STRUCTURE_BYTES: usize = 16 << 20;
