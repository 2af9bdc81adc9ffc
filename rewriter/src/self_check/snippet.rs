//! Compares code with the operations of a snippet. Pool entries are compared by content, not by index.

use crate::class::{Instruction, Instructions};
use crate::pool::{ConstantPool, LoadableConstant, MemberRef};
use crate::snippet::{EncodedMember, Operation, Snippet, Value};
use jvms::descriptor::{FieldType, Parameters};
use jvms::modified_utf8::Utf8;
use jvms::opcode;
use jvms::opcode::Form;

/// The method that contains snippets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Host<'h> {
    /// The constant pool of the output.
    pub(crate) pool: &'h ConstantPool<'h>,
    pub(crate) is_static: bool,
    pub(crate) descriptor: &'h [u8],
    /// First slot of the snippets' own variables.
    pub(crate) locals: u16,
}

/// Returns the end of the code of `snippet` at `at`; `None` if the code differs. Appends to `offsets` the offset of
/// each operation from `at`, and that of the end.
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
    let mut places = vec![None; snippet.label_count()];
    for operation in snippet.operations() {
        offsets.push((end - at) as u32);
        if let Operation::Label(label) = operation {
            *places.get_mut(label.0 as usize)? = u32::try_from(end).ok();
        } else {
            let instruction = instructions.next()?.ok()?;
            host.is(&instruction, operation).then_some(())?;
            end = instruction.next() as usize;
        }
    }
    offsets.push((end - at) as u32);
    let offsets = offsets.get(first..)?;
    for (operation, from) in snippet.operations().iter().zip(offsets.iter()) {
        if let Operation::Jump(_, label) = operation {
            let jump = Instructions::from(code, at + *from as usize, 0)
                .next()?
                .ok()?;
            let target = jump.branch_target().map(|target| u32::from(target.0));
            let place = places.get(label.0 as usize).copied().flatten();
            (target.is_some() && target == place).then_some(())?;
        }
    }
    Some(end)
}

impl Host<'_> {
    fn is(&self, found: &Instruction<'_>, operation: &Operation) -> bool {
        let code = found.opcode;
        match operation {
            Operation::Label(_) => false,
            Operation::This => self.is_local(found, opcode::ALOAD, Some(0)),
            Operation::Argument(index) => {
                let parameter = self.parameter(*index);
                parameter.is_some_and(|(kind, slot)| {
                    self.is_local(found, kind.load_opcode(), Some(slot))
                })
            }
            Operation::StoreArgument(index) => {
                let parameter = self.parameter(*index);
                parameter.is_some_and(|(kind, slot)| {
                    self.is_local(found, kind.store_opcode(), Some(slot))
                })
            }
            Operation::Push(value) => self.is_constant(found, value),
            Operation::Invoke(wanted, member) | Operation::Field(wanted, member) => {
                let same = found
                    .pool_index()
                    .and_then(|index| self.pool.member_ref(index));
                let count = Parameters::of(&member.descriptor).slots();
                let count = code != opcode::INVOKEINTERFACE
                    || found.bytes().get(3..) == Some(&[count as u8 + 1, 0]);
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
            Operation::Variable(wanted, slot) => self.is_local(found, *wanted, Some(*slot)),
            // The target is checked after all offsets are known.
            Operation::Jump(wanted, _) => code == *wanted,
            Operation::Original(bytes) => found.bytes() == bytes,
            Operation::Operand(_) | Operation::StoreOperand(_) | Operation::Proceed => false,
        }
    }

    /// Returns type and slot of a parameter.
    fn parameter(&self, index: u8) -> Option<(FieldType<'_>, u16)> {
        let mut slot = u32::from(!self.is_static);
        let mut kinds = Parameters::of(self.descriptor);
        for kind in kinds.by_ref().take(usize::from(index)) {
            slot += u32::from(kind.slots());
        }
        Some((kinds.next()?, u16::try_from(slot).ok()?))
    }

    /// Checks for `xload` or `xstore` of this slot in any form.
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
            (Value::Int(wanted), Some(LoadableConstant::Integer(value))) => value == *wanted,
            (Value::Long(wanted), Some(LoadableConstant::Long(value))) => value == *wanted,
            (Value::Float(wanted), Some(LoadableConstant::Float(value))) => {
                value.to_bits() == *wanted
            }
            (Value::Double(wanted), Some(LoadableConstant::Double(value))) => {
                value.to_bits() == *wanted
            }
            (Value::String(wanted), Some(LoadableConstant::String(value))) => {
                value.as_bytes() == wanted
            }
            (Value::Class(wanted), Some(LoadableConstant::Class(value))) => {
                value.as_bytes() == wanted
            }
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

/// Compares members; for a field, `interface` is ignored (JVMS 4.4.2).
fn is_member(found: &MemberRef<'_>, wanted: &EncodedMember) -> bool {
    found.owner.as_bytes() == wanted.owner
        && found.name.as_bytes() == wanted.name
        && found.descriptor.as_bytes() == wanted.descriptor
        && (found.interface == wanted.interface || !wanted.descriptor.starts_with(b"("))
}
