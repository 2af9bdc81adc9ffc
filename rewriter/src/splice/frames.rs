//! Rewrites `StackMapTable` (JVMS 4.7.4): moves frames, chooses their forms, and adds full frames for trampolines,
//! which are those of their targets.

use crate::class::Attribute;
use crate::error::ReadError;
use crate::index::Bci;
use crate::plan::SkipReason;
use crate::pool::PoolWriter;
use crate::splice::layout::Layout;
use crate::splice::positions::Positions;
use crate::stack_map::{
    Deltas, FollowedType, FrameContext, FrameKind, FrameState, StackMapReader, VerificationType,
    bad_frame, item, parameter_name,
};
use crate::typing::UnsetFields;

/// The expanded frame of one trampoline target.
#[derive(Debug, Clone, Copy)]
struct Snapshot {
    target: u32,
    /// Range of the list of unset fields, then of the types, in the bodies.
    start: u32,
    types: u32,
    end: u32,
}

/// Buffers for the frames of one method.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    state: FrameState,
    snapshots: Vec<Snapshot>,
    /// Full frames without tag and delta, each behind the list of its unset fields.
    bodies: Vec<u8>,
    /// Trampolines by position.
    trampolines: Vec<(u32, u32)>,
}

/// Copies verification types and moves the `new` of each uninitialized one.
fn copy_types(
    reader: &mut StackMapReader<'_>,
    count: u16,
    layout: &Layout,
    out: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    for _ in 0..count {
        let mut found = reader.verification_type()?;
        if found.tag == item::UNINITIALIZED {
            found.value = moved(found.value, reader.offset(), layout)?;
        }
        found.write(out);
    }
    Ok(())
}

/// Returns the new position of the `new` at `bci`.
fn moved(bci: u16, offset: u32, layout: &Layout) -> Result<u16, ReadError> {
    let bci = u32::from(bci);
    let position = layout.instruction(bci);
    let position = position.and_then(|position| u16::try_from(position).ok());
    position.ok_or_else(|| bad_frame(bci, offset))
}

impl Frames {
    /// Appends the table with all frames moved, and those of the trampolines.
    pub(crate) fn write(
        &mut self,
        attribute: &Attribute<'_>,
        layout: &Layout,
        out: &mut Vec<u8>,
    ) -> Result<(), SkipReason> {
        self.trampolines.clear();
        let places = layout
            .trampolines
            .iter()
            .map(|trampoline| (trampoline.position, trampoline.target));
        self.trampolines.extend(places);
        self.trampolines.sort_unstable();
        let mut reader = StackMapReader::new(attribute.bytes, attribute.offset)?;
        let added = u16::try_from(self.trampolines.len()).ok();
        let all = added.and_then(|added| reader.left().checked_add(added));
        let all = all.ok_or(SkipReason::FramesTooLarge)?;
        out.extend_from_slice(&all.to_be_bytes());
        let mut trampolines = self.trampolines.iter().peekable();
        let mut deltas = Deltas::default();
        while let Some((kind, bci)) = reader.frame()? {
            let bad = || bad_frame(bci, attribute.offset);
            let position = layout
                .label(bci)
                .filter(|_| bci < layout.length)
                .ok_or_else(bad)?;
            let mut follows_trampoline = false;
            while let Some((position, target)) =
                trampolines.next_if(|trampoline| trampoline.0 < position)
            {
                let delta = deltas.next(*position).ok_or_else(bad)?;
                self.write_full(*target, delta, out)?;
                follows_trampoline = true;
            }
            let delta = deltas.next(position).ok_or_else(bad)?;
            let start = out.len();
            write_frame(kind, delta, &mut reader, layout, out)?;
            if follows_trampoline {
                // Its short form would depend on the trampoline's frame.
                out.truncate(start);
                self.write_full(bci, delta, out)?;
            }
        }
        for (position, target) in trampolines {
            let delta = deltas
                .next(*position)
                .ok_or(bad_frame(*target, attribute.offset))?;
            self.write_full(*target, delta, out)?;
        }
        Ok(reader.finish()?)
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
            .filter(|snapshot| snapshot.end > snapshot.types)
            .ok_or(missing)?;
        let part = |from: u32, to: u32| {
            let part = self.bodies.get(from as usize..to as usize);
            part.ok_or_else(|| bad_frame(bci, 0))
        };
        out.extend_from_slice(part(snapshot.start, snapshot.types)?);
        FrameKind::Full.write(delta, out);
        out.extend_from_slice(part(snapshot.types, snapshot.end)?);
        Ok(())
    }
}

/// Appends one frame with a new delta.
fn write_frame(
    kind: FrameKind,
    delta: u16,
    reader: &mut StackMapReader<'_>,
    layout: &Layout,
    out: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    reader.unset_fields().write(out);
    kind.write(delta, out);
    match kind {
        FrameKind::Same | FrameKind::Chop(_) => Ok(()),
        FrameKind::SameLocals1StackItem => copy_types(reader, 1, layout, out),
        FrameKind::Append(count) => copy_types(reader, u16::from(count), layout, out),
        FrameKind::Full => {
            for _ in 0..2 {
                let count = reader.count()?;
                out.extend_from_slice(&count.to_be_bytes());
                copy_types(reader, count, layout, out)?;
            }
            Ok(())
        }
    }
}

/// Maximum bytes of full frames kept for one method.
pub(crate) const MOST_FRAME_BYTES: usize = 512 * 1024;

impl Frames {
    /// Expands the frames and keeps those of trampoline targets. A missing frame of a target is reported when it is
    /// used.
    pub(crate) fn snapshot(
        &mut self,
        context: &FrameContext<'_, '_>,
        attribute: &Attribute<'_>,
        layout: &Layout,
        pool: &mut PoolWriter,
    ) -> Result<(), SkipReason> {
        self.snapshots.clear();
        self.bodies.clear();
        // The frame after a trampoline inside the code is also written in full.
        let homes = layout.trampolines.iter().map(|trampoline| trampoline.home);
        let targets = layout
            .trampolines
            .iter()
            .map(|trampoline| trampoline.target);
        let targets = targets.chain(homes.filter(|home| *home != layout.length));
        let blank = targets.map(|target| Snapshot {
            target,
            start: 0,
            types: 0,
            end: 0,
        });
        self.snapshots.extend(blank);
        self.snapshots
            .sort_unstable_by_key(|snapshot| snapshot.target);
        self.snapshots.dedup_by_key(|snapshot| snapshot.target);
        self.state.initial(context)?;
        let mut reader = StackMapReader::new(attribute.bytes, attribute.offset)?;
        let mut unset_fields = UnsetFields::at_entry(&context.method);
        let mut kept = 0_usize;
        while let Some(bci) = self.state.step(&mut reader, context.limits)? {
            unset_fields.take_listed(reader.unset_fields(), context.class.pool(), bci)?;
            while self
                .snapshots
                .get(kept)
                .is_some_and(|snapshot| snapshot.target < bci)
            {
                kept += 1;
            }
            if self
                .snapshots
                .get(kept)
                .is_some_and(|next| next.target == bci)
            {
                self.keep(kept, &unset_fields, context, layout, pool)?;
                kept += 1;
            }
        }
        Ok(())
    }

    /// Stores the state as the full frame of snapshot `index`.
    fn keep(
        &mut self,
        index: usize,
        unset_fields: &UnsetFields<'_>,
        context: &FrameContext<'_, '_>,
        layout: &Layout,
        pool: &mut PoolWriter,
    ) -> Result<(), SkipReason> {
        let start = self.bodies.len();
        let this = FollowedType::Written(VerificationType::plain(item::UNINITIALIZED_THIS));
        if self.state.locals.contains(&this) && context.class.has_strict_fields() {
            let written = unset_fields.write(pool, &mut self.bodies);
            written.ok_or(SkipReason::PoolFull)?;
        }
        let first = self.bodies.len();
        for types in [&self.state.locals, &self.state.stack] {
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
            snapshot.types = first as u32;
            snapshot.end = self.bodies.len() as u32;
        }
        Ok(())
    }
}

fn write_type(
    found: FollowedType,
    context: &FrameContext<'_, '_>,
    layout: &Layout,
    pool: &mut PoolWriter,
    out: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    let written = match found {
        FollowedType::Parameter(start, length) => {
            let descriptor = context.method.descriptor().as_bytes();
            let name = parameter_name(descriptor, (start, length)).ok_or(bad_frame(0, 0))?;
            VerificationType {
                tag: item::OBJECT,
                value: pool.class(name).ok_or(SkipReason::PoolFull)?,
            }
        }
        FollowedType::Written(found) if found.tag == item::UNINITIALIZED => VerificationType {
            tag: found.tag,
            value: moved(found.value, 0, layout)?,
        },
        FollowedType::Written(found) => found,
    };
    written.write(out);
    Ok(())
}
