//! The construction of snippets, instruction by instruction.

use jvms::opcode;

use crate::constant::Constant;
use crate::instruction::{Instruction, Label, Local, Member, Operand, symbolic};

/// Code under construction. Each method appends one instruction.
///
/// The code begins and ends with a certain operand stack:
///
/// | place | stack before | stack after |
/// |---|---|---|
/// | before a return instruction | the returned value, if any | such a value |
/// | before `athrow`, or where an exception leaves the method | the exception | an exception |
/// | around an instruction | empty | the result of the instruction |
/// | at other places | empty | empty |
///
/// Instead of reaching its end, it may also return a value of the method's type, or throw an exception.
pub trait Assemble {
    /// The result of appending: the code itself, or a refusal.
    type Added<'s>
    where
        Self: 's;

    /// Appends an instruction.
    fn add(&mut self, instruction: Instruction) -> Self::Added<'_>;

    /// Creates a label without a place.
    fn new_label(&mut self) -> Label;

    /// Pushes `this`. Not in a static method, before `super()` in a constructor, and if the method stores to slot 0.
    fn load_this(&mut self) -> Self::Added<'_> {
        self.add(Instruction::new(symbolic::LOAD_THIS, Operand::None))
    }

    /// Pushes a parameter of the method, counted from 0 without `this`. At locations other than the entry, the method
    /// must not store to it.
    fn load_argument(&mut self, index: u8) -> Self::Added<'_> {
        let operand = Operand::local(index.into());
        self.add(Instruction::new(symbolic::LOAD_ARGUMENT, operand))
    }

    /// Pops a value into a parameter of the method, counted from 0 without `this`. Only in code at the entry.
    fn store_argument(&mut self, index: u8) -> Self::Added<'_> {
        let operand = Operand::local(index.into());
        self.add(Instruction::new(symbolic::STORE_ARGUMENT, operand))
    }

    /// Pushes a local variable of the method itself by its slot: `iload` to `aload`. The method's stack map frames must
    /// show such a value there.
    fn load_variable(&mut self, opcode: u8, slot: u16) -> Self::Added<'_> {
        let family = u16::from(opcode.wrapping_sub(opcode::ILOAD));
        let opcode = symbolic::LOAD_VARIABLE.wrapping_add(family);
        self.add(Instruction::new(opcode, Operand::local(slot)))
    }

    /// Pushes an operand of the instruction that the code surrounds, counted from 0, a receiver or array first.
    fn load_operand(&mut self, index: u8) -> Self::Added<'_> {
        let operand = Operand::local(index.into());
        self.add(Instruction::new(symbolic::LOAD_OPERAND, operand))
    }

    /// Pops a value into an operand of the instruction that the code surrounds, which gets it in place of the former one.
    /// The receiver of a call or field access cannot be assigned.
    fn store_operand(&mut self, index: u8) -> Self::Added<'_> {
        let operand = Operand::local(index.into());
        self.add(Instruction::new(symbolic::STORE_OPERAND, operand))
    }

    /// Appends the instruction that the code surrounds, with its operands, and leaves its result on the stack.
    fn proceed(&mut self) -> Self::Added<'_> {
        self.add(Instruction::new(symbolic::PROCEED, Operand::None))
    }

    /// Pushes an `int`.
    fn push_int(&mut self, value: i32) -> Self::Added<'_> {
        self.push(Operand::Int(value))
    }

    /// Pushes a `long`.
    fn push_long(&mut self, value: i64) -> Self::Added<'_> {
        self.push(Operand::Long(value))
    }

    /// Pushes a `float` and preserves its bits.
    fn push_float(&mut self, value: f32) -> Self::Added<'_> {
        self.push(Operand::Float(value))
    }

    /// Pushes a `double` and preserves its bits.
    fn push_double(&mut self, value: f64) -> Self::Added<'_> {
        self.push(Operand::Double(value))
    }

    /// Pushes a string of at most 65,535 bytes in modified UTF-8.
    fn push_string(&mut self, text: &str) -> Self::Added<'_> {
        self.push(Operand::Text(text.to_owned()))
    }

    /// Pushes the `java.lang.Class` of an internal name or array descriptor.
    fn push_class(&mut self, internal_name: &str) -> Self::Added<'_> {
        self.push(Operand::Type(internal_name.to_owned()))
    }

    /// Pushes a constant.
    fn push_constant(&mut self, value: &Constant) -> Self::Added<'_> {
        match value {
            Constant::Integer(value) => self.push_int(*value),
            Constant::Long(value) => self.push_long(*value),
            Constant::Float(value) => self.push_float(*value),
            Constant::Double(value) => self.push_double(*value),
            Constant::Text(text) => self.push_string(text),
        }
    }

    /// Pushes the operand of an `ldc`.
    #[doc(hidden)]
    fn push(&mut self, operand: Operand) -> Self::Added<'_> {
        self.add(Instruction::new(opcode::LDC, operand))
    }

    /// Pushes `null`.
    fn push_null(&mut self) -> Self::Added<'_> {
        self.add(Instruction::new(opcode::ACONST_NULL, Operand::None))
    }

    /// Calls a method: `invokestatic`, `invokevirtual`, `invokespecial` or `invokeinterface`.
    fn invoke(&mut self, opcode: u8, target: Member) -> Self::Added<'_> {
        self.add(Instruction::new(opcode, Operand::Member(target)))
    }

    /// Reads or writes a field: `getstatic`, `putstatic`, `getfield`, `putfield`.
    fn field(&mut self, opcode: u8, target: Member) -> Self::Added<'_> {
        self.add(Instruction::new(opcode, Operand::Member(target)))
    }

    /// Appends `new`, `checkcast`, `instanceof` or `anewarray` of an internal name. All but `new` also accept an array
    /// descriptor.
    fn with_type(&mut self, opcode: u8, internal_name: &str) -> Self::Added<'_> {
        let operand = Operand::Type(internal_name.to_owned());
        self.add(Instruction::new(opcode, operand))
    }

    /// Appends any other instruction. For `xload` and `xstore`, the operand is one of the snippet's own slots from 0.
    /// For `newarray` it is the element type (JVMS table 6.5.newarray-A), for `bipush` and `sipush` the number. Other
    /// instructions ignore it.
    fn op(&mut self, opcode: u8, operand: i32) -> Self::Added<'_> {
        use opcode::Form;
        let operand = match opcode::form(opcode) {
            Form::Byte | Form::Short | Form::NewArray => Operand::Int(operand),
            // A number that is no slot is refused when the code is assembled.
            Form::Local => Operand::local(u16::try_from(operand).unwrap_or(u16::MAX)),
            _ => Operand::None,
        };
        self.add(Instruction::new(opcode, operand))
    }

    /// Adds to an `int` in one of the snippet's own slots (`iinc`).
    fn increment(&mut self, slot: u16, by: i16) -> Self::Added<'_> {
        let operand = Operand::Local(Local {
            index: slot,
            increment: by,
        });
        self.add(Instruction::new(opcode::IINC, operand))
    }

    /// Places a label before the next instruction, once.
    fn place(&mut self, label: Label) -> Self::Added<'_> {
        self.add(Instruction::new(symbolic::LABEL, Operand::Label(label.0)))
    }

    /// Appends `goto`, or a conditional branch (`if…`).
    fn jump(&mut self, opcode: u8, label: Label) -> Self::Added<'_> {
        self.add(Instruction::new(opcode, Operand::Label(label.0)))
    }
}
