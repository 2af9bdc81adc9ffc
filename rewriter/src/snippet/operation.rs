//! The operations of a snippet, and the names in them.

use stored::impl_stored;

pub use ::edits::{Assemble, Label, Member};

/// Number of a snippet within its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnippetId(pub(crate) u32);

impl_stored!(struct SnippetId(number));

impl std::fmt::Display for SnippetId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// [`Member`] in modified UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct EncodedMember {
    pub(crate) owner: Vec<u8>,
    pub(crate) name: Vec<u8>,
    pub(crate) descriptor: Vec<u8>,
    pub(crate) interface: bool,
}

impl_stored!(struct EncodedMember { owner, name, descriptor, interface });

/// A constant; floating point numbers by their bits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    Int(i32),
    Long(i64),
    Float(u32),
    Double(u64),
    String(Vec<u8>),
    Class(Vec<u8>),
}

impl_stored!(enum Value {
    0 Int(value),
    1 Long(value),
    2 Float(bits),
    3 Double(bits),
    4 String(text),
    5 Class(name),
});

/// One operation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    This,
    Argument(u8),
    /// Assigns a parameter.
    StoreArgument(u8),
    Push(Value),
    Invoke(u8, EncodedMember),
    Field(u8, EncodedMember),
    WithType(u8, Vec<u8>),
    /// An instruction without operand.
    Plain(u8),
    /// `xload` or `xstore` of one of the snippet's own slots.
    Local(u8, u16),
    /// `newarray` of this element type.
    NewArray(u8),
    Increment(u16, i16),
    Label(Label),
    Jump(u8, Label),
    /// An operand of the instruction that the snippet surrounds.
    Operand(u8),
    /// Assigns an operand of that instruction.
    StoreOperand(u8),
    /// That instruction with its operands.
    Proceed,
    /// The bytes of that instruction; its operands are on the stack.
    Original(Vec<u8>),
    /// `xload` of one of the method's own slots.
    Variable(u8, u16),
}

impl_stored!(enum Operation {
    0 This,
    1 Argument(index),
    2 Push(value),
    3 Invoke(opcode, member),
    4 Field(opcode, member),
    5 WithType(opcode, name),
    6 Plain(opcode),
    7 Local(opcode, slot),
    8 NewArray(kind),
    9 Increment(slot, by),
    10 Label(label),
    11 Jump(opcode, label),
    12 Operand(index),
    13 Proceed,
    14 Original(bytes),
    15 Variable(opcode, slot),
    16 StoreArgument(index),
    17 StoreOperand(index),
});

impl EncodedMember {
    /// Returns the bytes of its names.
    pub(super) fn text(&self) -> usize {
        let lengths = [self.owner.len(), self.name.len(), self.descriptor.len()];
        lengths.iter().sum()
    }
}

impl EncodedMember {
    /// Returns owner, name and descriptor.
    pub(crate) fn names(&self) -> (&[u8], &[u8], &[u8]) {
        (&self.owner, &self.name, &self.descriptor)
    }
}
