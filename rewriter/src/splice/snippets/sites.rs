//! The types that hold at places of the original code.
//!
//! From each stack map frame on, the instructions are followed one by one: no
//! path has to be merged, so no class has to be known.

use std::collections::BTreeMap;

use crate::class::{ClassFile, Instruction, Instructions, decode};
use crate::cursor::u16_at;
use crate::index::Bci;
use crate::opcode::{self, Form};
use crate::plan::Place;
use crate::splice::SkipReason;
use crate::splice::snippets::method::Facts;
use crate::verify::{Followed, Machine, Type, by_slot};

/// Most types kept for one method.
const MOST_TYPES: usize = 1 << 20;

/// A moment in the original code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Moment {
    /// Before everything.
    Entry,
    /// When the instruction at this bci begins.
    At(u32),
    /// When the instruction at this bci has completed normally.
    After(u32),
    /// When an exception leaves the method.
    Unwind,
}

impl Moment {
    /// When code at `place` runs.
    pub(crate) fn of(place: Place, code: &[u8]) -> Self {
        let at = |bci: Bci| Moment::At(u32::from(bci.0));
        match place {
            Place::Entry => Moment::Entry,
            Place::Unwind => Moment::Unwind,
            Place::Before(bci) | Place::At(bci) => at(bci),
            Place::FallThrough(bci) => Moment::After(u32::from(bci.0)),
            Place::Jump { source, target } => match code.get(usize::from(source)) {
                Some(&(opcode::GOTO | opcode::GOTO_W)) => at(source),
                _ => at(target),
            },
        }
    }
}

/// The types at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Types<'t> {
    /// By slot.
    pub(crate) locals: Vec<Type<'t>>,
    pub(crate) stack: Vec<Type<'t>>,
}

/// The types at all moments that were asked for.
#[derive(Debug, Default)]
pub(crate) struct Sites<'t> {
    types: BTreeMap<Moment, Types<'t>>,
    /// Where `this` of a constructor has been initialized: from, to.
    pub(crate) ready: Vec<(u32, u32)>,
}

fn unlike(bci: Bci) -> SkipReason {
    SkipReason::UnknownTypes { bci }
}

impl<'t> Sites<'t> {
    pub(crate) fn get(&self, moment: Moment) -> Option<&Types<'t>> {
        self.types.get(&moment)
    }

    /// True where `this` has been initialized.
    pub(crate) fn is_ready(&self, moment: Moment, code: &[u8]) -> bool {
        let bci = match moment {
            Moment::Entry => return false,
            Moment::Unwind => return true,
            Moment::At(bci) => bci,
            Moment::After(bci) => {
                let length = decode(code, bci as usize).unwrap_or(0);
                bci.wrapping_add(length as u32)
            }
        };
        self.ready
            .iter()
            .any(|(from, to)| (*from..*to).contains(&bci))
    }

    /// Follows the method's code by its frames.
    pub(crate) fn follow(
        class: &ClassFile<'t>,
        facts: &Facts<'t>,
        moments: &[Moment],
    ) -> Result<Self, SkipReason> {
        let mut sites = Sites::default();
        let mut kept = 0_usize;
        let mut keep = |types: &mut BTreeMap<Moment, Types<'t>>, moment, machine: &Machine<'t>| {
            if moments.binary_search(&moment).is_err() {
                return Ok(());
            }
            kept = kept
                .wrapping_add(machine.locals.len())
                .wrapping_add(machine.stack.len());
            if kept > MOST_TYPES {
                return Err(SkipReason::FramesTooLarge);
            }
            let (locals, stack) = (machine.locals.clone(), machine.stack.clone());
            types.insert(moment, Types { locals, stack });
            Ok(())
        };
        let mut machine = Machine::new(true);
        by_slot(&facts.initial, &mut machine.locals);
        keep(&mut sites.types, Moment::Entry, &machine)?;
        let followed = Followed {
            pool: class.pool(),
            code: facts.code,
            known: &facts.known,
        };
        let mut reader = facts.reader(class)?;
        let mut live = true;
        for instruction in Instructions::new(facts.code, 0) {
            let instruction = instruction?;
            let bci = u32::from(instruction.bci.0);
            if reader.peek()? == Some(bci) {
                reader.next()?;
                by_slot(&reader.locals, &mut machine.locals);
                machine.set_stack(&reader.stack);
                live = true;
            }
            if !live {
                continue;
            }
            sites.note_ready(&machine, bci, instruction.next());
            keep(&mut sites.types, Moment::At(bci), &machine)?;
            followed
                .step(&mut machine, &instruction)
                .filter(|()| machine.is_within(facts.limits))
                .ok_or(unlike(instruction.bci))?;
            live = opcode::falls_through(instruction.opcode);
            if live {
                keep(&mut sites.types, Moment::After(bci), &machine)?;
            }
        }
        Ok(sites)
    }

    /// Notes whether `this` has been initialized for an instruction.
    fn note_ready(&mut self, machine: &Machine<'_>, from: u32, to: u32) {
        if machine.locals.contains(&Type::UninitializedThis) {
            return;
        }
        match self.ready.last_mut() {
            Some(last) if last.1 == from => last.1 = to,
            _ => self.ready.push((from, to)),
        }
    }

    /// Finds where `this` has been initialized in a method without frames: behind
    /// a call of `super()` or `this()` that no branch comes before.
    pub(crate) fn straight(
        class: &ClassFile<'t>,
        facts: &Facts<'t>,
        handlers: &[u8],
    ) -> Result<Self, SkipReason> {
        let mut sites = Sites::default();
        let mut machine = Machine::new(true);
        by_slot(&facts.initial, &mut machine.locals);
        let followed = Followed {
            pool: class.pool(),
            code: facts.code,
            known: &facts.known,
        };
        for instruction in Instructions::new(facts.code, 0) {
            let instruction = instruction?;
            if branches(&instruction) || followed.step(&mut machine, &instruction).is_none() {
                break;
            }
            let next = instruction.next();
            if !machine.locals.contains(&Type::UninitializedThis) {
                let covered = handlers
                    .chunks_exact(8)
                    .any(|entry| u16_at(entry, 0).is_some_and(|start| u32::from(start) < next));
                if !covered {
                    sites.ready.push((next, facts.code.len() as u32));
                }
                break;
            }
        }
        Ok(sites)
    }
}

/// True for what goes somewhere else than to the next instruction.
fn branches(instruction: &Instruction<'_>) -> bool {
    let code = instruction.opcode;
    !opcode::falls_through(code) || matches!(opcode::form(code), Form::Branch | Form::BranchWide)
}
