//! Is this code what a snippet says? Pool entries are compared by what they
//! hold, so where they stand does not matter.

use crate::class::{Instruction, Instructions};
use crate::opcode::{self, Form};
use crate::pool::{Constant, ConstantPool, MemberRef};
use crate::snippet::{Kind, Member, Operation, Parameters, Snippet, Value};
use crate::splice::load_opcode;
use crate::utf8::Utf8;

/// The method that snippets are looked for in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Host<'h> {
    /// The constant pool of the output.
    pub(crate) pool: &'h ConstantPool<'h>,
    pub(crate) is_static: bool,
    pub(crate) descriptor: &'h [u8],
    /// First slot of the snippets' own.
    pub(crate) locals: u16,
}

/// The end of the code of `snippet` that begins at `at`, if it is there. Where
/// each operation begins, and the end, is added to `offsets`, counted from `at`.
pub(super) fn end_of(
    snippet: &Snippet,
    host: &Host<'_>,
    code: &[u8],
    at: usize,
    offsets: &mut Vec<u32>,
) -> Option<usize> {
    let first = offsets.len();
    let mut instructions = Instructions::from(code, at, 0);
    let mut end = at;
    for operation in snippet.operations() {
        offsets.push(end.wrapping_sub(at) as u32);
        if !matches!(operation, Operation::Place(_)) {
            let instruction = instructions.next()?.ok()?;
            host.is(&instruction, operation).then_some(())?;
            end = instruction.next() as usize;
        }
    }
    offsets.push(end.wrapping_sub(at) as u32);
    let offsets = offsets.get(first..)?;
    let place = |label| {
        let placed =
            |operation: &Operation| matches!(operation, Operation::Place(found) if *found == label);
        let index = snippet.operations().iter().position(placed)?;
        Some((at as u32).wrapping_add(*offsets.get(index)?))
    };
    for (operation, from) in snippet.operations().iter().zip(offsets.iter()) {
        if let Operation::Jump(_, label) = operation {
            let jump = Instructions::from(code, at.wrapping_add(*from as usize), 0)
                .next()?
                .ok()?;
            let target = jump.branch_target().map(|target| u32::from(target.0));
            (target.is_some() && target == place(*label)).then_some(())?;
        }
    }
    Some(end)
}

impl Host<'_> {
    fn is(&self, found: &Instruction<'_>, operation: &Operation) -> bool {
        let code = found.opcode;
        match operation {
            Operation::Place(_) => false,
            Operation::This => self.is_local(found, opcode::ALOAD, Some(0)),
            Operation::Argument(index) => {
                let (kind, slot) = self.parameter(*index).unzip();
                self.is_local(found, load_opcode(kind.unwrap_or(Kind::Void)), slot)
            }
            Operation::Push(value) => self.is_constant(found, value),
            Operation::Invoke(wanted, member) | Operation::Field(wanted, member) => {
                let same = found
                    .pool_index()
                    .and_then(|index| self.pool.member_ref(index));
                let count = Parameters::of(&member.descriptor)
                    .map(|kind| kind.slots())
                    .sum::<u32>();
                let count = code != opcode::INVOKEINTERFACE
                    || found.bytes().get(3..) == Some(&[(count as u8).wrapping_add(1), 0]);
                code == *wanted && count && same.is_some_and(|same| is_member(&same, member))
            }
            Operation::WithType(wanted, name) => {
                let class = found
                    .pool_index()
                    .and_then(|index| self.pool.class_name(index));
                code == *wanted && class == Some(Utf8::new(name))
            }
            Operation::Plain(wanted) => code == *wanted && found.length() == 1,
            Operation::Local(wanted, slot) => {
                self.is_local(found, *wanted, self.locals.checked_add(*slot))
            }
            Operation::NewArray(kind) => {
                code == opcode::NEWARRAY && found.immediate() == Some(i32::from(*kind))
            }
            Operation::Increment(slot, by) => {
                let slot = self.locals.checked_add(*slot);
                code == opcode::IINC
                    && slot.is_some()
                    && found.local() == slot
                    && found.immediate() == Some(i32::from(*by))
            }
            // Where it goes is looked at when all places are known.
            Operation::Jump(wanted, _) => code == *wanted,
        }
    }

    /// A parameter's kind and slot.
    fn parameter(&self, index: u8) -> Option<(Kind<'_>, u16)> {
        let mut slot = u32::from(!self.is_static);
        let mut kinds = Parameters::of(self.descriptor);
        for kind in kinds.by_ref().take(usize::from(index)) {
            slot = slot.wrapping_add(kind.slots());
        }
        Some((kinds.next()?, u16::try_from(slot).ok()?))
    }

    /// `xload` or `xstore` of this slot in any form.
    fn is_local(&self, found: &Instruction<'_>, wanted: u8, slot: Option<u16>) -> bool {
        let code = match opcode::form(found.opcode) {
            Form::Slot(_) => opcode::general_form(found.opcode),
            _ => found.opcode,
        };
        code == wanted && slot.is_some() && found.local() == slot
    }

    fn is_constant(&self, found: &Instruction<'_>, value: &Value) -> bool {
        let constant = found
            .pool_index()
            .and_then(|index| self.pool.constant(index));
        match (value, constant) {
            (Value::Int(wanted), None) => found.immediate() == Some(*wanted),
            (Value::Int(wanted), Some(Constant::Integer(value))) => value == *wanted,
            (Value::Long(wanted), Some(Constant::Long(value))) => value == *wanted,
            (Value::Float(wanted), Some(Constant::Float(value))) => value.to_bits() == *wanted,
            (Value::Double(wanted), Some(Constant::Double(value))) => value.to_bits() == *wanted,
            (Value::String(wanted), Some(Constant::String(value))) => value.as_bytes() == wanted,
            (Value::Class(wanted), Some(Constant::Class(value))) => value.as_bytes() == wanted,
            (Value::Long(wanted), None) => match found.opcode {
                opcode::LCONST_0 => *wanted == 0,
                opcode::LCONST_1 => *wanted == 1,
                _ => false,
            },
            (Value::Float(wanted), None) => match found.opcode {
                opcode::FCONST_0 => *wanted == 0.0_f32.to_bits(),
                opcode::FCONST_1 => *wanted == 1.0_f32.to_bits(),
                opcode::FCONST_2 => *wanted == 2.0_f32.to_bits(),
                _ => false,
            },
            (Value::Double(wanted), None) => match found.opcode {
                opcode::DCONST_0 => *wanted == 0.0_f64.to_bits(),
                opcode::DCONST_1 => *wanted == 1.0_f64.to_bits(),
                _ => false,
            },
            _ => false,
        }
    }
}

/// For a field it does not matter whether its owner is an interface (JVMS 4.4.2).
fn is_member(found: &MemberRef<'_>, wanted: &Member) -> bool {
    found.owner.as_bytes() == wanted.owner
        && found.name.as_bytes() == wanted.name
        && found.descriptor.as_bytes() == wanted.descriptor
        && (found.interface == wanted.interface || !wanted.descriptor.starts_with(b"("))
}
