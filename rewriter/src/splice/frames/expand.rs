//! Frames followed from the first (JVMS 4.10.1.6), and those of detour targets
//! written out in full.

use crate::class::{Attribute, ClassFile, Method};
use crate::cursor::Cursor;
use crate::error::ReadError;
use crate::splice::SkipReason;
use crate::splice::frames::{Frames, Snapshot, VerificationType, bad_frame, item, next_bci};
use crate::splice::layout::{Layout, Positions};
use crate::splice::pool::PoolWriter;

/// A parameter's class, which has no pool entry yet: `start << 16 | length` in
/// the descriptor.
pub(crate) const PARAMETER: u8 = 0xFF;

/// Most bytes of full frames kept for one method.
pub(crate) const MOST_FRAME_BYTES: usize = 512 * 1024;

/// What frames depend on besides their table.
pub(crate) struct FrameContext<'c, 'a> {
    pub(crate) class: &'c ClassFile<'a>,
    pub(crate) method: Method<'c, 'a>,
    /// `max_locals` and `max_stack`.
    pub(crate) limits: (u16, u16),
}

impl Frames {
    /// Follows the frames and keeps that of every detour's target. A target
    /// without a frame is found out when its frame is needed.
    pub(crate) fn snapshot(
        &mut self,
        context: &FrameContext<'_, '_>,
        attribute: &Attribute<'_>,
        layout: &Layout,
        pool: &mut PoolWriter,
    ) -> Result<(), SkipReason> {
        self.snapshots.clear();
        self.bodies.clear();
        // The frame behind a detour in the middle is written in full as well.
        let homes = layout.detours.iter().map(|detour| detour.home);
        let targets = layout.detours.iter().map(|detour| detour.target);
        let targets = targets.chain(homes.filter(|home| *home != layout.length));
        let blank = targets.map(|target| Snapshot {
            target,
            start: 0,
            length: 0,
        });
        self.snapshots.extend(blank);
        self.snapshots
            .sort_unstable_by_key(|snapshot| snapshot.target);
        self.snapshots.dedup_by_key(|snapshot| snapshot.target);
        self.initial(context)?;
        let mut cursor = Cursor::new(attribute.bytes, attribute.offset);
        let (mut kept, mut last) = (0_usize, None);
        for _ in 0..cursor.u2("StackMapTable")? {
            let tag = cursor.u1("stack_map_frame")?;
            let bci = next_bci(&mut cursor, tag, last)?;
            last = Some(bci);
            self.advance(tag, bci, context.limits, &mut cursor)?;
            while self
                .snapshots
                .get(kept)
                .is_some_and(|snapshot| snapshot.target < bci)
            {
                kept = kept.wrapping_add(1);
            }
            if self
                .snapshots
                .get(kept)
                .is_some_and(|next| next.target == bci)
            {
                self.keep(kept, context, layout, pool)?;
                kept = kept.wrapping_add(1);
            }
        }
        Ok(())
    }

    /// The frame at bci 0, from the method's descriptor.
    pub(crate) fn initial(&mut self, context: &FrameContext<'_, '_>) -> Result<(), SkipReason> {
        self.locals.clear();
        self.stack.clear();
        let method = &context.method;
        if !method.is_static() {
            let this_class = context.class.this_class_index();
            let constructor =
                method.name() == "<init>" && context.class.this_class() != "java/lang/Object";
            let (tag, value) = if constructor {
                (item::UNINITIALIZED_THIS, 0)
            } else {
                (item::OBJECT, u32::from(this_class.0))
            };
            self.locals.push(VerificationType { tag, value });
        }
        let descriptor = method.descriptor().as_bytes();
        // One whose index leads nowhere would get a meaning when the pool grows.
        if descriptor.first() != Some(&b'(') {
            return Err(bad_frame(0, 0));
        }
        let mut at = 1;
        while let Some((tag, start, end)) = parameter(descriptor, at) {
            let value = ((start as u32) << 16) | (end.wrapping_sub(start) as u32);
            let value = if tag == PARAMETER { value } else { 0 };
            self.locals.push(VerificationType { tag, value });
            at = end.wrapping_add(usize::from(descriptor.get(end) == Some(&b';')));
        }
        if self.locals.len() > usize::from(context.limits.0) {
            return Err(bad_frame(0, 0));
        }
        Ok(())
    }

    /// Reads one frame and applies it to the state; its bci.
    pub(crate) fn step(
        &mut self,
        cursor: &mut Cursor<'_>,
        last: Option<u32>,
        limits: (u16, u16),
    ) -> Option<u32> {
        let tag = cursor.u1("stack_map_frame").ok()?;
        let bci = next_bci(cursor, tag, last).ok()?;
        self.advance(tag, bci, limits, cursor).ok()?;
        Some(bci)
    }

    /// Applies one frame to the state.
    fn advance(
        &mut self,
        tag: u8,
        bci: u32,
        limits: (u16, u16),
        cursor: &mut Cursor<'_>,
    ) -> Result<(), SkipReason> {
        self.stack.clear();
        match tag {
            0..=63 | 251 => {}
            64..=127 | 247 => self.stack.push(read_type(cursor)?),
            248..=250 => {
                let left = self
                    .locals
                    .len()
                    .checked_sub(usize::from(251_u8.wrapping_sub(tag)));
                self.locals
                    .truncate(left.ok_or(bad_frame(bci, cursor.offset()))?);
            }
            252..=254 => {
                for _ in 0..tag.wrapping_sub(251) {
                    self.locals.push(read_type(cursor)?);
                }
            }
            _ => {
                self.locals.clear();
                for _ in 0..bounded(cursor, limits.0, bci)? {
                    self.locals.push(read_type(cursor)?);
                }
                for _ in 0..bounded(cursor, limits.1, bci)? {
                    self.stack.push(read_type(cursor)?);
                }
            }
        }
        if self.locals.len() > usize::from(limits.0) {
            return Err(bad_frame(bci, cursor.offset()));
        }
        Ok(())
    }

    /// Writes the state as the full frame of snapshot `index`.
    fn keep(
        &mut self,
        index: usize,
        context: &FrameContext<'_, '_>,
        layout: &Layout,
        pool: &mut PoolWriter,
    ) -> Result<(), SkipReason> {
        let start = self.bodies.len();
        for types in [&self.locals, &self.stack] {
            self.bodies
                .extend_from_slice(&(types.len() as u16).to_be_bytes());
            for found in types {
                write_type(*found, context, layout, pool, &mut self.bodies)?;
            }
        }
        if self.bodies.len() > MOST_FRAME_BYTES {
            return Err(SkipReason::FramesTooLarge);
        }
        if let Some(snapshot) = self.snapshots.get_mut(index) {
            snapshot.start = start as u32;
            snapshot.length = self.bodies.len().wrapping_sub(start) as u32;
        }
        Ok(())
    }
}

fn bounded(cursor: &mut Cursor<'_>, limit: u16, bci: u32) -> Result<u16, SkipReason> {
    let count = cursor.u2("full_frame")?;
    if count > limit {
        return Err(bad_frame(bci, cursor.offset()));
    }
    Ok(count)
}

fn read_type(cursor: &mut Cursor<'_>) -> Result<VerificationType, SkipReason> {
    let tag = cursor.u1("verification_type_info")?;
    let value = match tag {
        0..=6 => 0,
        item::OBJECT | item::UNINITIALIZED => u32::from(cursor.u2("verification_type_info")?),
        _ => {
            let offset = cursor.offset().wrapping_sub(1);
            return Err(ReadError::UnknownFrame { offset, tag }.into());
        }
    };
    Ok(VerificationType { tag, value })
}

fn write_type(
    found: VerificationType,
    context: &FrameContext<'_, '_>,
    layout: &Layout,
    pool: &mut PoolWriter,
    out: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    let value = match found.tag {
        PARAMETER => {
            let start = (found.value >> 16) as usize;
            let end = start.wrapping_add((found.value & 0xFFFF) as usize);
            let name = context.method.descriptor().as_bytes().get(start..end);
            u32::from(
                pool.class(name.unwrap_or_default())
                    .ok_or(SkipReason::PoolFull)?,
            )
        }
        item::UNINITIALIZED => {
            let bad = bad_frame(found.value, 0);
            layout.instruction(found.value).ok_or(bad)?
        }
        _ => found.value,
    };
    out.push(if found.tag == PARAMETER {
        item::OBJECT
    } else {
        found.tag
    });
    if found.tag >= item::OBJECT {
        out.extend_from_slice(&(value as u16).to_be_bytes());
    }
    Ok(())
}

/// The parameter of `descriptor` that begins at `at`: its type, and where the
/// name of its class begins and ends. A class's `;` is not part of it.
fn parameter(descriptor: &[u8], at: usize) -> Option<(u8, usize, usize)> {
    let next = at.wrapping_add(1);
    Some(match descriptor.get(at)? {
        b'B' | b'C' | b'S' | b'Z' | b'I' => (item::INTEGER, at, next),
        b'F' => (item::FLOAT, at, next),
        b'J' => (item::LONG, at, next),
        b'D' => (item::DOUBLE, at, next),
        b'L' => (PARAMETER, next, class_end(descriptor, next)?),
        b'[' => {
            let dimensions = descriptor
                .get(at..)?
                .iter()
                .take_while(|byte| **byte == b'[')
                .count();
            let element = at.wrapping_add(dimensions);
            match descriptor.get(element)? {
                b'L' => (
                    PARAMETER,
                    at,
                    class_end(descriptor, element)?.wrapping_add(1),
                ),
                _ => (PARAMETER, at, element.wrapping_add(1)),
            }
        }
        _ => return None,
    })
}

fn class_end(descriptor: &[u8], from: usize) -> Option<usize> {
    let name = descriptor.get(from..)?;
    name.iter()
        .position(|byte| *byte == b';')
        .map(|length| from.wrapping_add(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_every_kind() {
        let descriptor = b"(IJLa/B;[[Lc/D;[I)V";
        let mut at = 1;
        let mut found = Vec::new();
        while let Some((tag, start, end)) = parameter(descriptor, at) {
            found.push((tag, &descriptor[start..end]));
            at = end + usize::from(descriptor.get(end) == Some(&b';'));
        }
        let expected: Vec<(u8, &[u8])> = vec![
            (1, b"I"),
            (4, b"J"),
            (PARAMETER, b"a/B"),
            (PARAMETER, b"[[Lc/D;"),
            (PARAMETER, b"[I"),
        ];
        assert_eq!(found, expected);
    }
}
