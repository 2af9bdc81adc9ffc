//! Added stack map frames: at labels of snippets, after snippets that do not fall through, at trampolines, after
//! inverted branches, and at the handler of `Unwind`.

use std::collections::BTreeMap;

use crate::bytes::write_at;
use crate::class::ClassFile;
use crate::edits::ChangeError;
use crate::index::Bci;
use crate::plan::SkipReason;
use crate::pool::PoolWriter;
use crate::snippet::Operation;
use crate::snippet::Snippet;
use crate::splice::analysis::{Analysis, Inserted, Surrounding};
use crate::splice::frames::MOST_FRAME_BYTES;
use crate::splice::positions::Positions;
use crate::splice::replacements::Replacements;
use crate::typing::{
    Class, FrameWriter, Origin, ProgramPoint, Type, Typed, Types, by_entry, by_slot, encoded,
};

/// Maximum number of types in all added frames of one method.
const MOST_TYPES: usize = 1 << 20;

/// A snippet in the new code.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed<'o> {
    /// Index of its edit in the plan.
    pub(crate) index: usize,
    pub(crate) start: u32,
    /// The offset of each operation from `start`, and that of the end.
    pub(crate) offsets: &'o [u32],
}

/// A frame at a position of the new code; uninitialized objects are identified by positions.
#[derive(Debug, Clone)]
pub(super) struct Extra<'t> {
    pub(crate) position: u32,
    /// One type for each local variable, with `long` and `double` as one.
    pub(crate) types: Types<'t>,
}

/// The positions of inserted code.
pub(super) struct Placement<'o> {
    pub(crate) placed: Vec<Placed<'o>>,
    /// Trampolines: position and target.
    pub(crate) trampolines: Vec<(u32, u32)>,
    /// Inverted branches: bci, and the position after them.
    pub(crate) inverted: Vec<(u32, u32)>,
    /// The starts of the code at `Unwind`, one for each layer.
    pub(crate) unwind: Vec<u32>,
}

/// Returns all added frames by position, each position once.
pub(super) fn extras<'t>(
    class: &ClassFile<'t>,
    analysis: &Analysis<'t>,
    changes: &'t Replacements,
    placement: &Placement<'_>,
    positions: &impl Positions,
) -> Result<Vec<Extra<'t>>, SkipReason> {
    let mut made = Extras {
        analysis,
        positions,
        all: BTreeMap::new(),
        size: 0,
    };
    made.trampolines(class, &placement.trampolines)?;
    for position in &placement.unwind {
        made.add(*position, thrown(analysis), None)?;
    }
    for placed in &placement.placed {
        let found = analysis
            .inserted
            .iter()
            .find(|found| found.index == placed.index);
        if let Some(inserted) = found {
            made.inserted(inserted, placed)?;
        }
        let mut surroundings = analysis.surroundings.iter();
        if let Some(found) = surroundings.find(|found| found.index == placed.index) {
            made.surrounding(found, changes, placed)?;
        }
    }
    made.after_inverted(&placement.inverted)?;
    let extras = made.all.into_iter();
    Ok(extras
        .map(|(position, types)| Extra { position, types })
        .collect())
}

/// Code with its types.
struct TypedCode<'c, 't> {
    point: ProgramPoint,
    code: &'c Snippet,
    typed: &'c Typed<'t>,
    /// Number of values on the stack at its start.
    finds: usize,
    /// The values that it leaves in their place.
    leaves: &'c [Type<'t>],
}

struct Extras<'x, 't, P> {
    analysis: &'x Analysis<'t>,
    positions: &'x P,
    all: BTreeMap<u32, Types<'t>>,
    size: usize,
}

impl<'t, P: Positions> Extras<'_, 't, P> {
    /// Adds a frame of these types, with local variables by slot.
    fn add(
        &mut self,
        position: u32,
        types: Types<'t>,
        placed: Option<&Placed<'_>>,
    ) -> Result<(), SkipReason> {
        let gone = |found: &Type<'_>| match found {
            Type::Uninitialized(Origin::Method(bci)) => self.analysis.changed.contains(bci),
            _ => false,
        };
        if types.locals.iter().chain(&types.stack).any(gone) {
            return Err(SkipReason::NewIsChanged);
        }
        let settle = |types: Vec<Type<'t>>| {
            types
                .into_iter()
                .map(|found| settled(found, self.positions, placed))
                .collect::<Result<Vec<_>, _>>()
        };
        let types = Types {
            locals: settle(by_entry(&types.locals))?,
            stack: settle(types.stack)?,
            unset_fields: types.unset_fields,
        };
        self.size += types.locals.len() + types.stack.len();
        if self.size > MOST_TYPES {
            return Err(SkipReason::FramesTooLarge);
        }
        self.all.insert(position, types);
        Ok(())
    }

    /// Adds the frames of trampolines, which are those of their targets.
    fn trampolines(
        &mut self,
        class: &ClassFile<'t>,
        trampolines: &[(u32, u32)],
    ) -> Result<(), SkipReason> {
        if trampolines.is_empty() {
            return Ok(());
        }
        let mut by_target: Vec<(u32, u32)> =
            trampolines.iter().map(|(at, to)| (*to, *at)).collect();
        by_target.sort_unstable();
        let mut left = by_target.iter().copied().peekable();
        let mut reader = self.analysis.context.reader(class)?;
        let mut types = Types::default();
        while let Some(bci) = reader.next()? {
            by_slot(&reader.frame.locals, &mut types.locals);
            types.stack.clone_from(&reader.frame.stack);
            types.unset_fields.clone_from(&reader.unset_fields);
            while let Some((_, position)) = left.next_if(|(target, _)| *target == bci) {
                self.add(position, types.clone(), None)?;
            }
        }
        match left.next() {
            Some((target, _)) => Err(SkipReason::NoFrame {
                bci: Bci(target as u16),
            }),
            None => Ok(()),
        }
    }

    /// Adds the frames after inverted branches: the types when the branch does not jump.
    fn after_inverted(&mut self, inverted: &[(u32, u32)]) -> Result<(), SkipReason> {
        for (bci, position) in inverted {
            let point = ProgramPoint::After(*bci);
            let analysis = self.analysis;
            let known = analysis.behind.as_ref().and_then(|known| known.get(point));
            let types = known.ok_or(unknown(point))?;
            // A snippet with a label at this position has the frame already.
            if !self.all.contains_key(position) {
                self.add(*position, types.clone(), None)?;
            }
        }
        Ok(())
    }

    fn inserted(&mut self, inserted: &Inserted<'t>, placed: &Placed<'_>) -> Result<(), SkipReason> {
        let stack = inserted.stack.as_slice();
        let code = TypedCode {
            point: inserted.point,
            code: inserted.snippet,
            typed: &inserted.typed,
            finds: stack.len(),
            leaves: stack,
        };
        self.code(&code, placed)
    }

    fn surrounding(
        &mut self,
        found: &Surrounding<'t>,
        changes: &'t Replacements,
        placed: &Placed<'_>,
    ) -> Result<(), SkipReason> {
        let point = ProgramPoint::At(found.bci);
        let changed = changes.get(found.bci).ok_or(unknown(point))?;
        let code = &changed.replacement.code;
        let wrong = |error| SkipReason::Change {
            bci: Bci(found.bci as u16),
            error: ChangeError::Code(error),
        };
        let typed = found.typed(code, &self.analysis.context).map_err(wrong)?;
        let code = TypedCode {
            point,
            code,
            typed: &typed,
            finds: found.stack_effect.operands.len(),
            leaves: found.stack_effect.result.as_slice(),
        };
        self.code(&code, placed)
    }

    fn code(&mut self, code: &TypedCode<'_, 't>, placed: &Placed<'_>) -> Result<(), SkipReason> {
        let typed = code.typed;
        if typed.falls_through && typed.labels.iter().all(Option::is_none) {
            return Ok(());
        }
        let unwinding;
        let there = match code.point {
            ProgramPoint::Unwind => {
                unwinding = thrown(self.analysis);
                Some(&unwinding)
            }
            point => self.analysis.points.get(point),
        };
        let there = there.ok_or(unknown(code.point))?;
        let kept = there.stack.len().checked_sub(code.finds);
        let below = kept
            .and_then(|kept| there.stack.get(..kept))
            .ok_or(unknown(code.point))?;
        let end = placed.offsets.last().copied().unwrap_or_default();
        for (at, operation) in code.code.operations().iter().enumerate() {
            let Operation::Label(label) = operation else {
                continue;
            };
            let Some(Some(state)) = typed.labels.get(label.0 as usize) else {
                continue;
            };
            let offset = placed.offsets.get(at).copied().unwrap_or(end);
            let mut types = Types {
                stack: below.to_vec(),
                ..there.clone()
            };
            if offset == end {
                types.stack.extend_from_slice(code.leaves);
            } else {
                let own = self.analysis.context.locals() as usize;
                types.locals.resize(own, Type::Top);
                types.locals.extend_from_slice(&state.locals);
                types.stack.extend_from_slice(&state.stack);
            }
            self.add(placed.start + offset, types, Some(placed))?;
        }
        if !typed.falls_through {
            let types = Types {
                stack: [below, code.leaves].concat(),
                ..there.clone()
            };
            self.add(placed.start + end, types, None)?;
        }
        Ok(())
    }
}

/// Returns the types at the handler of `Unwind`.
fn thrown<'t>(analysis: &Analysis<'t>) -> Types<'t> {
    Types {
        locals: analysis.context.lasting(),
        stack: vec![Type::Object(Class::THROWABLE)],
        ..Types::default()
    }
}

fn unknown(point: ProgramPoint) -> SkipReason {
    let bci = match point {
        ProgramPoint::At(bci) | ProgramPoint::After(bci) => bci,
        ProgramPoint::Entry | ProgramPoint::Unwind => 0,
    };
    SkipReason::UnknownTypes {
        bci: Bci(bci as u16),
    }
}

/// Replaces the origin of an uninitialized type by the position of its `new`.
fn settled<'t>(
    found: Type<'t>,
    positions: &impl Positions,
    placed: Option<&Placed<'_>>,
) -> Result<Type<'t>, SkipReason> {
    let position = match found {
        Type::Uninitialized(Origin::Method(bci)) => {
            let missing = SkipReason::UnknownTypes {
                bci: Bci(bci as u16),
            };
            positions.instruction(bci).ok_or(missing)?
        }
        Type::Uninitialized(Origin::Snippet(at)) => {
            let offset = placed.and_then(|placed| {
                placed
                    .offsets
                    .get(at as usize)
                    .map(|offset| placed.start + *offset)
            });
            offset.ok_or(SkipReason::FramesTooLarge)?
        }
        _ => return Ok(found),
    };
    Ok(Type::Uninitialized(Origin::Position(position)))
}

/// Passes position and types of every frame to `visit`, in order: the method's moved frames and the added ones. `None` if
/// `visit` returns it.
fn merged_frames<'t>(
    class: &ClassFile<'t>,
    analysis: &Analysis<'t>,
    extras: &[Extra<'t>],
    positions: &impl Positions,
    mut visit: impl FnMut(u32, &Types<'t>) -> Option<()>,
) -> Result<Option<()>, SkipReason> {
    let context = &analysis.context;
    let mut reader = context.reader(class)?;
    let mut left = extras.iter().peekable();
    let mut moved = Types::default();
    while let Some(bci) = reader.next()? {
        let bad = SkipReason::UnknownTypes {
            bci: Bci(bci as u16),
        };
        let inside = (bci as usize) < context.code.len();
        let position = positions.label(bci).filter(|_| inside).ok_or(bad)?;
        while let Some(extra) = left.next_if(|extra| extra.position < position) {
            if visit(extra.position, &extra.types).is_none() {
                return Ok(None);
            }
        }
        // The method's own frame has no more types than are known there.
        left.next_if(|extra| extra.position == position);
        let frame = &reader.frame;
        let Types { locals, stack, .. } = &mut moved;
        for (from, to) in [(&frame.locals, locals), (&frame.stack, stack)] {
            to.clear();
            for found in from {
                to.push(settled(*found, positions, None)?);
            }
        }
        moved.unset_fields.clone_from(&reader.unset_fields);
        if visit(position, &moved).is_none() {
            return Ok(None);
        }
    }
    Ok(left.try_for_each(|extra| visit(extra.position, &extra.types)))
}

/// Appends the contents of `StackMapTable` with the method's moved frames and the added ones.
pub(super) fn write_frames<'t>(
    class: &ClassFile<'t>,
    analysis: &Analysis<'t>,
    extras: &[Extra<'t>],
    positions: &impl Positions,
    pool: &mut PoolWriter,
    out: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    let count_at = out.len();
    out.extend_from_slice(&[0; 2]);
    let mut count = 0_u32;
    let mut writer = FrameWriter::new(&analysis.context.initial);
    let has_strict_fields = class.has_strict_fields();
    let mut full = false;
    let written = merged_frames(class, analysis, extras, positions, |position, types| {
        count += 1;
        // The list of a frame would otherwise be that of the frame before, which may be an added one.
        if has_strict_fields && types.locals.contains(&Type::UninitializedThis) {
            let listed = types.unset_fields.write(pool, out);
            full |= listed.is_none();
        }
        let mut write_type = |found: Type<'t>, out: &mut Vec<u8>| {
            let encoded = encoded(found, pool);
            full |= encoded.is_none();
            encoded.map(|encoded| encoded.write(out))
        };
        let done = writer.write(
            position,
            (&types.locals, &types.stack),
            &mut write_type,
            out,
        );
        done.filter(|()| !full && out.len() - count_at <= MOST_FRAME_BYTES)
    })?;
    if full {
        return Err(SkipReason::PoolFull);
    }
    let count = u16::try_from(count).ok().filter(|_| written.is_some());
    let count = count.ok_or(SkipReason::FramesTooLarge)?;
    write_at(out, count_at, &count.to_be_bytes());
    Ok(())
}
