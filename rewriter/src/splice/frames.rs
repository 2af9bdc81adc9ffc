//! `StackMapTable` (JVMS 4.7.4): frames moved, kinds chosen anew, and frames
//! for detours, which are those of their targets written out in full.

mod expand;

pub(crate) use expand::{FrameContext, MOST_FRAME_BYTES, PARAMETER};

use crate::class::Attribute;
use crate::cursor::Cursor;
use crate::error::ReadError;
use crate::index::Bci;
use crate::splice::SkipReason;
use crate::splice::layout::{Layout, Positions};

/// A verification type while frames are followed. `tag` is that of the JVMS,
/// or [`PARAMETER`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct VerificationType {
    pub(crate) tag: u8,
    /// Pool index, bci, or place in the descriptor.
    pub(crate) value: u32,
}

pub(crate) mod item {
    pub(crate) const INTEGER: u8 = 1;
    pub(crate) const FLOAT: u8 = 2;
    pub(crate) const DOUBLE: u8 = 3;
    pub(crate) const LONG: u8 = 4;
    pub(crate) const UNINITIALIZED_THIS: u8 = 6;
    pub(crate) const OBJECT: u8 = 7;
    pub(crate) const UNINITIALIZED: u8 = 8;
}

/// The frame of one detour target, written out.
#[derive(Debug, Clone, Copy)]
struct Snapshot {
    target: u32,
    start: u32,
    length: u32,
}

/// Buffers for the frames of one method.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    pub(crate) locals: Vec<VerificationType>,
    pub(crate) stack: Vec<VerificationType>,
    snapshots: Vec<Snapshot>,
    /// Full frames without tag and delta.
    bodies: Vec<u8>,
    /// Detours by position.
    detours: Vec<(u32, u32)>,
}

fn bad_frame(bci: u32, offset: u32) -> SkipReason {
    ReadError::BadInstruction { bci, offset }.into()
}

/// Copies verification types, moving the `new` that an uninitialized one names.
fn copy_types(
    cursor: &mut Cursor<'_>,
    count: u16,
    layout: &Layout,
    out: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    for _ in 0..count {
        let tag = cursor.u1("verification_type_info")?;
        out.push(tag);
        match tag {
            0..=6 => {}
            item::OBJECT => {
                out.extend_from_slice(cursor.take(2, "verification_type_info")?);
            }
            item::UNINITIALIZED => {
                let bci = u32::from(cursor.u2("verification_type_info")?);
                let moved = layout
                    .instruction(bci)
                    .ok_or(bad_frame(bci, cursor.offset()))?;
                out.extend_from_slice(&(moved as u16).to_be_bytes());
            }
            _ => {
                let offset = cursor.offset().wrapping_sub(1);
                return Err(ReadError::UnknownFrame { offset, tag }.into());
            }
        }
    }
    Ok(())
}

/// The distance to the next frame as frames count it (JVMS 4.7.4).
#[derive(Debug, Default)]
struct Deltas {
    last: Option<u32>,
}

impl Deltas {
    fn next(&mut self, position: u32) -> Option<u16> {
        let delta = match self.last {
            None => position,
            Some(last) => position.checked_sub(last)?.checked_sub(1)?,
        };
        self.last = Some(position);
        u16::try_from(delta).ok()
    }
}

/// Reads `offset_delta` and adds it up to a bci.
pub(crate) fn next_bci(
    cursor: &mut Cursor<'_>,
    tag: u8,
    last: Option<u32>,
) -> Result<u32, ReadError> {
    let delta = match tag {
        0..=63 => u16::from(tag),
        64..=127 => u16::from(tag).wrapping_sub(64),
        247..=255 => cursor.u2("stack_map_frame")?,
        _ => {
            let offset = cursor.offset().wrapping_sub(1);
            return Err(ReadError::UnknownFrame { offset, tag });
        }
    };
    let base = last.map_or(0, |last| last.wrapping_add(1));
    Ok(base.wrapping_add(u32::from(delta)))
}

impl Frames {
    /// Appends the table with all frames moved, and those of the detours.
    pub(crate) fn write(
        &mut self,
        attribute: &Attribute<'_>,
        layout: &Layout,
        out: &mut Vec<u8>,
    ) -> Result<(), SkipReason> {
        self.detours.clear();
        let places = layout
            .detours
            .iter()
            .map(|detour| (detour.position, detour.target));
        self.detours.extend(places);
        self.detours.sort_unstable();
        let mut cursor = Cursor::new(attribute.bytes, attribute.offset);
        let count = usize::from(cursor.u2("StackMapTable")?);
        let all = count.wrapping_add(self.detours.len());
        let all = u16::try_from(all).map_err(|_| SkipReason::FramesTooLarge)?;
        out.extend_from_slice(&all.to_be_bytes());
        let mut detours = self.detours.iter().peekable();
        let mut deltas = Deltas::default();
        let mut last = None;
        for _ in 0..count {
            let tag = cursor.u1("stack_map_frame")?;
            let bci = next_bci(&mut cursor, tag, last)?;
            last = Some(bci);
            let bad = || bad_frame(bci, attribute.offset);
            let position = layout
                .label(bci)
                .filter(|_| bci < layout.length)
                .ok_or_else(bad)?;
            let mut follows_detour = false;
            while let Some((position, target)) = detours.next_if(|detour| detour.0 < position) {
                let delta = deltas.next(*position).ok_or_else(bad)?;
                self.write_full(*target, delta, out)?;
                follows_detour = true;
            }
            let delta = deltas.next(position).ok_or_else(bad)?;
            let start = out.len();
            write_frame(tag, delta, &mut cursor, layout, out)?;
            if follows_detour {
                // Its short form would build on the detour's frame.
                out.truncate(start);
                self.write_full(bci, delta, out)?;
            }
        }
        for (position, target) in detours {
            let delta = deltas
                .next(*position)
                .ok_or(bad_frame(*target, attribute.offset))?;
            self.write_full(*target, delta, out)?;
        }
        Ok(cursor.finish("StackMapTable")?)
    }

    /// Appends the frame of `bci` in full.
    fn write_full(&self, bci: u32, delta: u16, out: &mut Vec<u8>) -> Result<(), SkipReason> {
        let missing = SkipReason::NoFrame {
            bci: Bci(bci as u16),
        };
        let found = self
            .snapshots
            .binary_search_by_key(&bci, |snapshot| snapshot.target);
        let snapshot = found.ok().and_then(|index| self.snapshots.get(index));
        let snapshot = snapshot
            .filter(|snapshot| snapshot.length > 0)
            .ok_or(missing)?;
        let start = snapshot.start as usize;
        let body = self
            .bodies
            .get(start..start.wrapping_add(snapshot.length as usize));
        out.push(255);
        out.extend_from_slice(&delta.to_be_bytes());
        out.extend_from_slice(body.unwrap_or_default());
        Ok(())
    }
}

/// Appends one frame with a new delta.
fn write_frame(
    tag: u8,
    delta: u16,
    cursor: &mut Cursor<'_>,
    layout: &Layout,
    out: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    let short = u8::try_from(delta).ok().filter(|delta| *delta < 64);
    let head = |tag: u8, out: &mut Vec<u8>| {
        out.push(tag);
        out.extend_from_slice(&delta.to_be_bytes());
    };
    match tag {
        0..=63 | 251 => match short {
            Some(delta) => out.push(delta),
            None => head(251, out),
        },
        64..=127 | 247 => {
            match short {
                Some(delta) => out.push(delta.wrapping_add(64)),
                None => head(247, out),
            }
            copy_types(cursor, 1, layout, out)?;
        }
        248..=250 => head(tag, out),
        252..=254 => {
            head(tag, out);
            copy_types(cursor, u16::from(tag).wrapping_sub(251), layout, out)?;
        }
        _ => {
            head(tag, out);
            for _ in 0..2 {
                let count = cursor.u2("full_frame")?;
                out.extend_from_slice(&count.to_be_bytes());
                copy_types(cursor, count, layout, out)?;
            }
        }
    }
    Ok(())
}
