//! Numeric limits, with their sources.

/// Maximum length of a code array (JVMS 4.7.3: `code_length` must be less than 65,536).
pub const MAX_CODE_LENGTH: usize = 65_535;
/// Maximum number of constant pool entries, including the unused one at index 0 (JVMS 4.1).
pub const MAX_POOL_COUNT: usize = 65_535;
/// Maximum depth of the operand stack (JVMS 4.7.3, a `u2`).
pub const MAX_STACK: u32 = 65_535;
/// Maximum bytes of a method that HotSpot compiles (`HugeMethodLimit`).
pub const HUGE_METHOD: usize = 8_000;
/// Maximum nesting of `element_value`s. JVMS 4.7.16.1 sets no limit, but recursion on hostile input must end.
pub const MAX_ELEMENT_DEPTH: u32 = 64;
/// Maximum number of edits in one plan: ten per code byte of the largest method, times sixteen.
pub const MAX_EDITS: usize = 1 << 24;
/// Highest index of a probe that `sipush` and `i2c` can push.
pub const MAX_PROBE_INDEX: u32 = 65_535;
/// Highest index that `sipush` alone can push (JVMS 6.5.sipush).
pub const MAX_SHORT_INDEX: u32 = 32_767;
/// First version whose methods have a `StackMapTable` (JVMS 4.10.1).
pub const FRAMES_SINCE: u16 = 50;
/// First version whose methods need one (JVMS 4.10).
pub const FRAMES_REQUIRED_SINCE: u16 = 51;
/// First version with strict fields and with frames that list them; a preview there (JEP 401).
pub const STRICT_FIELDS_SINCE: u16 = 72;
/// `minor_version` of class files with preview features (JVMS 4.1).
pub const PREVIEW: u16 = 65_535;
/// Maximum number of operations of one snippet. An instruction has at most 6 bytes, so every branch inside a snippet is
/// in range.
pub const MAX_SNIPPET_OPERATIONS: usize = 4_096;
/// Maximum bytes of names and strings of one snippet.
pub const MAX_SNIPPET_TEXT: usize = 1 << 18;
/// Maximum number of verification types at all labels of one snippet together.
pub const MAX_SNIPPET_STATE: usize = 1 << 16;
/// First version with `CONSTANT_Class` for `ldc` (JVMS table 4.4-C).
pub const LDC_CLASS_SINCE: u16 = 49;
/// First version that can call static and private methods of interfaces (JVMS 4.9.1).
pub const STATIC_INTERFACE_METHODS_SINCE: u16 = 52;
/// First version with arbitrary unqualified names (JVMS 4.2.2); earlier names are Java identifiers.
pub const ODD_NAMES_SINCE: u16 = 49;
/// Maximum number of a snippet's own local variable slots.
pub const MAX_SNIPPET_SLOTS: u16 = 1_024;
/// Maximum number of passes over a snippet until the types at its labels are stable.
pub const MAX_SNIPPET_PASSES: u32 = 32;
/// Maximum number of local variable slots (JVMS 4.7.3, a `u2`).
pub const MAX_LOCALS: u32 = 65_535;
/// Maximum number of class edits of one plan.
pub const MAX_CLASS_EDITS: usize = 1 << 16;
/// Maximum number of exception table rows whose ranges are extended to code on jump edges. Each row is compared with
/// each edge and each other row.
pub const MAX_EXTENDED_RANGES: usize = 256;
/// Maximum bytes of attributes added by class edits.
pub const MAX_STRUCTURE_BYTES: usize = 16 << 20;
