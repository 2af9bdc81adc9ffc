//! Computes positions after insertion, until every jump is in range.

use crate::arithmetic::{distance, moved};
use crate::limits::MAX_CODE_LENGTH;
use crate::plan::SkipReason;
use crate::splice::layout::model::{GAP, INVERTED, Jump, JumpKind, Layout, Trampoline};
use jvms::opcode;

/// Places the trampolines at `home` one after another; returns their end.
pub(super) fn place_trampolines(
    trampolines: &mut [Trampoline],
    home: u32,
    end: u32,
    mut at: u32,
) -> u32 {
    for trampoline in trampolines
        .iter_mut()
        .filter(|trampoline| trampoline.home == home)
    {
        trampoline.position = at;
        at += trampoline.size(end);
    }
    at
}

/// Returns the growth, possibly negative, of a switch, widened or inverted jump, or changed instruction at its new
/// position `start`.
fn growth(jump: &Jump, start: u32) -> i32 {
    match jump.kind {
        JumpKind::Switch => distance(start & 3, jump.bci & 3),
        JumpKind::Widened => 2,
        JumpKind::Inverted => distance(jump.length, INVERTED),
        JumpKind::Replaced => distance(jump.length, jump.target),
        _ => 0,
    }
}

impl Layout {
    /// Computes all positions.
    pub(crate) fn settle(&mut self, code: &[u8], handlers: &[u8]) -> Result<(), SkipReason> {
        let behind = !self.trampolines.is_empty() || !self.unwind_keys.is_empty();
        if behind && opcode::falls_through(self.last_opcode) {
            return Err(SkipReason::OpenEnd);
        }
        self.rehomed = 0;
        let mut pass = 0_u32;
        loop {
            self.fill();
            if self.total as usize > MAX_CODE_LENGTH {
                return Err(SkipReason::MethodTooLarge { length: self.total });
            }
            if self.total <= i16::MAX as u32 {
                return Ok(());
            }
            if !self.reach(code, handlers, pass)? {
                return Ok(());
            }
            pass += 1;
        }
    }

    /// Computes positions from the current sizes.
    fn fill(&mut self) {
        self.positions.clear();
        self.positions.reserve(self.length as usize + 1);
        let mut shift = 0_i32;
        let mut gaps = self.gaps.iter().copied().peekable();
        let mut resized = self
            .resized
            .iter()
            .filter_map(|index| self.jumps.get(*index as usize))
            .peekable();
        loop {
            let gap_at = gaps.peek().map_or(u32::MAX, |gap| gap.bci);
            let jump_at = resized.peek().map_or(u32::MAX, |jump| jump.bci);
            let bci = gap_at.min(jump_at);
            if bci == u32::MAX {
                break;
            }
            let from = self.positions.len() as u32;
            self.positions
                .extend((from..bci).map(|old| moved(old, shift)));
            let mut label = moved(bci, shift);
            let (mut start, mut mark) = (label, 0);
            if gap_at == bci
                && let Some(gap) = gaps.next()
            {
                if gap.home > 0 {
                    place_trampolines(&mut self.trampolines, gap.bci, self.length, label);
                }
                label += gap.home + gap.pre;
                start = label + gap.at;
                mark = GAP;
            }
            self.positions.push(label | mark);
            shift = distance(bci, start);
            if jump_at == bci
                && let Some(jump) = resized.next()
            {
                // Debug tables of some compilers refer into an instruction.
                let inside = bci + 1..bci + jump.length;
                self.positions.extend(inside.map(|old| moved(old, shift)));
                shift += growth(jump, start);
            }
        }
        let from = self.positions.len() as u32;
        self.positions
            .extend((from..=self.length).map(|old| moved(old, shift)));
        let end = moved(self.length, shift);
        self.unwind = place_trampolines(&mut self.trampolines, self.length, self.length, end);
        self.total = self.unwind + self.unwind_size;
    }
}
