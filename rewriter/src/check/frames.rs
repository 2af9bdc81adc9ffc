//! Frames of the output against those of the original, all written out.

use crate::check::Mismatch;
use crate::check::walk::Walk;
use crate::class::{Attribute, ClassFile};
use crate::cursor::Cursor;
use crate::index::{MethodIndex, PoolIndex};
use crate::splice::{FrameContext, Frames, PARAMETER, Positions, VerificationType, item, next_bci};

/// Both tables of one method.
pub(crate) struct FramePair<'p, 'a> {
    pub(crate) original: &'p ClassFile<'a>,
    pub(crate) output: &'p ClassFile<'p>,
    pub(crate) method: MethodIndex,
    pub(crate) limits: (u16, u16),
    pub(crate) tables: (&'p Attribute<'a>, &'p Attribute<'p>),
}

/// A kept frame: bci, and where its locals and stack stand.
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
    old: Frames,
    new: Frames,
    /// Bcis that detours lead to.
    targets: Vec<u32>,
    kept: Vec<Kept>,
    types: Vec<VerificationType>,
}

/// One table, followed frame by frame.
struct Follow<'f> {
    cursor: Cursor<'f>,
    left: u16,
    last: Option<u32>,
}

impl<'f> Follow<'f> {
    fn new(attribute: &Attribute<'f>) -> Option<Self> {
        let mut cursor = Cursor::new(attribute.bytes, attribute.offset);
        let left = cursor.u2("StackMapTable").ok()?;
        Some(Follow {
            cursor,
            left,
            last: None,
        })
    }

    /// Applies the next frame to `state`; its bci, or none at the end.
    fn next(&mut self, state: &mut Frames, limits: (u16, u16)) -> Result<Option<u32>, Mismatch> {
        let Some(left) = self.left.checked_sub(1) else {
            return Ok(None);
        };
        self.left = left;
        let position = self.last.unwrap_or(0);
        let unreadable = || Mismatch::new("frames that can be read", 0, position);
        let bci = state
            .step(&mut self.cursor, self.last, limits)
            .ok_or_else(unreadable)?;
        self.last = Some(bci);
        Ok(Some(bci))
    }
}

impl FrameCheck {
    pub(crate) fn check(&mut self, pair: &FramePair<'_, '_>, walk: &Walk) -> Result<(), Mismatch> {
        if walk.detours().is_empty() {
            return one_by_one(pair, walk);
        }
        let unreadable = || Mismatch::new("frames that can be read", 0, 0);
        self.targets.clear();
        self.targets
            .extend(walk.detours().iter().filter_map(|detour| detour.target));
        self.targets.sort_unstable();
        self.keep_targets(pair)?;
        for (state, class) in [(&mut self.old, pair.original), (&mut self.new, pair.output)] {
            start(state, class, pair)?;
        }
        let mut old = Follow::new(pair.tables.0).ok_or_else(unreadable)?;
        let mut new = Follow::new(pair.tables.1).ok_or_else(unreadable)?;
        let mut detours = walk.detours().iter().peekable();
        while let Some(bci) = old.next(&mut self.old, pair.limits)? {
            let label = walk.label(bci).ok_or_else(unreadable)?;
            while let Some(detour) = detours.next_if(|detour| detour.position < label) {
                self.detour(&mut new, pair, walk, detour.position, detour.target)?;
            }
            let position = new.next(&mut self.new, pair.limits)?;
            let same = self.same(pair, walk, (&self.old.locals, &self.new.locals))
                && self.same(pair, walk, (&self.old.stack, &self.new.stack));
            if position != Some(label) || !same {
                return Err(Mismatch::new("the same stack map frame", bci, label));
            }
        }
        for detour in detours {
            self.detour(&mut new, pair, walk, detour.position, detour.target)?;
        }
        match new.next(&mut self.new, pair.limits)? {
            Some(position) => Err(Mismatch::new("no further stack map frame", 0, position)),
            None => Ok(()),
        }
    }

    /// Expects the frame of a detour, which is its target's.
    fn detour(
        &mut self,
        new: &mut Follow<'_>,
        pair: &FramePair<'_, '_>,
        walk: &Walk,
        at: u32,
        target: Option<u32>,
    ) -> Result<(), Mismatch> {
        let bci = target.unwrap_or(0);
        let wrong = Mismatch::new("the target's stack map frame on its detour", bci, at);
        let position = new.next(&mut self.new, pair.limits)?;
        let index = self.kept.binary_search_by_key(&bci, |kept| kept.bci);
        let Some(kept) = index.ok().and_then(|index| self.kept.get(index)) else {
            return Err(wrong);
        };
        let locals = self.types.get(kept.start..kept.locals).unwrap_or_default();
        let stack = self.types.get(kept.locals..kept.end).unwrap_or_default();
        let same = self.same(pair, walk, (locals, &self.new.locals))
            && self.same(pair, walk, (stack, &self.new.stack));
        if position == Some(at) && same {
            Ok(())
        } else {
            Err(wrong)
        }
    }

    /// Follows the original table and keeps the frames of detour targets.
    fn keep_targets(&mut self, pair: &FramePair<'_, '_>) -> Result<(), Mismatch> {
        self.kept.clear();
        self.types.clear();
        start(&mut self.old, pair.original, pair)?;
        let unreadable = || Mismatch::new("frames that can be read", 0, 0);
        let mut follow = Follow::new(pair.tables.0).ok_or_else(unreadable)?;
        while let Some(bci) = follow.next(&mut self.old, pair.limits)? {
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
        walk: &Walk,
        (old, new): (&[VerificationType], &[VerificationType]),
    ) -> bool {
        let same = |(old, new): (&VerificationType, &VerificationType)| match (old.tag, new.tag) {
            (item::UNINITIALIZED, item::UNINITIALIZED) => {
                walk.instruction(old.value) == Some(new.value)
            }
            (PARAMETER, item::OBJECT) => {
                let start = (old.value >> 16) as usize;
                let end = start.wrapping_add((old.value & 0xFFFF) as usize);
                let method = pair.original.method(pair.method);
                let name = method.and_then(|method| method.descriptor().as_bytes().get(start..end));
                let index = PoolIndex(new.value as u16);
                name == pair
                    .output
                    .pool()
                    .class_name(index)
                    .map(|found| found.as_bytes())
            }
            _ => old == new,
        };
        old.len() == new.len() && old.iter().zip(new).all(same)
    }
}

fn start(
    state: &mut Frames,
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

/// Without detours each frame of the output is one of the original, of the same
/// kind, so nothing has to be written out.
fn one_by_one(pair: &FramePair<'_, '_>, walk: &Walk) -> Result<(), Mismatch> {
    let (before, after) = pair.tables;
    let mut old = Cursor::new(before.bytes, before.offset);
    let mut new = Cursor::new(after.bytes, after.offset);
    let (mut last, mut new_last) = (None, None);
    let count = old
        .u2("StackMapTable")
        .ok()
        .filter(|count| new.u2("StackMapTable") == Ok(*count));
    for _ in 0..count.ok_or(unlike(last, new_last))? {
        let found = pair_of_frames(&mut old, &mut new, (last, new_last), walk);
        let (bci, position) = found.ok_or(unlike(last, new_last))?;
        (last, new_last) = (Some(bci), Some(position));
    }
    if old.remaining() == 0 && new.remaining() == 0 {
        Ok(())
    } else {
        Err(unlike(last, new_last))
    }
}

fn unlike(last: Option<u32>, new_last: Option<u32>) -> Mismatch {
    Mismatch::new(
        "the same stack map frame behind that",
        last.unwrap_or(0),
        new_last.unwrap_or(0),
    )
}

/// Reads a frame of each table; their bcis, or none when they differ.
fn pair_of_frames(
    old: &mut Cursor<'_>,
    new: &mut Cursor<'_>,
    (last, new_last): (Option<u32>, Option<u32>),
    walk: &Walk,
) -> Option<(u32, u32)> {
    let (tag, new_tag) = (old.u1("frame").ok()?, new.u1("frame").ok()?);
    let bci = next_bci(old, tag, last).ok()?;
    let position = next_bci(new, new_tag, new_last).ok()?;
    let kind = |tag: u8| match tag {
        0..=63 | 251 => 0,
        64..=127 | 247 => 1,
        _ => tag,
    };
    if kind(tag) != kind(new_tag) || walk.label(bci) != Some(position) {
        return None;
    }
    match kind(tag) {
        252..=254 => same_types(old, new, u16::from(tag).wrapping_sub(251), walk)?,
        255 => {
            for _ in 0..2 {
                let count = old.u2("frame").ok()?;
                (new.u2("frame").ok()? == count).then_some(())?;
                same_types(old, new, count, walk)?;
            }
        }
        one_or_none => same_types(old, new, u16::from(one_or_none == 1), walk)?,
    }
    Some((bci, position))
}

fn same_types(old: &mut Cursor<'_>, new: &mut Cursor<'_>, count: u16, walk: &Walk) -> Option<()> {
    for _ in 0..count {
        let tag = old.u1("type").ok()?;
        let mut same = new.u1("type").ok()? == tag;
        if tag == item::OBJECT {
            same &= old.u2("type").ok()? == new.u2("type").ok()?;
        } else if tag == item::UNINITIALIZED {
            let position = walk.instruction(u32::from(old.u2("type").ok()?));
            same &= position == Some(u32::from(new.u2("type").ok()?));
        }
        same.then_some(())?;
    }
    Some(())
}
