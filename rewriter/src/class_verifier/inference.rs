//! Infers the types at the targets of jumps, for code without stack map frames (JVMS 4.10.2).

use std::collections::{BTreeMap, BTreeSet};

use crate::class::{Code, Instruction, Instructions};
use crate::class_verifier::error::{CODE, CodeFault, FITS};
use crate::index::PoolIndex;
use crate::self_check::{Machine, Source};
use crate::typing::{Class, Type};
use jvms::opcode::*;

/// The types at places of one method, by bci.
pub(super) type Frames<'t> = BTreeMap<u32, Machine<'t>>;

/// Maximum number of instructions that are followed for one method.
const MOST_STEPS: u32 = 1 << 22;

/// The types inferred so far, and the places from which they have to be followed again.
struct Inference<'i, 'c, 't> {
    source: &'i Source<'i, 't>,
    code: &'i Code<'c, 't>,
    /// Targets of jumps, and starts of handlers.
    targets: BTreeSet<u32>,
    frames: Frames<'t>,
    pending: BTreeSet<u32>,
}

/// Returns the types at the start, at all targets and all handlers that can be reached. `None` for code with subroutines,
/// whose types depend on the caller.
///
/// # Errors
/// The first instruction whose types do not fit.
pub(super) fn infer<'t>(
    source: &Source<'_, 't>,
    code: &Code<'_, 't>,
    entry: Machine<'t>,
) -> Result<Option<Frames<'t>>, CodeFault> {
    let mut targets = BTreeSet::new();
    for found in code.instructions().map_while(Result::ok) {
        if is_subroutine_call(found.opcode) || found.opcode == RET {
            return Ok(None);
        }
        targets.extend(found.targets().map(|target| u32::from(target.0)));
    }
    targets.extend(code.exception_table().map(|row| u32::from(row.handler.0)));
    let mut inference = Inference {
        source,
        code,
        targets,
        frames: Frames::from([(0, entry)]),
        pending: BTreeSet::from([0]),
    };
    let mut left = MOST_STEPS;
    while let Some(start) = inference.pending.pop_first() {
        inference.follow(start, &mut left)?;
    }
    Ok(Some(inference.frames))
}

impl<'t> Inference<'_, '_, 't> {
    /// Follows the code from a target to the next one.
    fn follow(&mut self, start: u32, left: &mut u32) -> Result<(), CodeFault> {
        let mut machine = self.frames.get(&start).cloned().unwrap_or_default();
        let code = Instructions::from(self.source.code, start as usize, 0);
        for found in code.map_while(Result::ok) {
            let at = u32::from(found.bci.0);
            if at != start && self.targets.contains(&at) {
                return self.meet(at, &machine);
            }
            *left = left.checked_sub(1).ok_or((at, "fewer paths"))?;
            self.handlers(at, &machine)?;
            machine.step(self.source, &found).ok_or((at, CODE))?;
            if matches!(found.opcode, ISTORE..=ASTORE_3) {
                self.handlers(at, &machine)?;
            }
            self.jumps(&found, &machine)?;
            if !falls_through(found.opcode) {
                break;
            }
        }
        Ok(())
    }

    fn jumps(&mut self, found: &Instruction<'t>, machine: &Machine<'t>) -> Result<(), CodeFault> {
        let mut targets = found.targets();
        targets.try_for_each(|target| self.meet(target.0.into(), machine))
    }

    /// Passes the local variables to the handlers that cover an instruction.
    fn handlers(&mut self, at: u32, machine: &Machine<'t>) -> Result<(), CodeFault> {
        for row in self.code.exception_table() {
            if !(u32::from(row.start.0)..u32::from(row.end)).contains(&at) {
                continue;
            }
            let caught = caught(self.source, row.catch_type);
            let thrown = Machine {
                locals: machine.locals.clone(),
                stack: vec![Type::Object(caught)],
                unset_fields: machine.unset_fields.clone(),
            };
            self.meet(row.handler.0.into(), &thrown)?;
        }
        Ok(())
    }

    /// Joins the types of a path with those of earlier paths to the same target.
    fn meet(&mut self, at: u32, machine: &Machine<'t>) -> Result<(), CodeFault> {
        let Some(known) = self.frames.get_mut(&at) else {
            self.frames.insert(at, machine.clone());
            self.pending.insert(at);
            return Ok(());
        };
        if join(known, machine).ok_or((at, FITS))? {
            self.pending.insert(at);
        }
        Ok(())
    }
}

/// Returns the class of the exceptions that a handler catches.
pub(super) fn caught<'t>(source: &Source<'_, 't>, catch_type: PoolIndex) -> Class<'t> {
    let named = source.pool.class_name(catch_type);
    named.map_or(Class::THROWABLE, |name| Class::named(name.as_bytes()))
}

/// Joins the types of two paths. Returns whether this changed `known`; `None` if the stacks cannot be joined.
fn join<'t>(known: &mut Machine<'t>, other: &Machine<'t>) -> Option<bool> {
    let mut changed = false;
    for (slot, local) in known.locals.iter_mut().enumerate() {
        let joined = both(*local, other.local(slot)).unwrap_or(Type::Top);
        changed |= joined != *local;
        *local = joined;
    }
    (known.stack.len() == other.stack.len()).then_some(())?;
    for (value, there) in known.stack.iter_mut().zip(&other.stack) {
        let joined = both(*value, *there)?;
        changed |= joined != *value;
        *value = joined;
    }
    Some(changed)
}

/// Joins two types. Two classes become null, which suits every class, because their common superclass is unknown.
fn both<'t>(one: Type<'t>, other: Type<'t>) -> Option<Type<'t>> {
    let is_reference = |found| matches!(found, Type::Null | Type::Object(_));
    match (one, other) {
        _ if one == other => Some(one),
        _ if is_reference(one) && is_reference(other) => Some(Type::Null),
        _ => None,
    }
}
