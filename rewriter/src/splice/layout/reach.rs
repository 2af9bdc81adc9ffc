//! Jumps out of range: widening, trampolines in range, and inverted branches.

use crate::class::decode as instruction_length;
use crate::cursor::u16_at;
use crate::index::Bci;
use crate::plan::SkipReason;
use crate::splice::layout::model::{Gap, JumpKind, Layout, Trampoline};
use crate::splice::positions::Positions;
use jvms::opcode;

/// Number of passes after which all widenable jumps are widened.
const PATIENT_PASSES: u32 = 16;
/// Number of passes after which a conditional branch out of range is inverted.
const MOST_PASSES: u32 = 64;
/// Maximum number of moved trampolines, or exception ranges, for which a search for room is worth its time.
const MOST_REHOMED: u32 = 512;
const MOST_RANGES: usize = 1_024;
/// Distance kept free for insertions of later passes.
const MARGIN: u32 = 1_024;

fn fits(from: u32, to: u32) -> bool {
    i16::try_from(i64::from(to) - i64::from(from)).is_ok()
}

impl Layout {
    /// Widens, moves or inverts jumps out of range; returns true if anything changed.
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
            let lost = || SkipReason::NoSuchLocation {
                bci: Bci(jump.bci as u16),
            };
            let from = self.instruction(jump.bci).ok_or_else(lost)?;
            match jump.kind {
                JumpKind::Plain => {
                    let to = self.label(jump.target).ok_or_else(lost)?;
                    if (all || !fits(from, to))
                        && let Some(jump) = self.jumps.get_mut(index)
                    {
                        jump.kind = JumpKind::Widened;
                        changed = true;
                    }
                }
                JumpKind::Conditional => {
                    let to = self.destination(jump.bci, jump.target).ok_or_else(lost)?;
                    if !fits(from, to) {
                        let near = pass < MOST_PASSES
                            && self.rehome(code, handlers, jump.bci, jump.target);
                        if !near {
                            self.invert(index)?;
                        }
                        changed = true;
                    }
                }
                JumpKind::Widened
                | JumpKind::Inverted
                | JumpKind::Wide
                | JumpKind::Switch
                | JumpKind::Replaced => {}
            }
        }
        changed |= self.widen_trampolines(all);
        if changed {
            self.note_resized();
        }
        Ok(changed)
    }

    fn widen_trampolines(&mut self, all: bool) -> bool {
        let mut changed = false;
        for index in 0..self.trampolines.len() {
            let Some(trampoline) = self.trampolines.get(index).copied() else {
                continue;
            };
            let from = trampoline.position + trampoline.edits;
            let to = self.label(trampoline.target);
            let reaches = to.is_some_and(|to| fits(from, to));
            if !trampoline.wide
                && (all || !reaches)
                && let Some(trampoline) = self.trampolines.get_mut(index)
            {
                trampoline.wide = true;
                changed = true;
            }
        }
        changed
    }

    /// Replaces a conditional branch by its inverse around a `goto_w`. The next instruction must exist, because it
    /// needs a stack map frame.
    fn invert(&mut self, index: usize) -> Result<(), SkipReason> {
        let end = self.length;
        match self.jumps.get_mut(index) {
            Some(jump) if jump.bci + jump.length < end => {
                jump.kind = JumpKind::Inverted;
                Ok(())
            }
            jump => Err(SkipReason::OutOfReach {
                bci: Bci(jump.map_or(0, |jump| jump.bci) as u16),
            }),
        }
    }

    /// Moves the trampoline of a conditional branch into its range, or creates one. Returns false if there is no room.
    fn rehome(&mut self, code: &[u8], handlers: &[u8], source: u32, target: u32) -> bool {
        let end = self.length;
        self.rehomed += 1;
        if self.rehomed > MOST_REHOMED || handlers.len() > MOST_RANGES * 8 {
            return false;
        }
        let Some(home) = self.home_near(code, handlers, source) else {
            return false;
        };
        let key = (source, target);
        let index = match self
            .trampolines
            .binary_search_by_key(&key, |found| (found.source, found.target))
        {
            Ok(index) => index,
            Err(index) => {
                self.trampolines
                    .insert(index, Trampoline::new(source, target, 0, end));
                index
            }
        };
        let trampoline = self.trampolines.get_mut(index);
        // The jumps of a branching trampoline could not be distinguished from its end.
        let Some(trampoline) = trampoline.filter(|found| !found.branching) else {
            return false;
        };
        let old = (trampoline.home, trampoline.size(end));
        trampoline.home = home;
        trampoline.wide = true;
        let size = trampoline.size(end);
        if old.0 != end
            && let Some(gap) = self.gap_mut(old.0)
        {
            gap.home -= old.1;
        }
        if home != end
            && let Some(gap) = self.gap_mut(home)
        {
            gap.home += size;
        }
        true
    }

    /// Returns the gap at `bci`, created if missing.
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

    /// Returns the nearest bci for a trampoline: control does not fall into it, and no exception range crosses it.
    /// Candidates follow a `goto`, `return`, `athrow` or switch, or are the end. Code that resembles the mark of a
    /// trampoline is excluded.
    fn home_near(&self, code: &[u8], handlers: &[u8], source: u32) -> Option<u32> {
        let from = self.instruction(source)?;
        let limit = i16::MAX as u32 - MARGIN;
        let mut best = None;
        let mut at = 0;
        while let Some(opcode) = code.get(at).copied() {
            let next = at + instruction_length(code, at)?;
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
        let item = |at| u32::from(u16_at(entry, at).unwrap_or_default());
        item(0) < bci && bci < item(2)
    })
}
