//! What can be wrong with the bytes of a class file.

use thiserror::Error;

/// Why bytes are not a class file that can be read. Offsets count from the
/// start of the class file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The first four bytes are not `CAFEBABE`.
    #[error("expected a class file beginning with CAFEBABE, found {found:08X}")]
    NotAClassFile {
        /// The first four bytes, big-endian; 0 when there are fewer.
        found: u32,
    },
    /// A structure is longer than what holds it.
    #[error(
        "{structure} at offset {offset} is cut off: it needs {needed} more bytes than there are"
    )]
    Truncated {
        /// The structure being read, in the words of the JVMS.
        structure: &'static str,
        /// Where the missing item would begin.
        offset: u32,
        /// How many bytes are missing.
        needed: u32,
    },
    /// Bytes are left after the end of a structure.
    #[error("{structure} ends at offset {offset}, but {count} more bytes follow")]
    TrailingBytes {
        /// The structure that was read.
        structure: &'static str,
        /// Where it ended.
        offset: u32,
        /// How many bytes are left.
        count: u32,
    },
    /// A constant pool entry of a kind that no version defines.
    #[error("constant pool entry {index} at offset {offset} has the unknown tag {tag}")]
    UnknownConstant {
        /// Index of the entry.
        index: u16,
        /// Its tag byte.
        tag: u8,
        /// Where it begins.
        offset: u32,
    },
    /// A long or double in the last entry of the constant pool, which takes two
    /// (JVMS 4.4.5).
    #[error(
        "constant pool entry {index} at offset {offset} takes two entries, and the pool ends behind the first"
    )]
    WideConstantAtEnd {
        /// Index of the entry.
        index: u16,
        /// Where it begins.
        offset: u32,
    },
    /// A constant pool index that names nothing or something else.
    #[error(
        "{structure} at offset {offset} expects a {expected} in the constant pool, but index {index} is not one"
    )]
    BadPoolIndex {
        /// The structure that holds the index.
        structure: &'static str,
        /// Where it is.
        offset: u32,
        /// The kind of constant expected.
        expected: &'static str,
        /// The index found.
        index: u16,
    },
    /// A byte that begins no instruction.
    #[error("bci {bci} (offset {offset}) holds {opcode:#04x}, which is no instruction")]
    UnknownOpcode {
        /// Where in the code.
        bci: u32,
        /// Where in the class file.
        offset: u32,
        /// The byte.
        opcode: u8,
    },
    /// An instruction that the code array ends in, or a switch whose bounds lie.
    #[error("the instruction at bci {bci} (offset {offset}) does not fit its code array")]
    BadInstruction {
        /// Where in the code.
        bci: u32,
        /// Where in the class file.
        offset: u32,
    },
    /// A code array that is empty or longer than 65,535 bytes.
    #[error("the code array at offset {offset} has length {length}, expected 1 to 65535")]
    BadCodeLength {
        /// Where the length is.
        offset: u32,
        /// The length found.
        length: u32,
    },
    /// An attribute that may occur once occurs twice.
    #[error("a second {attribute} attribute at offset {offset}, expected one at most")]
    DuplicateAttribute {
        /// Its name.
        attribute: &'static str,
        /// Where the second is.
        offset: u32,
    },
    /// Annotations nested deeper than is followed.
    #[error("the annotation at offset {offset} is nested deeper than 64 levels")]
    TooDeep {
        /// Where the 65th level begins.
        offset: u32,
    },
    /// A stack map frame of a kind or with types that are not known.
    #[error("the stack map frame at offset {offset} has the unknown tag {tag}")]
    UnknownFrame {
        /// Where it begins.
        offset: u32,
        /// The frame's or the verification type's tag.
        tag: u8,
    },
    /// Bytes longer than any class file.
    #[error("{length} bytes are too long for a class file")]
    TooLong {
        /// The length found.
        length: u64,
    },
}
