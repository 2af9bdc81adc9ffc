//! Symbolic instructions: their operands are names, values and labels.

use crate::constant::Constant;
use stored::impl_stored;

/// A symbolic instruction. The JVMS closes the set of operand kinds; the set of opcodes is open.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    /// An opcode (JVMS 6.5), or a number of [`symbolic`].
    pub opcode: u16,
    /// The operand.
    pub operand: Operand,
}

impl Instruction {
    /// Creates an instruction.
    #[must_use]
    pub fn new(opcode: impl Into<u16>, operand: Operand) -> Self {
        Self {
            opcode: opcode.into(),
            operand,
        }
    }

    /// Returns the bytes of text in the operand.
    #[must_use]
    pub fn text(&self) -> usize {
        match &self.operand {
            Operand::Text(text) | Operand::Type(text) => text.len(),
            Operand::Member(member) => member.text(),
            _ => 0,
        }
    }
}

/// Instructions without an opcode of the JVMS.
pub mod symbolic {
    /// Places a label.
    pub const LABEL: u16 = 256;
    /// Pushes `this`.
    pub const LOAD_THIS: u16 = 257;
    /// Pushes the parameter of this index, counted without `this`.
    pub const LOAD_ARGUMENT: u16 = 258;
    /// Pushes an operand of the surrounded instruction, by its index.
    pub const LOAD_OPERAND: u16 = 259;
    /// Runs the surrounded instruction with its operands.
    pub const PROCEED: u16 = 260;
    /// Pushes an `int` in a local variable of the method itself. The next four numbers push a `long`, `float`, `double`
    /// or reference.
    pub const LOAD_VARIABLE: u16 = 261;
    /// Pushes the local variable of the method with this name; only as the value of an event.
    pub const LOAD_NAMED: u16 = 266;
    /// Pops a value into the parameter of this index, counted without `this`; only at the entry.
    pub const STORE_ARGUMENT: u16 = 267;
    /// Pops a value into an operand of the surrounded instruction, by its index.
    pub const STORE_OPERAND: u16 = 268;
}

/// The operand of an instruction.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// No operand.
    None,
    /// The `int` of `ldc`, `bipush` or `sipush`, or the element type of `newarray`.
    Int(i32),
    /// The `long` of `ldc`.
    Long(i64),
    /// The `float` of `ldc`.
    Float(f32),
    /// The `double` of `ldc`.
    Double(f64),
    /// The string of `ldc`.
    Text(String),
    /// The field or method of an instruction that names one.
    Member(Member),
    /// The internal name of a class, or the descriptor of an array type: of `ldc`, `new`, `checkcast`, `instanceof` or
    /// `anewarray`.
    Type(String),
    /// The number of a label of the snippet.
    Label(u32),
    /// A local variable.
    Local(Local),
}

impl Operand {
    /// Returns the number or text.
    #[must_use]
    pub fn constant(self) -> Option<Constant> {
        Some(match self {
            Self::Int(value) => Constant::Integer(value),
            Self::Long(value) => Constant::Long(value),
            Self::Float(value) => Constant::Float(value),
            Self::Double(value) => Constant::Double(value),
            Self::Text(text) => Constant::Text(text),
            _ => return None,
        })
    }

    /// Returns a local variable by its index.
    #[must_use]
    pub fn local(index: u16) -> Self {
        Self::Local(Local {
            index,
            increment: 0,
        })
    }
}

/// A local variable, or a value that is counted like one: a parameter, or an operand of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Local {
    /// Its index, from 0. Local variables belong to the snippet, and live only within it.
    pub index: u16,
    /// The number that `iinc` adds; 0 for other instructions.
    pub increment: i16,
}

/// A field or method by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Member {
    /// Internal name of the class (`java/lang/String`). For a method of an array type, its descriptor.
    pub owner: String,
    /// Name of the member.
    pub name: String,
    /// Its descriptor (JVMS 4.3).
    pub descriptor: String,
    /// True for a method of an interface (`CONSTANT_InterfaceMethodref`).
    pub interface: bool,
}

impl_stored!(struct Member { owner, name, descriptor, interface });

impl Member {
    /// Returns a member of a class.
    #[must_use]
    pub fn of_class(owner: &str, name: &str, descriptor: &str) -> Self {
        Self {
            owner: owner.to_owned(),
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
            interface: false,
        }
    }

    /// Returns the bytes of its names.
    #[must_use]
    pub fn text(&self) -> usize {
        self.owner.len() + self.name.len() + self.descriptor.len()
    }
}

/// A target of jumps in a snippet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(pub u32);

impl_stored!(struct Label(number));
