//! Type-checks inserted code against the frames of the output.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::class::{Instruction, Instructions};
use crate::self_check::added_frames::{AddedFrame, NewFrames};
use crate::self_check::machine::{Machine, Source, put};
use crate::self_check::mismatch::Mismatch;

use crate::typing::{Class, Hierarchy, Type};
use jvms::opcode;

/// The context for following inserted code.
pub(super) struct InsertedCode<'i, 't> {
    pub(super) source: Source<'i, 't>,
    pub(super) known: &'i Hierarchy<'t>,
    /// `max_locals` of the original and `max_stack` of the output.
    pub(super) limits: (u16, u16),
    /// The start positions of inserted code, in order.
    pub(super) starts: &'i [u32],
    pub(super) frames: &'i mut NewFrames<'t>,
}

fn wrong(expected: &'static str, position: u32) -> Mismatch {
    Mismatch::new(expected, 0, position)
}

const FRAME: &str = "the stack map frame that inserted code needs";
const CODE: &str = "inserted code whose types fit";

/// The types along the paths through one piece of code.
struct Ways<'t> {
    range: Range<u32>,
    /// The types at its start. Values on the stack have their declared types, unless a frame there has the actual ones.
    start: Machine<'t>,
    as_they_are: bool,
    /// Number of stack slots below its values, which it must not touch.
    below: usize,
    /// The types required at its end.
    end: Machine<'t>,
    /// Pairs of actual and declared types of its values. Verification of the original has shown that they are
    /// compatible.
    seen_as: Vec<(Type<'t>, Type<'t>)>,
    /// True if a jump leads to its end.
    leads_to_end: bool,
    /// The joined types at each added frame, by position.
    joined: BTreeMap<u32, Machine<'t>>,
}

impl<'t> InsertedCode<'_, 't> {
    /// Follows the code in `range`. Before it, the types are `types`, with the top values seen as `declared`. After it
    /// they are the same, or include the result of the instruction that the code surrounds.
    pub(super) fn check(
        &mut self,
        types: &Machine<'t>,
        declared: &[Type<'t>],
        around: Option<&Instruction<'t>>,
        range: Range<u32>,
    ) -> Result<(), Mismatch> {
        let fault = || wrong(CODE, range.start);
        let mut end = types.clone();
        let mut seen_as = Vec::new();
        for declared in declared.iter().rev() {
            let found = end.pop().ok_or_else(fault)?;
            if found != *declared && found.is_reference() && declared.is_reference() {
                seen_as.push((found, *declared));
            }
        }
        let below = end.stack.len();
        for value in declared {
            put(&mut end.stack, *value);
        }
        let as_they_are = self.frames.moved.binary_search(&range.start).is_ok()
            || self
                .frames
                .added(range.start)
                .is_some_and(|frame| frame.types.stack == types.stack);
        let start = match as_they_are {
            true => types.clone(),
            false => end.clone(),
        };
        if let Some(around) = around {
            end.step(&self.source, around).ok_or_else(fault)?;
        }
        let mut ways = Ways {
            range,
            start,
            as_they_are,
            below,
            end,
            seen_as,
            leads_to_end: false,
            joined: BTreeMap::new(),
        };
        let falls_through = self.follow(&mut ways)?;
        self.end(&ways, falls_through)?;
        for (position, types) in &ways.joined {
            let slots = usize::from(self.limits.0);
            let frame = self.frames.added(*position);
            let frame = frame.filter(|frame| ways.is(&frame.types, types, slots));
            frame.ok_or(wrong(FRAME, *position))?.wanted = true;
        }
        Ok(())
    }

    /// Follows the code once; returns whether control falls out of it.
    fn follow(&mut self, ways: &mut Ways<'t>) -> Result<bool, Mismatch> {
        let code = Instructions::from(self.source.code, ways.range.start as usize, 0);
        let (mut machine, mut live) = (ways.start.clone(), true);
        for found in code.map_while(Result::ok) {
            let at = u32::from(found.bci.0);
            if at >= ways.range.end {
                break;
            }
            if let Some(frame) = self.frames.added(at) {
                if live {
                    ways.meet(frame, &machine)?;
                }
                machine.clone_from(&frame.types);
                live = true;
            }
            let stepped = live.then(|| machine.step(&self.source, &found)).flatten();
            stepped
                .filter(|()| machine.stack.len() <= usize::from(self.limits.1))
                .ok_or(wrong(CODE, at))?;
            if let Some(target) = found.branch_target() {
                self.jump(ways, u32::from(target.0), &machine)?;
            }
            live = opcode::falls_through(found.opcode);
        }
        if live {
            self.arrive(ways, &machine)?;
        }
        Ok(live)
    }

    fn jump(
        &mut self,
        ways: &mut Ways<'t>,
        target: u32,
        machine: &Machine<'t>,
    ) -> Result<(), Mismatch> {
        if target == ways.range.end {
            ways.leads_to_end = true;
            return self.arrive(ways, machine);
        }
        if let Some(frame) = self.frames.added(target) {
            return ways.meet(frame, machine);
        }
        // The original has a frame at this position.
        let slots = usize::from(self.limits.0);
        let back = target == ways.range.start
            && self.frames.moved.binary_search(&target).is_ok()
            && machine.stack == ways.start.stack
            && machine.same_locals(&ways.start, slots);
        back.then_some(()).ok_or(wrong(FRAME, target))
    }

    /// Checks the types at the end against those that the next code requires.
    fn arrive(&self, ways: &Ways<'t>, machine: &Machine<'t>) -> Result<(), Mismatch> {
        let (found, wanted) = (&machine.stack, &ways.end.stack);
        let mut values = found.iter().zip(wanted);
        let fits = found.len() == wanted.len()
            && values.all(|(found, wanted)| {
                self.known.fits(*found, *wanted) || ways.seen_as.contains(&(*found, *wanted))
            })
            && machine.same_locals(&ways.end, usize::from(self.limits.0));
        fits.then_some(()).ok_or(wrong(CODE, ways.range.end))
    }

    /// Checks for a frame at the end, required after a jump to it or if no code falls into it.
    fn end(&mut self, ways: &Ways<'t>, falls_through: bool) -> Result<(), Mismatch> {
        let end = ways.range.end;
        let moved = self.frames.moved.binary_search(&end).is_ok();
        let from = self.starts.partition_point(|start| *start < end);
        let here = self
            .starts
            .iter()
            .skip(from)
            .take_while(|start| **start == end);
        let others = here.count() > usize::from(ways.range.is_empty());
        match self.frames.added(end) {
            None if !moved && (ways.leads_to_end || !falls_through) => Err(wrong(FRAME, end)),
            Some(frame) => {
                // An empty piece may have the frame of the code before it.
                let empty = ways.range.is_empty() && frame.types.is(&ways.start);
                let same = empty || frame.types.is(&ways.end);
                frame.wanted |= same;
                // Other code that begins there may have a frame of its own.
                (same || others).then_some(()).ok_or(wrong(FRAME, end))
            }
            None => Ok(()),
        }
    }
}

impl<'t> Ways<'t> {
    /// Joins one more path to an added frame.
    fn meet(&mut self, frame: &AddedFrame<'t>, machine: &Machine<'t>) -> Result<(), Mismatch> {
        let mut machine = machine.clone();
        let locals = machine.locals.iter_mut().zip(&frame.types.locals);
        let stack = machine.stack.iter_mut().zip(&frame.types.stack);
        for (found, wanted) in locals.chain(stack) {
            if self.seen_as.contains(&(*found, *wanted)) {
                *found = *wanted;
            }
        }
        match self.joined.get_mut(&frame.position) {
            Some(known) => known.join(&machine).ok_or(wrong(FRAME, frame.position)),
            None => {
                self.joined.insert(frame.position, machine);
                Ok(())
            }
        }
    }

    /// Checks whether a frame equals the join of all paths to it; the first `slots` local variables are the original's.
    /// If a value kept its actual type, values derived from it may have type `Object` in the frame.
    fn is(&self, frame: &Machine<'t>, joined: &Machine<'t>, slots: usize) -> bool {
        let object = Type::Object(Class::OBJECT);
        let itself = |found| {
            let mut all = self.seen_as.iter();
            all.any(|(one, other)| *one == found || *other == found)
        };
        let derived = self.as_they_are && !self.seen_as.is_empty();
        let may_be = |found: Type<'t>, wanted: Type<'t>| {
            let weaker = wanted == object && matches!(found, Type::Object(_));
            found == wanted || weaker && derived && !itself(found)
        };
        let end = frame.locals.len().max(joined.locals.len());
        let mut own = slots..end;
        let (found, wanted) = (&joined.stack, &frame.stack);
        let mut above = found.iter().zip(wanted).skip(self.below);
        frame.same_locals(joined, slots)
            && own.all(|slot| may_be(joined.local(slot), frame.local(slot)))
            && found.len() == wanted.len()
            && found.get(..self.below) == wanted.get(..self.below)
            && above.all(|(found, wanted)| may_be(*found, *wanted))
    }
}
