//! Checks the frames of a method with added frames. The original frames must be at their new positions, and each added
//! frame must follow from the code.
//!
//! The check follows the original code by its own frames up to each insertion. From there it follows the output by the
//! output's frames. Each frame must equal the types along the paths to it.

use std::ops::Range;

use crate::class::{Attribute, ClassFile, Code, Instructions};
use crate::cursor::u16_at;
use crate::index::MethodIndex;
use crate::limits::{FRAMES_REQUIRED_SINCE, FRAMES_SINCE};
use crate::plan::{Action, Edit, EditPlan, Location};
use crate::self_check::added_frames::{AddedFrame, NewFrames};
use crate::self_check::inserted_code::InsertedCode;
use crate::self_check::machine::{Machine, Source, written};
use crate::self_check::mismatch::Mismatch;
use crate::self_check::unsplice::{FoundSnippet, Unsplice};
use crate::snippet::Snippet;
use crate::splice::{Positions, edit_index};
use crate::typing::{Class, FrameReader, Hierarchy, Origin, Type};
use jvms::descriptor::return_type;
use jvms::opcode;

/// Maximum number of types in the added frames of one method.
const MOST_TYPES: usize = 1 << 22;

/// A point of the original code: bci, and the stage of its instruction.
type Point = (u32, u8);
/// An exception leaves the method.
const UNWIND: Point = (0, 0);
/// Method entry.
const ENTRY: Point = (0, 1);
const AT: u8 = 2;
const BEHIND: u8 = 3;

/// A method with edits other than hits.
pub(super) struct EditedFrames<'r, 't> {
    pub(super) original: &'r ClassFile<'t>,
    pub(super) output: &'r ClassFile<'t>,
    pub(super) method: MethodIndex,
    pub(super) before: &'r Code<'r, 't>,
    pub(super) after: &'r Code<'r, 't>,
    pub(super) plan: &'r EditPlan,
    /// In the order of [`order_by_method`](crate::splice::order_by_method).
    pub(super) edits: &'r [u64],
}

fn unknown(bci: u32) -> Mismatch {
    Mismatch::new("types that can be followed", bci, 0)
}

impl<'t> EditedFrames<'_, 't> {
    fn edits(&self) -> impl Iterator<Item = &Edit> {
        let edits = self.edits.iter();
        edits.filter_map(|key| self.plan.edits().get(edit_index(*key)))
    }

    pub(super) fn unwinds(&self) -> bool {
        self.edits()
            .any(|edit| edit.point.location == Location::Unwind)
    }

    /// Checks for inserted code with branches.
    fn branching(&self) -> bool {
        self.edits().any(|edit| {
            let code = match edit.action {
                Action::Insert(id) => self.plan.snippet(id),
                _ => self.plan.around(edit),
            };
            code.is_some_and(Snippet::is_branching)
        })
    }

    fn table(code: &Code<'_, 't>) -> Option<Attribute<'t>> {
        code.attributes().named("StackMapTable")
    }

    pub(super) fn has_frames(&self) -> bool {
        Self::table(self.before).is_some()
    }

    /// Checks whether the verifier reads frames of this method.
    pub(super) fn framed(&self) -> bool {
        let version = self.original.major_version();
        let there = || version >= FRAMES_SINCE && self.has_frames();
        version >= FRAMES_REQUIRED_SINCE || there()
    }

    pub(super) fn needs_frames(&self) -> bool {
        (self.unwinds() || self.branching()) && self.framed()
    }

    fn source(&self) -> Source<'_, 't> {
        Source {
            pool: self.original.pool(),
            code: self.before.bytes(),
            this: Class::named(self.original.this_class().as_bytes()),
            origin: Origin::Method,
        }
    }

    /// Returns the original's frames, and the types at its entry.
    fn old_frames(&self) -> Option<(FrameReader<'_, 't>, Machine<'t>)> {
        let table = Self::table(self.before);
        self.frames(self.original, table.as_ref(), self.before, Origin::Method)
    }

    /// Returns frames in the code of a class, and the types at its entry.
    fn frames<'f>(
        &self,
        class: &'f ClassFile<'t>,
        table: Option<&Attribute<'t>>,
        code: &Code<'_, 't>,
        origin: fn(u32) -> Origin,
    ) -> Option<(FrameReader<'f, 't>, Machine<'t>)> {
        let limits = (code.max_locals(), code.max_stack());
        let method = class.method(self.method)?;
        let frames = FrameReader::new(&method, table, limits, origin).ok()?;
        let mut entry = Machine::default();
        frames.write(&mut entry.locals, &mut entry.stack);
        Some((frames, entry))
    }

    /// Follows the original and passes the types at each reachable point to `visit`.
    fn follow(
        &self,
        mut visit: impl FnMut(Point, &Machine<'t>) -> Result<(), Mismatch>,
    ) -> Result<(), Mismatch> {
        let (mut frames, mut machine) = self.old_frames().ok_or(unknown(0))?;
        visit(ENTRY, &machine)?;
        let source = self.source();
        let mut live = true;
        for found in self.before.instructions() {
            let found = found.map_err(|_| unknown(0))?;
            let bci = u32::from(found.bci.0);
            if frames.peek() == Some(bci) {
                machine.follow(&mut frames).map_err(|_| unknown(bci))?;
                live = true;
            }
            if live {
                visit((bci, AT), &machine)?;
                machine.step(&source, &found).ok_or(unknown(bci))?;
                live = opcode::falls_through(found.opcode);
            }
            if live {
                visit((bci, BEHIND), &machine)?;
            }
        }
        Ok(())
    }

    /// Returns the ranges (start, end) that the handler of `Unwind` must cover.
    pub(super) fn covered(&self) -> Result<Vec<(u32, u32)>, Mismatch> {
        let end = self.before.bytes().len() as u32;
        if !self.unwinds() {
            return Ok(Vec::new());
        }
        let method = self.original.method(self.method);
        if !method.is_some_and(|method| method.is_constructor()) {
            return Ok(vec![(0, end)]);
        }
        if !self.framed() {
            return Ok(self
                .made_straight()
                .map_or(Vec::new(), |from| vec![(from, end)]));
        }
        let mut ready: Vec<(u32, u32)> = Vec::new();
        self.follow(|(bci, stage), machine| {
            let made = !machine.locals.contains(&Type::UninitializedThis);
            if made && stage == AT {
                let found = Instructions::from(self.before.bytes(), bci as usize, 0).next();
                let next = found.and_then(Result::ok).ok_or(unknown(bci))?.next();
                match ready.last_mut() {
                    Some((_, to)) if *to == bci => *to = next,
                    _ => ready.push((bci, next)),
                }
            }
            Ok(())
        })?;
        Ok(ready)
    }

    /// Returns the position at which `this` becomes initialized, if no branch precedes it and all handlers follow it.
    fn made_straight(&self) -> Option<u32> {
        let (_, mut machine) = self.old_frames()?;
        for found in self.before.instructions() {
            let found = found.ok().filter(|found| !found.may_jump())?;
            machine.step(&self.source(), &found)?;
            if !machine.locals.contains(&Type::UninitializedThis) {
                let mut handlers = self.before.handler_bytes().chunks_exact(8);
                let early = |row| u16_at(row, 0).is_some_and(|at| u32::from(at) < found.next());
                return (!handlers.any(early)).then_some(found.next());
            }
        }
        None
    }

    /// Compares the frames of the output with those of the original and with those that inserted code requires.
    pub(super) fn check(
        &self,
        found: Option<&Attribute<'t>>,
        unspliced: &Unsplice,
    ) -> Result<(), Mismatch> {
        let mut frames = self.new_frames(found, unspliced)?;
        self.trampolines(unspliced, &mut frames)?;
        let handler = self.handler(unspliced, &mut frames)?;
        if self.branching() {
            self.inserted(unspliced, &mut frames, handler.as_ref())?;
        }
        self.inverted(unspliced, &mut frames)?;
        match frames.added.iter().find(|frame| !frame.wanted) {
            Some(AddedFrame { position, .. }) => {
                Err(Mismatch::new("no further stack map frame", 0, *position))
            }
            None => Ok(()),
        }
    }

    /// Reads the frames of the output and separates original from added ones.
    fn new_frames(
        &self,
        found: Option<&Attribute<'t>>,
        unspliced: &Unsplice,
    ) -> Result<NewFrames<'t>, Mismatch> {
        let new = self.frames(self.output, found, self.after, Origin::Position);
        let (mut new, mut there) = new.ok_or(unknown(0))?;
        let (mut old, mut wanted) = self.old_frames().ok_or(unknown(0))?;
        let (mut frames, mut size) = (NewFrames::default(), 0_usize);
        while let Some(position) = there.follow(&mut new).map_err(|_| unknown(0))? {
            let next = old.peek().map(|bci| (bci, unspliced.label(bci)));
            if let Some((bci, Some(label))) = next
                && label == position
            {
                wanted.follow(&mut old).map_err(|_| unknown(bci))?;
                let same = moved(&mut wanted, unspliced);
                if same.is_none() || !there.is(&wanted) {
                    let expected = "the original's stack map frame";
                    return Err(Mismatch::new(expected, bci, position));
                }
                frames.moved.push(position);
            } else {
                size += there.locals.len() + there.stack.len();
                frames.added.push(AddedFrame {
                    position,
                    types: there.clone(),
                    wanted: false,
                });
            }
            if size > MOST_TYPES {
                return Err(Mismatch::new("fewer stack map frames", 0, position));
            }
        }
        match old.next().map_err(|_| unknown(0))? {
            Some(bci) => Err(Mismatch::new("the original's stack map frame", bci, 0)),
            None => Ok(frames),
        }
    }

    /// Checks that the frame of a trampoline is that of its target.
    fn trampolines(
        &self,
        unspliced: &Unsplice,
        frames: &mut NewFrames<'t>,
    ) -> Result<(), Mismatch> {
        let trampolines = unspliced.trampolines().iter();
        let mut left: Vec<(u32, u32)> = trampolines
            .map(|found| (found.target().unwrap_or(0), found.position))
            .collect();
        left.sort_unstable();
        let mut left = left.into_iter().peekable();
        let (mut old, mut types) = self.old_frames().ok_or(unknown(0))?;
        while let Some(bci) = old.peek().filter(|_| left.peek().is_some()) {
            types.follow(&mut old).map_err(|_| unknown(bci))?;
            let same = moved(&mut types, unspliced);
            while let Some((_, position)) = left.next_if(|(target, _)| *target == bci) {
                let frame = frames
                    .added(position)
                    .filter(|frame| frame.types.is(&types));
                let expected = "the target's stack map frame on its trampoline";
                let wrong = Mismatch::new(expected, bci, position);
                frame.filter(|_| same.is_some()).ok_or(wrong)?.wanted = true;
            }
        }
        match left.next() {
            Some((bci, position)) => {
                let expected = "a stack map frame at the target of a trampoline";
                Err(Mismatch::new(expected, bci, position))
            }
            None => Ok(()),
        }
    }

    /// Checks the frame at the handler of `Unwind`: it may hold only types that hold everywhere.
    fn handler(
        &self,
        unspliced: &Unsplice,
        frames: &mut NewFrames<'t>,
    ) -> Result<Option<Machine<'t>>, Mismatch> {
        let Some((_, first)) = unspliced.unwinding().first().copied() else {
            return Ok(None);
        };
        let (mut old, mut lasting) = self.old_frames().ok_or(unknown(0))?;
        if lasting.local(0) == Type::UninitializedThis {
            lasting.set(0, Type::Object(self.source().this));
        }
        let mut there = Machine::default();
        while there.follow(&mut old).map_err(|_| unknown(0))?.is_some() {
            for slot in 0..lasting.locals.len() {
                let found = there.local(slot);
                // No frame is covered while `this` is uninitialized.
                if found != lasting.local(slot) && found != Type::UninitializedThis {
                    lasting.set(slot, Type::Top);
                }
            }
        }
        for found in self.before.instructions().map_while(Result::ok) {
            if let Some((first, slots)) = written(&found) {
                let parameters = lasting.locals.len();
                (first..(first + slots).min(parameters))
                    .for_each(|slot| lasting.set(slot, Type::Top));
            }
        }
        let mut types: Option<Machine<'t>> = None;
        for (_, position) in unspliced.unwinding() {
            let frame = frames.added(*position).filter(|frame| {
                let mut slots = 0..frame.types.locals.len();
                frame.types.stack == [Type::Object(Class::THROWABLE)]
                    && types.as_ref().is_none_or(|types| frame.types.is(types))
                    && slots.all(|slot| {
                        let found = frame.types.local(slot);
                        found == Type::Top || found == lasting.local(slot)
                    })
            });
            let expected = "a stack map frame of the lasting types at the handler of Unwind";
            let frame = frame.ok_or(Mismatch::new(expected, 0, first))?;
            frame.wanted = true;
            types.get_or_insert_with(|| frame.types.clone());
        }
        Ok(types)
    }

    /// Checks the frame after an inverted branch: the types when the branch does not jump.
    fn inverted(&self, unspliced: &Unsplice, frames: &mut NewFrames<'t>) -> Result<(), Mismatch> {
        let mut left = unspliced.inverted().iter().copied().peekable();
        if left.peek().is_none() {
            return Ok(());
        }
        let mut types = Machine::default();
        self.follow(|point, machine| {
            let Some((bci, position)) = left.next_if(|(bci, _)| (*bci, BEHIND) == point) else {
                return Ok(());
            };
            // Frames of the original and of snippets were checked before.
            let known = frames.moved.binary_search(&position).is_ok();
            if known || frames.added(position).is_some_and(|frame| frame.wanted) {
                return Ok(());
            }
            types.clone_from(machine);
            moved(&mut types, unspliced).ok_or(unknown(bci))?;
            let frame = frames
                .added(position)
                .filter(|frame| frame.types.is(&types));
            let expected = "a stack map frame after the inverted branch";
            let wrong = Mismatch::new(expected, bci, position);
            frame.ok_or(wrong)?.wanted = true;
            Ok(())
        })?;
        match left.next() {
            Some((bci, _)) => Err(unknown(bci)),
            None => Ok(()),
        }
    }

    /// Follows the inserted code from the types at its location.
    fn inserted(
        &self,
        unspliced: &Unsplice,
        frames: &mut NewFrames<'t>,
        handler: Option<&Machine<'t>>,
    ) -> Result<(), Mismatch> {
        let known = Hierarchy::of(self.original);
        let source = Source {
            pool: self.output.pool(),
            code: self.after.bytes(),
            origin: Origin::Position,
            ..self.source()
        };
        let mut places: Vec<(Point, &FoundSnippet, Location)> = Vec::new();
        for found in unspliced.placed() {
            let edit = self.plan.edits().get(found.index);
            let edit = edit.ok_or(unknown(0))?;
            let location = edit.point.location;
            // Other replacements of an instruction have no frames.
            if matches!(edit.action, Action::Insert(_))
                || self.plan.around(edit).is_some_and(Snippet::is_branching)
            {
                places.push((self.point(location), found, location));
            }
        }
        places.sort_by_key(|(point, found, _)| (*point, found.start));
        let starts = places.iter().map(|(_, found, _)| found.start);
        let mut starts: Vec<u32> = starts.collect();
        starts.sort_unstable();
        let mut inserted = InsertedCode {
            source,
            known: &known,
            limits: (self.before.max_locals(), self.after.max_stack()),
            starts: &starts,
            frames,
        };
        for (_, found, _) in places.iter().take_while(|place| place.0 == UNWIND) {
            let types = handler.ok_or(unknown(0))?;
            let declared = [Type::Object(Class::THROWABLE)];
            inserted.check(types, &declared, None, range(found, unspliced))?;
        }
        let mut types = Machine::default();
        self.follow(|point, machine| {
            let from = places.partition_point(|place| place.0 < point);
            let here = places.get(from..).unwrap_or_default();
            for (_, found, location) in here.iter().take_while(|place| place.0 == point) {
                types.clone_from(machine);
                moved(&mut types, unspliced).ok_or(unknown(point.0))?;
                let range = range(found, unspliced);
                match location {
                    Location::At(_) => {
                        let around = Instructions::from(self.before.bytes(), point.0 as usize, 0);
                        let around = around.map_while(Result::ok).next();
                        let around = around.ok_or(unknown(point.0))?;
                        let operands = types.operands(&source, &around);
                        let operands = operands.ok_or(unknown(point.0))?;
                        inserted.check(&types, &operands, Some(&around), range)?;
                    }
                    _ => inserted.check(&types, &self.found(*location), None, range)?,
                }
            }
            Ok(())
        })
    }

    /// Returns the types of the values on the stack at a location, as the verifier must see them.
    fn found(&self, location: Location) -> Vec<Type<'t>> {
        let Location::Before(bci) = location else {
            return Vec::new();
        };
        match self.before.bytes().get(usize::from(bci)) {
            Some(&opcode::ATHROW) => vec![Type::Object(Class::THROWABLE)],
            Some(code) if opcode::is_return(*code) => {
                let method = self.original.method(self.method);
                let descriptor = method.map(|method| method.descriptor().as_bytes());
                let returns = descriptor.and_then(return_type);
                returns.map(Type::of).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the point at which code at this location runs.
    fn point(&self, location: Location) -> Point {
        match location {
            Location::Entry => ENTRY,
            Location::Unwind => UNWIND,
            Location::Before(bci) | Location::At(bci) => (u32::from(bci.0), AT),
            Location::FallThrough(bci) => (u32::from(bci.0), BEHIND),
            Location::Jump { source, target } => {
                match self.before.bytes().get(usize::from(source)) {
                    Some(&(opcode::GOTO | opcode::GOTO_W)) => (u32::from(source.0), AT),
                    _ => (u32::from(target.0), AT),
                }
            }
        }
    }
}

/// Returns start and end of a snippet.
fn range(found: &FoundSnippet, unspliced: &Unsplice) -> Range<u32> {
    let length = unspliced.offsets(found).last().copied().unwrap_or(0);
    found.start..found.start + length
}

/// Replaces the origins of uninitialized objects by the new positions of their `new`.
fn moved(machine: &mut Machine<'_>, unspliced: &Unsplice) -> Option<()> {
    for found in machine.locals.iter_mut().chain(&mut machine.stack) {
        if let Type::Uninitialized(Origin::Method(bci)) = found {
            *found = Type::Uninitialized(Origin::Position(unspliced.instruction(*bci)?));
        }
    }
    Some(())
}
