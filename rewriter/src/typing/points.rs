//! The types at points of the original code.
//!
//! Instructions are followed one by one from each stack map frame. No paths are joined, so no class hierarchy is
//! needed.

use std::collections::BTreeMap;

use crate::class::{ClassFile, Instructions, decode};
use crate::cursor::u16_at;
use crate::index::Bci;
use crate::plan::{Location, SkipReason};
use crate::typing::context::MethodContext;
use crate::typing::frames::by_slot;
use crate::typing::instruction_typer::InstructionTyper;
use crate::typing::machine::Machine;
use crate::typing::types::Type;
use crate::typing::unset_fields::UnsetFields;
use jvms::opcode;

/// Maximum number of types kept for one method.
const MOST_TYPES: usize = 1 << 20;

/// A point in the original code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ProgramPoint {
    /// Before everything.
    Entry,
    /// The start of the instruction at this bci.
    At(u32),
    /// After normal completion of the instruction at this bci.
    After(u32),
    /// An exception leaves the method.
    Unwind,
}

impl ProgramPoint {
    /// Returns the point at which code at `place` runs.
    pub(crate) fn of(location: Location, code: &[u8]) -> Self {
        let at = |bci: Bci| ProgramPoint::At(u32::from(bci.0));
        match location {
            Location::Entry => ProgramPoint::Entry,
            Location::Unwind => ProgramPoint::Unwind,
            Location::Before(bci) | Location::At(bci) => at(bci),
            Location::FallThrough(bci) => ProgramPoint::After(u32::from(bci.0)),
            Location::Jump { source, target } => match code.get(usize::from(source)) {
                Some(&(opcode::GOTO | opcode::GOTO_W)) => at(source),
                _ => at(target),
            },
        }
    }
}

/// The types at one point.
#[derive(Debug, Clone, Default)]
pub(crate) struct Types<'t> {
    /// By slot.
    pub(crate) locals: Vec<Type<'t>>,
    pub(crate) stack: Vec<Type<'t>>,
    /// The strict fields without a value, while `this` is uninitialized.
    pub(crate) unset_fields: UnsetFields<'t>,
}

/// The types at all requested points.
#[derive(Debug, Default)]
pub(crate) struct PointTypes<'t> {
    types: BTreeMap<ProgramPoint, Types<'t>>,
    /// The ranges (start, end) in which `this` of a constructor is initialized.
    pub(crate) ready: Vec<(u32, u32)>,
}

fn unlike(bci: Bci) -> SkipReason {
    SkipReason::UnknownTypes { bci }
}

impl<'t> PointTypes<'t> {
    pub(crate) fn get(&self, point: ProgramPoint) -> Option<&Types<'t>> {
        self.types.get(&point)
    }

    /// Returns the types of the local variables at a requested point, by slot.
    ///
    /// # Errors
    /// Returns the reason why they are unknown.
    pub(crate) fn variables(
        &self,
        point: ProgramPoint,
        is_framed: bool,
    ) -> Result<Vec<Type<'t>>, &'static str> {
        let found = self.get(point).map(|types| types.locals.clone());
        found.ok_or(match point {
            ProgramPoint::Unwind => "local variables are unknown when an exception leaves the method",
            _ if is_framed => "this code is unreachable, so its local variables are unknown",
            _ => "the class file (version 49 or older) has no stack map frames, so local variables are unknown",
        })
    }

    /// Checks whether `this` is initialized.
    pub(crate) fn is_ready(&self, point: ProgramPoint, code: &[u8]) -> bool {
        let bci = match point {
            ProgramPoint::Entry => return false,
            ProgramPoint::Unwind => return true,
            ProgramPoint::At(bci) => bci,
            ProgramPoint::After(bci) => {
                let length = decode(code, bci as usize);
                length.map_or(bci, |length| bci + length as u32)
            }
        };
        self.ready
            .iter()
            .any(|(from, to)| (*from..*to).contains(&bci))
    }

    /// Computes the types at these points if the verifier reads frames. Otherwise this computes only the ranges in
    /// which a constructor's `this` is initialized.
    pub(crate) fn known(
        class: &ClassFile<'t>,
        context: &MethodContext<'t>,
        points: &[ProgramPoint],
        handlers: &[u8],
    ) -> Result<Self, SkipReason> {
        if context.framed {
            return PointTypes::follow(class, context, points);
        }
        if context.constructor {
            return PointTypes::straight(class, context, handlers);
        }
        Ok(PointTypes::default())
    }

    /// Follows the method's code by its frames.
    fn follow(
        class: &ClassFile<'t>,
        context: &MethodContext<'t>,
        points: &[ProgramPoint],
    ) -> Result<Self, SkipReason> {
        let mut found = PointTypes::default();
        let mut kept = 0_usize;
        let mut keep =
            |types: &mut BTreeMap<_, _>, point, machine: &Machine<'t>, unset: &UnsetFields<'t>| {
                if points.binary_search(&point).is_err() {
                    return Ok(());
                }
                kept += machine.locals.len() + machine.stack.len();
                if kept > MOST_TYPES {
                    return Err(SkipReason::FramesTooLarge);
                }
                let found = Types {
                    locals: machine.locals.clone(),
                    stack: machine.stack.clone(),
                    unset_fields: unset.clone(),
                };
                types.insert(point, found);
                Ok(())
            };
        let mut machine = Machine::new(true);
        by_slot(&context.initial, &mut machine.locals);
        let followed = InstructionTyper {
            pool: class.pool(),
            code: context.code,
            known: &context.known,
        };
        let mut reader = context.reader(class)?;
        let mut unset = reader.unset_fields.clone();
        keep(&mut found.types, ProgramPoint::Entry, &machine, &unset)?;
        let mut live = true;
        for instruction in Instructions::new(context.code, 0) {
            let instruction = instruction?;
            let bci = u32::from(instruction.bci.0);
            if reader.peek() == Some(bci) {
                reader.next()?;
                by_slot(&reader.frame.locals, &mut machine.locals);
                machine.set_stack(&reader.frame.stack);
                unset.clone_from(&reader.unset_fields);
                live = true;
            }
            if !live {
                continue;
            }
            found.note_ready(&machine, bci, instruction.next());
            keep(&mut found.types, ProgramPoint::At(bci), &machine, &unset)?;
            unset.step(&instruction, &machine.stack, class.pool());
            followed
                .step(&mut machine, &instruction)
                .filter(|()| machine.is_within(context.limits))
                .ok_or(unlike(instruction.bci))?;
            live = opcode::falls_through(instruction.opcode);
            if live {
                keep(&mut found.types, ProgramPoint::After(bci), &machine, &unset)?;
            }
        }
        Ok(found)
    }

    /// Records whether `this` is initialized for an instruction.
    fn note_ready(&mut self, machine: &Machine<'_>, from: u32, to: u32) {
        if machine.locals.contains(&Type::UninitializedThis) {
            return;
        }
        match self.ready.last_mut() {
            Some(last) if last.1 == from => last.1 = to,
            _ => self.ready.push((from, to)),
        }
    }

    /// Finds the range with initialized `this` in a method without frames: after a call of `super()` or `this()` that
    /// no branch precedes.
    fn straight(
        class: &ClassFile<'t>,
        context: &MethodContext<'t>,
        handlers: &[u8],
    ) -> Result<Self, SkipReason> {
        let mut found = PointTypes::default();
        let mut machine = Machine::new(true);
        by_slot(&context.initial, &mut machine.locals);
        let followed = InstructionTyper {
            pool: class.pool(),
            code: context.code,
            known: &context.known,
        };
        for instruction in Instructions::new(context.code, 0) {
            let instruction = instruction?;
            if instruction.may_jump() || followed.step(&mut machine, &instruction).is_none() {
                break;
            }
            let next = instruction.next();
            if !machine.locals.contains(&Type::UninitializedThis) {
                let covered = handlers
                    .chunks_exact(8)
                    .any(|entry| u16_at(entry, 0).is_some_and(|start| u32::from(start) < next));
                if !covered {
                    found.ready.push((next, context.code.len() as u32));
                }
                break;
            }
        }
        Ok(found)
    }
}
