//! Errors in the bytes of a class file.

use thiserror::Error;

/// A fault in a class file. Offsets count from the start of the class file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The first four bytes are not `CAFEBABE`.
    #[error("expected a class file beginning with CAFEBABE, found {found:08X}")]
    NotAClassFile {
        /// The first four bytes, big-endian; 0 if there are fewer.
        found: u32,
    },
    /// A structure is longer than its container.
    #[error("{structure} at offset {offset} is truncated: {needed} bytes are missing")]
    Truncated {
        /// The name of the structure in the JVMS.
        structure: &'static str,
        /// Offset of the missing item.
        offset: u32,
        /// Number of missing bytes.
        needed: u32,
    },
    /// Bytes follow the end of a structure.
    #[error("{structure} ends at offset {offset}, but {count} more bytes follow")]
    TrailingBytes {
        /// The structure.
        structure: &'static str,
        /// Offset of its end.
        offset: u32,
        /// Number of bytes left.
        count: u32,
    },
    /// A constant pool entry of a kind that no version defines.
    #[error("constant pool entry {index} at offset {offset} has the unknown tag {tag}")]
    UnknownConstant {
        /// Index of the entry.
        index: u16,
        /// Its tag byte.
        tag: u8,
        /// Its offset.
        offset: u32,
    },
    /// A long or double in the last entry of the constant pool, although it takes two (JVMS 4.4.5).
    #[error(
        "constant pool entry {index} at offset {offset} takes two entries, and the pool ends behind the first"
    )]
    WideConstantAtEnd {
        /// Index of the entry.
        index: u16,
        /// Its offset.
        offset: u32,
    },
    /// A constant pool index that refers to no entry or one of another kind.
    #[error(
        "{structure} at offset {offset} expects a {expected} in the constant pool, but index {index} is not one"
    )]
    BadPoolIndex {
        /// The structure with the index.
        structure: &'static str,
        /// Its offset.
        offset: u32,
        /// The kind of constant expected.
        expected: &'static str,
        /// The index.
        index: u16,
    },
    /// An unassigned opcode.
    #[error("bci {bci} (offset {offset}) holds the unassigned opcode {opcode:#04x}")]
    UnknownOpcode {
        /// Position in the code.
        bci: u32,
        /// Offset in the class file.
        offset: u32,
        /// The byte.
        opcode: u8,
    },
    /// A truncated instruction, or a switch with invalid bounds.
    #[error("the instruction at bci {bci} (offset {offset}) does not fit its code array")]
    BadInstruction {
        /// Position in the code.
        bci: u32,
        /// Offset in the class file.
        offset: u32,
    },
    /// A code array that is empty or longer than 65,535 bytes.
    #[error("the code array at offset {offset} has length {length}, expected 1 to 65535")]
    BadCodeLength {
        /// Offset of the length.
        offset: u32,
        /// The length.
        length: u32,
    },
    /// A second attribute of a kind that may occur only once.
    #[error("expected at most one {attribute} attribute, found a second one at offset {offset}")]
    DuplicateAttribute {
        /// Its name.
        attribute: &'static str,
        /// Offset of the second one.
        offset: u32,
    },
    /// Annotations exceed the maximum nesting.
    #[error("the annotation at offset {offset} is nested deeper than 64 levels")]
    TooDeep {
        /// Offset of the 65th level.
        offset: u32,
    },
    /// A stack map frame of an unknown kind or with unknown types.
    #[error("the stack map frame at offset {offset} has the unknown tag {tag}")]
    UnknownFrame {
        /// Its offset.
        offset: u32,
        /// The tag of the frame or verification type.
        tag: u8,
    },
    /// Bytes longer than any class file.
    #[error("{length} bytes are too long for a class file")]
    TooLong {
        /// The length.
        length: u64,
    },
}
