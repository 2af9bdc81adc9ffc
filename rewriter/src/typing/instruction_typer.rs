//! Applies the method's own instructions, one by one.

use crate::class::{Instruction, Instructions};
use crate::pool::{ConstantPool, LoadableConstant};
use crate::typing::hierarchy::Hierarchy;
use crate::typing::machine::{Fault, Machine};
use crate::typing::types::{Class, Origin, Type};
use jvms::descriptor::FieldType;
use jvms::opcode;
use jvms::opcode::Form;

/// The code that is followed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InstructionTyper<'f, 't> {
    pub(crate) pool: &'f ConstantPool<'t>,
    pub(crate) code: &'t [u8],
    pub(crate) known: &'f Hierarchy<'t>,
}

impl<'t> InstructionTyper<'_, 't> {
    /// Applies `instruction` to the types; `None` if they do not fit, and for `jsr` and `ret`.
    pub(crate) fn step(
        &self,
        machine: &mut Machine<'t>,
        instruction: &Instruction<'t>,
    ) -> Option<()> {
        let code = instruction.opcode;
        let known = self.known;
        let done = match opcode::form(code) {
            Form::Slot(slot) => self.local(machine, opcode::general_form(code), u16::from(slot)),
            Form::Local if code != opcode::RET => self.local(machine, code, instruction.local()?),
            Form::Iinc => return Some(()),
            Form::Const(_) | Form::Byte | Form::Short => machine.push(Type::Int),
            Form::Pool1 => machine.push(self.constant(instruction)?),
            Form::Pool2 => match code {
                opcode::LDC_W | opcode::LDC2_W => machine.push(self.constant(instruction)?),
                opcode::NEW => {
                    let made = Type::Uninitialized(Origin::Method(u32::from(instruction.bci.0)));
                    let stale = machine.locals.iter_mut().filter(|found| **found == made);
                    stale.for_each(|found| *found = Type::Top);
                    machine.push(made)
                }
                _ => machine.with_type(code, self.class(instruction)?, known),
            },
            Form::Field => {
                let member = self.pool.member_ref(instruction.pool_index()?)?;
                let kind = FieldType::parse(member.descriptor.as_bytes()).ok()?;
                machine.field(code, Class::named(member.owner.as_bytes()), kind, known)
            }
            Form::Method | Form::Interface | Form::Dynamic => {
                return self.call(machine, instruction);
            }
            Form::NewArray => machine.new_array(instruction.immediate()? as u8, known),
            Form::MultiNewArray => {
                let class = self.class(instruction)?;
                for _ in 0..instruction.immediate()? {
                    machine.pop_as(Type::Int, known).ok()?;
                }
                machine.push(Type::Object(class))
            }
            _ if opcode::is_subroutine_call(code) => return None,
            Form::Local | Form::Unassigned | Form::Wide => return None,
            _ => machine.plain(code, known),
        };
        done.ok()
    }

    fn local(&self, machine: &mut Machine<'t>, code: u8, slot: u16) -> Result<(), Fault<'t>> {
        if code >= opcode::ISTORE {
            machine.store(code, usize::from(slot), self.known)
        } else {
            machine.load(code, usize::from(slot))
        }
    }

    fn class(&self, instruction: &Instruction<'_>) -> Option<Class<'t>> {
        let index = instruction.pool_index()?;
        let name = self.pool.class_name(index)?.as_bytes();
        Some(Class::indexed(name, index.0))
    }

    fn constant(&self, instruction: &Instruction<'_>) -> Option<Type<'t>> {
        Some(match self.pool.constant(instruction.pool_index()?)? {
            LoadableConstant::Integer(_) => Type::Int,
            LoadableConstant::Float(_) => Type::Float,
            LoadableConstant::Long(_) => Type::Long,
            LoadableConstant::Double(_) => Type::Double,
            LoadableConstant::String(_) => Type::object(b"java/lang/String"),
            LoadableConstant::Class(_) => Type::object(b"java/lang/Class"),
            LoadableConstant::MethodHandle(_) => Type::object(b"java/lang/invoke/MethodHandle"),
            LoadableConstant::MethodType(_) => Type::object(b"java/lang/invoke/MethodType"),
            LoadableConstant::Dynamic(found) => {
                Type::of(FieldType::parse(found.descriptor.as_bytes()).ok()?)
            }
        })
    }

    fn call(&self, machine: &mut Machine<'t>, instruction: &Instruction<'t>) -> Option<()> {
        let index = instruction.pool_index()?;
        if instruction.opcode == opcode::INVOKEDYNAMIC {
            let descriptor = self.pool.dynamic(index)?.descriptor.as_bytes();
            machine.arguments(descriptor, self.known).ok()?;
            return machine.returned(descriptor).ok();
        }
        let member = self.pool.member_ref(index)?;
        let descriptor = member.descriptor.as_bytes();
        let owner = Class::named(member.owner.as_bytes());
        machine.arguments(descriptor, self.known).ok()?;
        if member.name == "<init>" {
            let this = Class::plain(self.known.this);
            let made = |origin| match origin {
                Origin::Method(bci) => {
                    let made = Instructions::from(self.code, bci as usize, 0)
                        .next()?
                        .ok()?;
                    self.class(&made)
                }
                _ => None,
            };
            machine.initialize(owner, this, made).ok()?;
        } else if instruction.opcode != opcode::INVOKESTATIC {
            machine.pop_as(Type::Object(owner), self.known).ok()?;
        }
        machine.returned(descriptor).ok()
    }
}
