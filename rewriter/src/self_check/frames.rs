//! Compares the frames of the output with those of the original, in methods whose trampolines follow the code.

use crate::class::{Attribute, ClassFile};
use crate::index::{MethodIndex, PoolIndex};
use crate::self_check::mismatch::Mismatch;
use crate::self_check::unsplice::Unsplice;
use crate::splice::Positions;
use crate::stack_map::{
    FollowedType, FrameContext, FrameKind, FrameState, StackMapReader, UnsetFieldList,
    VerificationType, item, parameter_name,
};
use crate::typing::{FrameReader, Origin};

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

/// Buffers for the frames of trampolines.
#[derive(Debug, Default)]
pub(crate) struct FrameCheck {
    state: FrameState,
    /// Targets of trampolines, as bcis.
    targets: Vec<u32>,
    kept: Vec<Kept>,
    types: Vec<FollowedType>,
}

fn table<'a>(attribute: &Attribute<'a>) -> Result<StackMapReader<'a>, Mismatch> {
    let unreadable = |_| Mismatch::new("frames that can be read", 0, 0);
    StackMapReader::new(attribute.bytes, attribute.offset).map_err(unreadable)
}

impl FrameCheck {
    /// Compares the tables: the original frames come first, then one full frame for each trampoline.
    pub(crate) fn check(
        &mut self,
        pair: &FramePair<'_, '_>,
        unspliced: &Unsplice,
    ) -> Result<(), Mismatch> {
        let mut new = one_by_one(pair, unspliced)?;
        if !unspliced.trampolines().is_empty() {
            self.keep_targets(pair, unspliced)?;
        }
        for trampoline in unspliced.trampolines() {
            let (position, bci) = (trampoline.position, trampoline.target().unwrap_or(0));
            self.full(&mut new, pair, unspliced, position, bci)
                .ok_or_else(|| {
                    let expected = "the target's stack map frame, in full, on its trampoline";
                    Mismatch::new(expected, bci, position)
                })?;
        }
        match new.left() == 0 && new.finish().is_ok() {
            true => Ok(()),
            false => Err(unlike(None, new.last())),
        }
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
        let listed = new.unset_fields();
        let index = self.kept.binary_search_by_key(&target, |kept| kept.bci);
        let kept = self.kept.get(index.ok()?)?;
        for range in [kept.start..kept.locals, kept.locals..kept.end] {
            let types = self.types.get(range)?;
            (usize::from(new.count().ok()?) == types.len()).then_some(())?;
            for expected in types {
                let found = new.verification_type().ok()?;
                same_type(pair, unspliced, *expected, found).then_some(())?;
            }
        }
        let this = FollowedType::Written(VerificationType::plain(item::UNINITIALIZED_THIS));
        let is_early = self.types.get(kept.start..kept.locals)?.contains(&this);
        match is_early && pair.original.has_strict_fields() {
            true => has_fields_of(pair, target, listed).then_some(()),
            false => (listed == UnsetFieldList::NONE).then_some(()),
        }
    }

    /// Expands the original table and keeps the frames of trampoline targets.
    fn keep_targets(
        &mut self,
        pair: &FramePair<'_, '_>,
        unspliced: &Unsplice,
    ) -> Result<(), Mismatch> {
        let wrong = || Mismatch::new("a method whose frames can be followed", 0, 0);
        let trampolines = unspliced.trampolines().iter();
        self.targets.clear();
        self.targets
            .extend(trampolines.filter_map(|trampoline| trampoline.target()));
        self.targets.sort_unstable();
        self.kept.clear();
        self.types.clear();
        let class = pair.original;
        let context = FrameContext {
            class,
            method: class.method(pair.method).ok_or_else(wrong)?,
            limits: pair.limits,
        };
        self.state.initial(&context).map_err(|_| wrong())?;
        let mut reader = table(pair.tables.0)?;
        while let Some(bci) = self
            .state
            .step(&mut reader, pair.limits)
            .map_err(|_| wrong())?
        {
            if self.targets.binary_search(&bci).is_ok() {
                let start = self.types.len();
                self.types.extend_from_slice(&self.state.locals);
                let locals = self.types.len();
                self.types.extend_from_slice(&self.state.stack);
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
}

/// Checks whether a list in the output has the strict fields that are without a value at `target` of the original.
fn has_fields_of(pair: &FramePair<'_, '_>, target: u32, listed: UnsetFieldList<'_>) -> bool {
    let Some(method) = pair.original.method(pair.method) else {
        return false;
    };
    let table = Some(pair.tables.0);
    let Ok(mut old) = FrameReader::new(&method, table, pair.limits, Origin::Method) else {
        return false;
    };
    while let Ok(Some(bci)) = old.next() {
        if bci == target {
            let mut new = old.unset_fields.clone();
            let read = new.take_listed(listed, pair.output.pool(), bci);
            return read.is_ok() && listed != UnsetFieldList::NONE && new == old.unset_fields;
        }
    }
    false
}

/// Checks whether a type in the output's frames is that of the original.
#[inline]
fn same_type(
    pair: &FramePair<'_, '_>,
    unspliced: &Unsplice,
    old: FollowedType,
    new: VerificationType,
) -> bool {
    match old {
        FollowedType::Written(old) => same_written(unspliced, old, new),
        FollowedType::Parameter(start, length) => {
            let method = pair.original.method(pair.method);
            let descriptor = method.map(|method| method.descriptor().as_bytes());
            let name = descriptor.and_then(|found| parameter_name(found, (start, length)));
            let there = pair.output.pool().class_name(PoolIndex(new.value));
            new.tag == item::OBJECT && name == there.map(|found| found.as_bytes())
        }
    }
}

/// Checks whether both types are the same; the `new` of an uninitialized object has moved.
#[inline]
fn same_written(unspliced: &Unsplice, old: VerificationType, new: VerificationType) -> bool {
    if old.tag != item::UNINITIALIZED {
        return old == new;
    }
    let position = unspliced.instruction(u32::from(old.value));
    new.tag == old.tag && position == Some(u32::from(new.value))
}

/// Compares the original frames. The output begins with them in their original form, so no frame needs expansion.
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
    let same_fields = old.unset_fields() == new.unset_fields();
    if kind != new_kind || unspliced.label(bci) != Some(position) || !same_fields {
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
        same_written(unspliced, before, after).then_some(())?;
    }
    Some(())
}
