//! Checks of instructions: opcodes and their operands.

use crate::limits::MAX_SNIPPET_SLOTS;
use crate::snippet::error::SnippetError;
use crate::snippet::names::{bad, class, encode, field, method};
use crate::snippet::operation::{EncodedMember, Label, Member, Operation, Value};
use ::edits::{Instruction, Local, Operand, symbolic};
use jvms::opcode;
use jvms::opcode::Form;

/// The symbolic instruction that pushes a reference in a local variable of the method.
const LAST_VARIABLE: u16 = symbolic::LOAD_VARIABLE + 4;

/// Returns the operation of an instruction, and its bytes of text.
pub(super) fn operation_of(
    at: u32,
    instruction: Instruction,
) -> Result<(Operation, usize), SnippetError> {
    let Instruction { opcode, operand } = instruction;
    let Ok(opcode) = u8::try_from(opcode) else {
        return symbolic_operation(at, opcode, &operand).map(|operation| (operation, 0));
    };
    let refuse = |expected| Err(SnippetError::opcode(at, opcode.into(), expected));
    let operation = match operand {
        Operand::Member(member) => return of_member(at, opcode, &member),
        Operand::Type(name) => return of_type(at, opcode, &name),
        Operand::Text(_) if opcode != opcode::LDC => return refuse("ldc"),
        Operand::Text(text) => {
            let bytes = encode(&text)?;
            let length = bytes.len();
            return Ok((Operation::Push(Value::String(bytes)), length));
        }
        Operand::None => match opcode::form(opcode) {
            Form::None | Form::Const(_) => Operation::Plain(opcode),
            Form::Slot(slot) => Operation::Local(opcode::general_form(opcode), u16::from(slot)),
            _ => return refuse("an instruction without operand"),
        },
        Operand::Int(value) => of_int(at, opcode, value)?,
        Operand::Long(value) if opcode == opcode::LDC => Operation::Push(Value::Long(value)),
        Operand::Float(value) if opcode == opcode::LDC => {
            Operation::Push(Value::Float(value.to_bits()))
        }
        Operand::Double(value) if opcode == opcode::LDC => {
            Operation::Push(Value::Double(value.to_bits()))
        }
        Operand::Long(_) | Operand::Float(_) | Operand::Double(_) => return refuse("ldc"),
        Operand::Label(_) if opcode != opcode::GOTO && !opcode::is_conditional(opcode) => {
            return refuse("goto or if…");
        }
        Operand::Label(label) => Operation::Jump(opcode, Label(label)),
        Operand::Local(local) => of_local(at, opcode, local)?,
    };
    Ok((operation, 0))
}

fn symbolic_operation(at: u32, opcode: u16, operand: &Operand) -> Result<Operation, SnippetError> {
    let index = match operand {
        Operand::Local(local) => Some(local.index),
        _ => None,
    };
    let small = index.and_then(|index| u8::try_from(index).ok());
    Ok(match (opcode, operand, small, index) {
        (symbolic::LABEL, Operand::Label(label), ..) => Operation::Label(Label(*label)),
        (symbolic::LOAD_THIS, Operand::None, ..) => Operation::This,
        (symbolic::PROCEED, Operand::None, ..) => Operation::Proceed,
        (symbolic::LOAD_ARGUMENT, _, Some(index), _) => Operation::Argument(index),
        (symbolic::STORE_ARGUMENT, _, Some(index), _) => Operation::StoreArgument(index),
        (symbolic::LOAD_OPERAND, _, Some(index), _) => Operation::Operand(index),
        (symbolic::STORE_OPERAND, _, Some(index), _) => Operation::StoreOperand(index),
        (symbolic::LOAD_VARIABLE..=LAST_VARIABLE, _, _, Some(slot)) => {
            let family = opcode.abs_diff(symbolic::LOAD_VARIABLE) as u8;
            Operation::Variable(opcode::ILOAD.saturating_add(family), slot)
        }
        _ => {
            let expected = "an instruction of the interface with its kind of operand";
            return Err(SnippetError::opcode(at, opcode, expected));
        }
    })
}

fn of_member(at: u32, opcode: u8, member: &Member) -> Result<(Operation, usize), SnippetError> {
    let is_field = matches!(opcode, opcode::GETSTATIC..=opcode::PUTFIELD);
    let (member, operation): (_, fn(u8, EncodedMember) -> Operation) = match is_field {
        true => (field(opcode, member, at)?, Operation::Field),
        false => (method(opcode, member, at)?, Operation::Invoke),
    };
    let length = member.text();
    Ok((operation(opcode, member), length))
}

fn of_type(at: u32, opcode: u8, name: &str) -> Result<(Operation, usize), SnippetError> {
    let known = [
        opcode::LDC,
        opcode::NEW,
        opcode::CHECKCAST,
        opcode::INSTANCEOF,
        opcode::ANEWARRAY,
    ];
    if !known.contains(&opcode) {
        let expected = "ldc, new, checkcast, instanceof or anewarray";
        return Err(SnippetError::opcode(at, opcode.into(), expected));
    }
    let bytes = class(name, at)?;
    if opcode == opcode::NEW && bytes.first() == Some(&b'[') {
        return Err(bad("class that is no array", name, at));
    }
    let length = bytes.len();
    let operation = match opcode {
        opcode::LDC => Operation::Push(Value::Class(bytes)),
        _ => Operation::WithType(opcode, bytes),
    };
    Ok((operation, length))
}

fn of_int(at: u32, opcode: u8, value: i32) -> Result<Operation, SnippetError> {
    let fits = match opcode {
        opcode::LDC => true,
        opcode::BIPUSH => i8::try_from(value).is_ok(),
        opcode::SIPUSH => i16::try_from(value).is_ok(),
        opcode::NEWARRAY => (4..=11).contains(&value),
        _ => {
            let expected = "ldc, bipush, sipush or newarray";
            return Err(SnippetError::opcode(at, opcode.into(), expected));
        }
    };
    match opcode {
        _ if !fits => Err(SnippetError::operand(at, opcode, value)),
        opcode::NEWARRAY => Ok(Operation::NewArray(value as u8)),
        _ => Ok(Operation::Push(Value::Int(value))),
    }
}

fn of_local(at: u32, opcode: u8, local: Local) -> Result<Operation, SnippetError> {
    let Local { index, increment } = local;
    let is_local = matches!(opcode::form(opcode), Form::Local | Form::Iinc);
    if !is_local || opcode == opcode::RET {
        let expected = "a load or store of a local variable, or iinc";
        return Err(SnippetError::opcode(at, opcode.into(), expected));
    }
    if index >= MAX_SNIPPET_SLOTS {
        return Err(SnippetError::operand(at, opcode, index.into()));
    }
    Ok(match opcode {
        opcode::IINC => Operation::Increment(index, increment),
        _ => Operation::Local(opcode, index),
    })
}
