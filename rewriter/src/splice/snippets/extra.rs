//! Stack map frames that were not there: at labels of snippets, behind those
//! that do not fall through, at detours, and at the handler of `Unwind`.

use std::collections::BTreeMap;

use crate::class::ClassFile;
use crate::index::Bci;
use crate::snippet::Operation;
use crate::splice::SkipReason;
use crate::splice::frames::MOST_FRAME_BYTES;
use crate::splice::layout::Positions;
use crate::splice::pool::PoolWriter;
use crate::splice::snippets::{Analysis, Inserted, Moment, Types};
use crate::verify::{Class, FrameWriter, Origin, Type, by_entry};

/// Most types in all added frames of one method.
const MOST_TYPES: usize = 1 << 20;

/// Where a snippet stands in the new code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed<'o> {
    /// Of the edit in the plan.
    pub(crate) index: usize,
    pub(crate) start: u32,
    /// Where each operation begins, and where the last one ends, from `start`.
    pub(crate) offsets: &'o [u32],
}

/// A frame at a position of the new code; objects that are not initialized yet
/// are named by positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Extra<'t> {
    pub(crate) position: u32,
    /// By entry.
    pub(crate) locals: Vec<Type<'t>>,
    pub(crate) stack: Vec<Type<'t>>,
}

/// What is put where.
pub(crate) struct Placement<'o> {
    pub(crate) placed: Vec<Placed<'o>>,
    /// Detours: position and target.
    pub(crate) detours: Vec<(u32, u32)>,
    /// Where the handler of `Unwind` begins.
    pub(crate) unwind: Option<u32>,
}

/// All added frames by position, each position once.
pub(crate) fn extras<'t>(
    class: &ClassFile<'t>,
    analysis: &Analysis<'t>,
    placement: &Placement<'_>,
    positions: &impl Positions,
) -> Result<Vec<Extra<'t>>, SkipReason> {
    let mut made = Extras {
        analysis,
        positions,
        all: BTreeMap::new(),
        size: 0,
    };
    made.detours(class, &placement.detours)?;
    if let Some(position) = placement.unwind {
        let types = Types {
            locals: analysis.facts.lasting(),
            stack: vec![Type::Object(Class::THROWABLE)],
        };
        made.add(position, &types.locals, &types.stack, None)?;
    }
    for placed in &placement.placed {
        let found = analysis
            .inserted
            .iter()
            .find(|found| found.index == placed.index);
        if let Some(inserted) = found {
            made.snippet(inserted, placed)?;
        }
    }
    let extras = made.all.into_iter();
    Ok(extras
        .map(|(position, (locals, stack))| Extra {
            position,
            locals,
            stack,
        })
        .collect())
}

struct Extras<'x, 't, P> {
    analysis: &'x Analysis<'t>,
    positions: &'x P,
    all: BTreeMap<u32, (Vec<Type<'t>>, Vec<Type<'t>>)>,
    size: usize,
}

impl<'t, P: Positions> Extras<'_, 't, P> {
    fn add(
        &mut self,
        position: u32,
        locals: &[Type<'t>],
        stack: &[Type<'t>],
        placed: Option<&Placed<'_>>,
    ) -> Result<(), SkipReason> {
        let gone = |found: &Type<'_>| match found {
            Type::Uninitialized(Origin::Method(bci)) => self.analysis.changed.contains(bci),
            _ => false,
        };
        if locals.iter().chain(stack).any(gone) {
            return Err(SkipReason::NewIsChanged);
        }
        let settle = |types: Vec<Type<'t>>| {
            types
                .into_iter()
                .map(|found| settled(found, self.positions, placed))
                .collect::<Result<Vec<_>, _>>()
        };
        let (locals, stack) = (settle(by_entry(locals))?, settle(stack.to_vec())?);
        self.size = self
            .size
            .wrapping_add(locals.len())
            .wrapping_add(stack.len());
        if self.size > MOST_TYPES {
            return Err(SkipReason::FramesTooLarge);
        }
        self.all.insert(position, (locals, stack));
        Ok(())
    }

    /// The frame of a detour is that of its target.
    fn detours(&mut self, class: &ClassFile<'t>, detours: &[(u32, u32)]) -> Result<(), SkipReason> {
        if detours.is_empty() {
            return Ok(());
        }
        let mut by_target: Vec<(u32, u32)> = detours.iter().map(|(at, to)| (*to, *at)).collect();
        by_target.sort_unstable();
        let mut left = by_target.iter().copied().peekable();
        let mut reader = self.analysis.facts.reader(class)?;
        let mut slots = Vec::new();
        while let Some(bci) = reader.next()? {
            crate::verify::by_slot(&reader.locals, &mut slots);
            while let Some((_, position)) = left.next_if(|(target, _)| *target == bci) {
                self.add(position, &slots, &reader.stack, None)?;
            }
        }
        match left.next() {
            Some((target, _)) => Err(SkipReason::NoFrame {
                bci: Bci(target as u16),
            }),
            None => Ok(()),
        }
    }

    fn snippet(&mut self, inserted: &Inserted<'t>, placed: &Placed<'_>) -> Result<(), SkipReason> {
        let typed = &inserted.typed;
        if typed.falls_through && typed.labels.iter().all(Option::is_none) {
            return Ok(());
        }
        let unwinding;
        let site = match inserted.moment {
            Moment::Unwind => {
                let locals = self.analysis.facts.lasting();
                let stack = vec![Type::Object(Class::THROWABLE)];
                unwinding = Types { locals, stack };
                Some(&unwinding)
            }
            moment => self.analysis.sites.get(moment),
        };
        let site = site.ok_or(unknown(inserted.moment))?;
        let kept = site.stack.len().checked_sub(inserted.stack.iter().len());
        let below = kept
            .and_then(|kept| site.stack.get(..kept))
            .ok_or(unknown(inserted.moment))?;
        let end = placed.offsets.last().copied().unwrap_or(0);
        let mut locals = Vec::new();
        for (at, operation) in inserted.snippet.operations().iter().enumerate() {
            let Operation::Place(label) = operation else {
                continue;
            };
            let Some(Some(state)) = typed.labels.get(label.0 as usize) else {
                continue;
            };
            let offset = placed.offsets.get(at).copied().unwrap_or(end);
            locals.clone_from(&site.locals);
            let mut stack = below.to_vec();
            if offset == end {
                stack.extend(inserted.stack);
            } else {
                locals.resize(self.analysis.facts.locals() as usize, Type::Top);
                locals.extend_from_slice(&state.locals);
                stack.extend_from_slice(&state.stack);
            }
            self.add(
                placed.start.wrapping_add(offset),
                &locals,
                &stack,
                Some(placed),
            )?;
        }
        if !typed.falls_through {
            let mut stack = below.to_vec();
            stack.extend(inserted.stack);
            self.add(placed.start.wrapping_add(end), &site.locals, &stack, None)?;
        }
        Ok(())
    }
}

fn unknown(moment: Moment) -> SkipReason {
    let bci = match moment {
        Moment::At(bci) | Moment::After(bci) => bci,
        Moment::Entry | Moment::Unwind => 0,
    };
    SkipReason::UnknownTypes {
        bci: Bci(bci as u16),
    }
}

/// The type with a position for the `new` that it names.
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
                    .map(|offset| placed.start.wrapping_add(*offset))
            });
            offset.ok_or(SkipReason::FramesTooLarge)?
        }
        _ => return Ok(found),
    };
    Ok(Type::Uninitialized(Origin::Position(position)))
}

/// Calls `visit` with position, locals and stack of every frame in order: those of
/// the method, moved, and the added ones among them. None when `visit` gave none.
pub(crate) fn merged_frames<'t>(
    class: &ClassFile<'t>,
    analysis: &Analysis<'t>,
    extras: &[Extra<'t>],
    positions: &impl Positions,
    mut visit: impl FnMut(u32, &[Type<'t>], &[Type<'t>]) -> Option<()>,
) -> Result<Option<()>, SkipReason> {
    let facts = &analysis.facts;
    let mut reader = facts.reader(class)?;
    let mut left = extras.iter().peekable();
    let (mut locals, mut stack) = (Vec::new(), Vec::new());
    while let Some(bci) = reader.next()? {
        let bad = SkipReason::UnknownTypes {
            bci: Bci(bci as u16),
        };
        let inside = (bci as usize) < facts.code.len();
        let position = positions.label(bci).filter(|_| inside).ok_or(bad)?;
        while let Some(extra) = left.next_if(|extra| extra.position < position) {
            if visit(extra.position, &extra.locals, &extra.stack).is_none() {
                return Ok(None);
            }
        }
        // The method's own frame says no more than is known there.
        left.next_if(|extra| extra.position == position);
        for (from, to) in [(&reader.locals, &mut locals), (&reader.stack, &mut stack)] {
            to.clear();
            for found in from {
                to.push(settled(*found, positions, None)?);
            }
        }
        if visit(position, &locals, &stack).is_none() {
            return Ok(None);
        }
    }
    Ok(left.try_for_each(|extra| visit(extra.position, &extra.locals, &extra.stack)))
}

/// Appends the contents of `StackMapTable` with the method's frames moved and
/// the added ones among them.
pub(crate) fn write_frames<'t>(
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
    let mut writer = FrameWriter::new(&analysis.facts.initial);
    let mut full = false;
    let mut write_type = |found: Type<'t>, out: &mut Vec<u8>| {
        let done = put(found, pool, out);
        full |= done.is_none();
        done
    };
    let written = merged_frames(
        class,
        analysis,
        extras,
        positions,
        |position, locals, stack| {
            count = count.wrapping_add(1);
            let done = writer.write(position, (locals, stack), &mut write_type, out);
            done.filter(|()| out.len().wrapping_sub(count_at) <= MOST_FRAME_BYTES)
        },
    )?;
    if full {
        return Err(SkipReason::PoolFull);
    }
    let count = u16::try_from(count).ok().filter(|_| written.is_some());
    let count = count.ok_or(SkipReason::FramesTooLarge)?;
    crate::splice::write_at(out, count_at, &count.to_be_bytes());
    Ok(())
}

/// Appends one `verification_type_info`; none when the pool is full.
fn put(found: Type<'_>, pool: &mut PoolWriter, out: &mut Vec<u8>) -> Option<()> {
    use crate::splice::item;
    let index = match found {
        Type::Object(class) if class.index != 0 => class.index,
        Type::Object(class) => {
            let mut name = Vec::new();
            class.write(&mut name);
            pool.class(&name)?
        }
        Type::Uninitialized(Origin::Position(position)) => position as u16,
        _ => 0,
    };
    let tag = match found {
        Type::Top => 0,
        Type::Int => item::INTEGER,
        Type::Float => item::FLOAT,
        Type::Double => item::DOUBLE,
        Type::Long => item::LONG,
        Type::Null => 5,
        Type::UninitializedThis => item::UNINITIALIZED_THIS,
        Type::Uninitialized(_) => item::UNINITIALIZED,
        Type::Object(_) => item::OBJECT,
    };
    out.push(tag);
    if tag >= item::OBJECT {
        out.extend_from_slice(&index.to_be_bytes());
    }
    Some(())
}
