//! Jumps that no longer reach: widening, and detours near by.

use crate::class::decode as instruction_length;
use crate::cursor::u16_at;
use crate::index::Bci;
use crate::opcode;
use crate::splice::SkipReason;
use crate::splice::layout::{Detour, Gap, JumpKind, Layout, Positions};

/// After so many passes everything that can be widened is.
const PATIENT_PASSES: u32 = 16;
/// No method needs more.
const MOST_PASSES: u32 = 64;
/// More detours near their branches, or exception ranges, than these are not
/// worth the time of looking for room.
const MOST_REHOMED: u32 = 512;
const MOST_RANGES: usize = 1_024;
/// Distance kept free for what later passes insert.
const MARGIN: u32 = 1_024;

fn fits(from: u32, to: u32) -> bool {
    i16::try_from(i64::from(to).wrapping_sub(i64::from(from))).is_ok()
}

impl Layout {
    /// Widens or detours what does not reach; true when something changed.
    pub(super) fn reach(
        &mut self,
        code: &[u8],
        handlers: &[u8],
        pass: u32,
    ) -> Result<bool, SkipReason> {
        let all = pass >= PATIENT_PASSES;
        let mut changed = false;
        for index in 0..self.jumps.len() {
            let Some(jump) = self.jumps.get(index).copied() else {
                continue;
            };
            let from = self.instruction(jump.bci).unwrap_or(0);
            match jump.kind {
                JumpKind::Plain => {
                    let to = self.label(jump.target).unwrap_or(0);
                    if (all || !fits(from, to))
                        && let Some(jump) = self.jumps.get_mut(index)
                    {
                        jump.kind = JumpKind::Widened;
                        changed = true;
                    }
                }
                JumpKind::Conditional => {
                    let to = self.destination(jump.bci, jump.target).unwrap_or(0);
                    if !fits(from, to) {
                        if pass >= MOST_PASSES {
                            return Err(SkipReason::OutOfReach {
                                bci: Bci(jump.bci as u16),
                            });
                        }
                        self.rehome(code, handlers, jump.bci, jump.target)?;
                        changed = true;
                    }
                }
                JumpKind::Widened | JumpKind::Wide | JumpKind::Switch | JumpKind::Replaced => {}
            }
        }
        changed |= self.widen_detours(all);
        if changed {
            self.note_resized();
        }
        Ok(changed)
    }

    fn widen_detours(&mut self, all: bool) -> bool {
        let mut changed = false;
        for index in 0..self.detours.len() {
            let Some(detour) = self.detours.get(index).copied() else {
                continue;
            };
            let from = detour.position.wrapping_add(detour.edits);
            let reaches = fits(from, self.label(detour.target).unwrap_or(0));
            if !detour.wide
                && (all || !reaches)
                && let Some(detour) = self.detours.get_mut(index)
            {
                detour.wide = true;
                changed = true;
            }
        }
        changed
    }

    pub(super) fn note_resized(&mut self) {
        self.resized.clear();
        let grows = |kind| {
            matches!(
                kind,
                JumpKind::Switch | JumpKind::Widened | JumpKind::Replaced
            )
        };
        let indices = self
            .jumps
            .iter()
            .enumerate()
            .filter(|(_, jump)| grows(jump.kind));
        self.resized.extend(indices.map(|(index, _)| index as u32));
    }

    /// Moves the detour of a conditional branch near it, or makes one.
    fn rehome(
        &mut self,
        code: &[u8],
        handlers: &[u8],
        source: u32,
        target: u32,
    ) -> Result<(), SkipReason> {
        let out_of_reach = SkipReason::OutOfReach {
            bci: Bci(source as u16),
        };
        let end = self.length;
        self.rehomed = self.rehomed.wrapping_add(1);
        if self.rehomed > MOST_REHOMED || handlers.len() > MOST_RANGES.wrapping_mul(8) {
            return Err(out_of_reach);
        }
        let home = self
            .home_near(code, handlers, source)
            .ok_or(out_of_reach.clone())?;
        let key = (source, target);
        let index = match self
            .detours
            .binary_search_by_key(&key, |found| (found.source, found.target))
        {
            Ok(index) => index,
            Err(index) => {
                self.detours
                    .insert(index, Detour::new(source, target, 0, end));
                index
            }
        };
        let detour = self.detours.get_mut(index).ok_or(out_of_reach.clone())?;
        if detour.branching {
            // Its own jumps could not be told from its end.
            return Err(out_of_reach);
        }
        let old = (detour.home, detour.size(end));
        detour.home = home;
        detour.wide = true;
        let size = detour.size(end);
        if old.0 != end
            && let Some(gap) = self.gap_mut(old.0)
        {
            gap.home = gap.home.wrapping_sub(old.1);
        }
        if home != end
            && let Some(gap) = self.gap_mut(home)
        {
            gap.home = gap.home.wrapping_add(size);
        }
        Ok(())
    }

    /// The gap at `bci`, made if there is none.
    fn gap_mut(&mut self, bci: u32) -> Option<&mut Gap> {
        let index = match self.gaps.binary_search_by_key(&bci, |gap| gap.bci) {
            Ok(index) => index,
            Err(index) => {
                self.gaps.insert(
                    index,
                    Gap {
                        bci,
                        ..Gap::default()
                    },
                );
                index
            }
        };
        self.gaps.get_mut(index)
    }

    /// The nearest place that control does not fall into and no exception range
    /// goes across: behind a `goto`, `return`, `athrow` or switch, or the end; but
    /// not where the code itself looks like the mark of a detour.
    fn home_near(&self, code: &[u8], handlers: &[u8], source: u32) -> Option<u32> {
        let from = self.instruction(source)?;
        let limit = (i16::MAX as u32).wrapping_sub(MARGIN);
        let mut best = None;
        let mut at = 0;
        while let Some(opcode) = code.get(at).copied() {
            let next = at.wrapping_add(instruction_length(code, at)?);
            let home = next as u32;
            let distance = self.end(home).map_or(u32::MAX, |to| to.abs_diff(from));
            let open = opcode::falls_through(opcode);
            let marked = code
                .get(next..)
                .is_some_and(|rest| rest.starts_with(&[opcode::NOP; 3]));
            if !open && !marked && distance <= limit && !inside_a_range(handlers, home) {
                match best {
                    Some((nearest, _)) if nearest <= distance => {}
                    _ => best = Some((distance, home)),
                }
            }
            at = next;
        }
        best.map(|(_, home)| home)
    }
}

fn inside_a_range(handlers: &[u8], bci: u32) -> bool {
    handlers.chunks_exact(8).any(|entry| {
        let item = |at| u32::from(u16_at(entry, at).unwrap_or(0));
        item(0) < bci && bci < item(2)
    })
}
