//! Compares the frames of the output with those of the original, fully expanded.

use crate::class::{Attribute, ClassFile};
use crate::index::{MethodIndex, PoolIndex};
use crate::self_check::mismatch::Mismatch;
use crate::self_check::unsplice::Unsplice;
use crate::splice::Positions;
use crate::stack_map::{
    FollowedType, FrameContext, FrameKind, FrameState, StackMapReader, item, parameter_name,
};

/// Both tables of one method.
pub(crate) struct FramePair<'p, 'a> {
    pub(crate) original: &'p ClassFile<'a>,
    pub(crate) output: &'p ClassFile<'p>,
    pub(crate) method: MethodIndex,
    pub(crate) limits: (u16, u16),
    pub(crate) tables: (&'p Attribute<'a>, &'p Attribute<'p>),
}

/// The frame of a trampoline target: bci, and the ranges of its locals and stack.
#[derive(Debug, Clone, Copy)]
struct Kept {
    bci: u32,
    start: usize,
    locals: usize,
    end: usize,
}

/// Buffers for following both tables.
#[derive(Debug, Default)]
pub(crate) struct FrameCheck {
    old: FrameState,
    new: FrameState,
    /// Targets of trampolines, as bcis.
    targets: Vec<u32>,
    kept: Vec<Kept>,
    types: Vec<FollowedType>,
}

/// Applies the next frame to `state` and returns its bci; `None` at the end.
fn next(
    reader: &mut StackMapReader<'_>,
    state: &mut FrameState,
    limits: (u16, u16),
) -> Result<Option<u32>, Mismatch> {
    let position = reader.last().unwrap_or(0);
    let unreadable = |_| Mismatch::new("frames that can be read", 0, position);
    state.step(reader, limits).map_err(unreadable)
}

fn table<'a>(attribute: &Attribute<'a>) -> Result<StackMapReader<'a>, Mismatch> {
    let unreadable = |_| Mismatch::new("frames that can be read", 0, 0);
    StackMapReader::new(attribute.bytes, attribute.offset).map_err(unreadable)
}

impl FrameCheck {
    pub(crate) fn check(
        &mut self,
        pair: &FramePair<'_, '_>,
        unspliced: &Unsplice,
    ) -> Result<(), Mismatch> {
        if unspliced.trampolines().is_empty() {
            return finished(&one_by_one(pair, unspliced)?);
        }
        let unreadable = || Mismatch::new("frames that can be read", 0, 0);
        self.targets.clear();
        self.targets.extend(
            unspliced
                .trampolines()
                .iter()
                .filter_map(|trampoline| trampoline.target()),
        );
        self.targets.sort_unstable();
        self.keep_targets(pair)?;
        if unspliced.trampolines_follow_code() {
            return self.one_by_one_then_trampolines(pair, unspliced);
        }
        for (state, class) in [(&mut self.old, pair.original), (&mut self.new, pair.output)] {
            start(state, class, pair)?;
        }
        let mut old = table(pair.tables.0)?;
        let mut new = table(pair.tables.1)?;
        let mut trampolines = unspliced.trampolines().iter().peekable();
        while let Some(bci) = next(&mut old, &mut self.old, pair.limits)? {
            let label = unspliced.label(bci).ok_or_else(unreadable)?;
            while let Some(trampoline) =
                trampolines.next_if(|trampoline| trampoline.position < label)
            {
                self.trampoline(
                    &mut new,
                    pair,
                    unspliced,
                    trampoline.position,
                    trampoline.target(),
                )?;
            }
            let position = next(&mut new, &mut self.new, pair.limits)?;
            let same = self.same(pair, unspliced, (&self.old.locals, &self.new.locals))
                && self.same(pair, unspliced, (&self.old.stack, &self.new.stack));
            if position != Some(label) || !same {
                return Err(Mismatch::new("the same stack map frame", bci, label));
            }
        }
        for trampoline in trampolines {
            self.trampoline(
                &mut new,
                pair,
                unspliced,
                trampoline.position,
                trampoline.target(),
            )?;
        }
        match next(&mut new, &mut self.new, pair.limits)? {
            Some(position) => Err(Mismatch::new("no further stack map frame", 0, position)),
            None => Ok(()),
        }
    }

    /// Compares the tables if all trampolines follow the code. The original frames come first, then one full frame for
    /// each trampoline.
    fn one_by_one_then_trampolines(
        &mut self,
        pair: &FramePair<'_, '_>,
        unspliced: &Unsplice,
    ) -> Result<(), Mismatch> {
        let mut new = one_by_one(pair, unspliced)?;
        for trampoline in unspliced.trampolines() {
            let (position, bci) = (trampoline.position, trampoline.target().unwrap_or(0));
            self.full(&mut new, pair, unspliced, position, bci)
                .ok_or_else(|| {
                    let expected = "the target's stack map frame, in full, on its trampoline";
                    Mismatch::new(expected, bci, position)
                })?;
        }
        finished(&new)
    }

    /// Checks for the frame of `target` in full at a trampoline.
    fn full(
        &self,
        new: &mut StackMapReader<'_>,
        pair: &FramePair<'_, '_>,
        unspliced: &Unsplice,
        position: u32,
        target: u32,
    ) -> Option<()> {
        (new.frame().ok()? == Some((FrameKind::Full, position))).then_some(())?;
        let index = self.kept.binary_search_by_key(&target, |kept| kept.bci);
        let kept = self.kept.get(index.ok()?)?;
        for range in [kept.start..kept.locals, kept.locals..kept.end] {
            let types = self.types.get(range)?;
            (usize::from(new.count().ok()?) == types.len()).then_some(())?;
            for expected in types {
                let found = new.verification_type().ok()?;
                same_type(pair, unspliced, *expected, FollowedType::Written(found)).then_some(())?;
            }
        }
        Some(())
    }

    /// Checks that the frame of a trampoline is that of its target.
    fn trampoline(
        &mut self,
        new: &mut StackMapReader<'_>,
        pair: &FramePair<'_, '_>,
        unspliced: &Unsplice,
        at: u32,
        target: Option<u32>,
    ) -> Result<(), Mismatch> {
        let bci = target.unwrap_or(0);
        let wrong = Mismatch::new("the target's stack map frame on its trampoline", bci, at);
        let position = next(new, &mut self.new, pair.limits)?;
        let index = self.kept.binary_search_by_key(&bci, |kept| kept.bci);
        let Some(kept) = index.ok().and_then(|index| self.kept.get(index)) else {
            return Err(wrong);
        };
        let locals = self.types.get(kept.start..kept.locals).unwrap_or_default();
        let stack = self.types.get(kept.locals..kept.end).unwrap_or_default();
        let same = self.same(pair, unspliced, (locals, &self.new.locals))
            && self.same(pair, unspliced, (stack, &self.new.stack));
        if position == Some(at) && same {
            Ok(())
        } else {
            Err(wrong)
        }
    }

    /// Expands the original table and keeps the frames of trampoline targets.
    fn keep_targets(&mut self, pair: &FramePair<'_, '_>) -> Result<(), Mismatch> {
        self.kept.clear();
        self.types.clear();
        start(&mut self.old, pair.original, pair)?;
        let mut reader = table(pair.tables.0)?;
        while let Some(bci) = next(&mut reader, &mut self.old, pair.limits)? {
            if self.targets.binary_search(&bci).is_ok() {
                let start = self.types.len();
                self.types.extend_from_slice(&self.old.locals);
                let locals = self.types.len();
                self.types.extend_from_slice(&self.old.stack);
                self.kept.push(Kept {
                    bci,
                    start,
                    locals,
                    end: self.types.len(),
                });
            }
        }
        Ok(())
    }

    fn same(
        &self,
        pair: &FramePair<'_, '_>,
        unspliced: &Unsplice,
        (old, new): (&[FollowedType], &[FollowedType]),
    ) -> bool {
        let mut pairs = old.iter().zip(new);
        old.len() == new.len() && pairs.all(|(old, new)| same_type(pair, unspliced, *old, *new))
    }
}

/// Checks whether a type in the output's frames is that of the original.
#[inline]
fn same_type(
    pair: &FramePair<'_, '_>,
    unspliced: &Unsplice,
    old: FollowedType,
    new: FollowedType,
) -> bool {
    use FollowedType::{Parameter, Written};
    match (old, new) {
        (Written(old), Written(new)) if old.tag == item::UNINITIALIZED => {
            new.tag == old.tag
                && unspliced.instruction(u32::from(old.value)) == Some(u32::from(new.value))
        }
        (Parameter(start, length), Written(new)) if new.tag == item::OBJECT => {
            let method = pair.original.method(pair.method);
            let descriptor = method.map(|method| method.descriptor().as_bytes());
            let name = descriptor.and_then(|found| parameter_name(found, (start, length)));
            let there = pair.output.pool().class_name(PoolIndex(new.value));
            name == there.map(|found| found.as_bytes())
        }
        (old, new) => old == new,
    }
}

fn start(
    state: &mut FrameState,
    class: &ClassFile<'_>,
    pair: &FramePair<'_, '_>,
) -> Result<(), Mismatch> {
    let wrong = || Mismatch::new("a method whose frames can be followed", 0, 0);
    let method = class.method(pair.method).ok_or_else(wrong)?;
    state
        .initial(&FrameContext {
            class,
            method,
            limits: pair.limits,
        })
        .map_err(|_| wrong())
}

/// Compares the tables without trampolines between the frames. The output begins with the original frames in their
/// original form, so no frame needs expansion.
fn one_by_one<'p>(
    pair: &FramePair<'p, '_>,
    unspliced: &Unsplice,
) -> Result<StackMapReader<'p>, Mismatch> {
    let (before, after) = pair.tables;
    let (mut old, mut new) = (table(before)?, table(after)?);
    while old.left() > 0 {
        let (last, new_last) = (old.last(), new.last());
        same_frame(&mut old, &mut new, unspliced).ok_or_else(|| unlike(last, new_last))?;
    }
    match old.finish() {
        Ok(()) => Ok(new),
        Err(_) => Err(unlike(old.last(), new.last())),
    }
}

/// Checks that no frame follows.
fn finished(new: &StackMapReader<'_>) -> Result<(), Mismatch> {
    match new.left() == 0 && new.finish().is_ok() {
        true => Ok(()),
        false => Err(unlike(None, new.last())),
    }
}

fn unlike(last: Option<u32>, new_last: Option<u32>) -> Mismatch {
    let (last, new_last) = (last.unwrap_or(0), new_last.unwrap_or(0));
    Mismatch::new("the same stack map frame after it", last, new_last)
}

/// Reads a frame of each table; `None` if they differ.
fn same_frame(
    old: &mut StackMapReader<'_>,
    new: &mut StackMapReader<'_>,
    unspliced: &Unsplice,
) -> Option<()> {
    let (kind, bci) = old.frame().ok()??;
    let (new_kind, position) = new.frame().ok()??;
    if kind != new_kind || unspliced.label(bci) != Some(position) {
        return None;
    }
    match kind {
        FrameKind::Same | FrameKind::Chop(_) => Some(()),
        FrameKind::SameLocals1StackItem => same_types(old, new, 1, unspliced),
        FrameKind::Append(count) => same_types(old, new, u16::from(count), unspliced),
        FrameKind::Full => {
            for _ in 0..2 {
                let count = old.count().ok()?;
                (new.count().ok()? == count).then_some(())?;
                same_types(old, new, count, unspliced)?;
            }
            Some(())
        }
    }
}

fn same_types(
    old: &mut StackMapReader<'_>,
    new: &mut StackMapReader<'_>,
    count: u16,
    unspliced: &Unsplice,
) -> Option<()> {
    for _ in 0..count {
        let (before, after) = (old.verification_type().ok()?, new.verification_type().ok()?);
        let same = if before.tag == item::UNINITIALIZED {
            let position = unspliced.instruction(u32::from(before.value));
            after.tag == before.tag && position == Some(u32::from(after.value))
        } else {
            before == after
        };
        same.then_some(())?;
    }
    Some(())
}
