//! Writing the code array.

use crate::class::switch_layout;
use crate::cursor::i32_at;
use crate::opcode;
use crate::plan::Edit;
use crate::splice::layout::{
    Detour, Gap, ISLAND_MARK, Jump, JumpKind, Layout, Positions, edit_index,
};
use crate::splice::probe::Inserts;
use crate::splice::write_at;

/// From `goto` to `goto_w`, and from `jsr` to `jsr_w`.
const TO_WIDE: u8 = opcode::GOTO_W - opcode::GOTO;

/// Writes the new code of one method.
pub(crate) struct Emitter<'e> {
    pub(crate) layout: &'e Layout,
    pub(crate) code: &'e [u8],
    pub(crate) edits: &'e [Edit],
    pub(crate) inserts: Inserts<'e>,
}

impl Emitter<'_> {
    /// Appends the code array to `out`.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let base = out.len();
        let mut copied = 0;
        let mut gaps = self.layout.gaps.iter().peekable();
        for jump in &self.layout.jumps {
            if !matches!(
                jump.kind,
                JumpKind::Switch | JumpKind::Widened | JumpKind::Replaced
            ) {
                continue;
            }
            while let Some(gap) = gaps.next_if(|gap| gap.bci <= jump.bci) {
                self.copy(&mut copied, gap.bci, out);
                self.gap(gap, out);
            }
            self.copy(&mut copied, jump.bci, out);
            copied = self.resized(jump, out.len().wrapping_sub(base) as u32, out);
        }
        for gap in gaps {
            self.copy(&mut copied, gap.bci, out);
            self.gap(gap, out);
        }
        self.copy(&mut copied, self.layout.length, out);
        self.detours(self.layout.length, out);
        let unwind = self.layout.unwind_keys.len() as u32;
        self.edits(&self.layout.unwind_keys, 0, unwind, out);
        if unwind > 0 {
            out.push(opcode::ATHROW);
        }
        self.patch(base, out);
    }

    fn copy(&self, copied: &mut u32, to: u32, out: &mut Vec<u8>) {
        let piece = self.code.get(*copied as usize..to as usize);
        out.extend_from_slice(piece.unwrap_or_default());
        *copied = to;
    }

    fn gap(&self, gap: &Gap, out: &mut Vec<u8>) {
        if gap.home > 0 {
            self.detours(gap.bci, out);
        }
        let count = gap.pre_count.wrapping_add(gap.at_count);
        self.edits(&self.layout.keys, gap.first, count, out);
    }

    fn edits(&self, keys: &[u64], first: u32, count: u32, out: &mut Vec<u8>) {
        let range = first as usize..first.wrapping_add(count) as usize;
        for key in keys.get(range).unwrap_or_default() {
            if let Some(edit) = self.edits.get(edit_index(*key)) {
                self.inserts.write(edit.action, out);
            }
        }
    }

    /// Writes the distances of the branches that kept their size.
    fn patch(&self, base: usize, out: &mut [u8]) {
        let mut gaps = self.layout.gaps.iter().peekable();
        let mut at_gap = (u32::MAX, 0);
        for jump in &self.layout.jumps {
            let wide = match jump.kind {
                JumpKind::Plain | JumpKind::Conditional => false,
                JumpKind::Wide => true,
                JumpKind::Widened | JumpKind::Switch | JumpKind::Replaced => continue,
            };
            while let Some(gap) = gaps.next_if(|gap| gap.bci <= jump.bci) {
                at_gap = (gap.bci, gap.at);
            }
            let inserted = if at_gap.0 == jump.bci { at_gap.1 } else { 0 };
            let from = self
                .layout
                .label(jump.bci)
                .unwrap_or(0)
                .wrapping_add(inserted);
            let to = match jump.kind {
                JumpKind::Conditional => self.layout.destination(jump.bci, jump.target),
                _ => self.layout.label(jump.target),
            };
            let distance = to.unwrap_or(0).wrapping_sub(from);
            let operand = base.wrapping_add(from as usize).wrapping_add(1);
            if wide {
                write_at(out, operand, &distance.to_be_bytes());
            } else {
                write_at(out, operand, &(distance as u16).to_be_bytes());
            }
        }
    }

    /// Writes a switch, a widened jump or what takes an instruction's place at
    /// `from`; returns the bci behind it.
    fn resized(&self, jump: &Jump, from: u32, out: &mut Vec<u8>) -> u32 {
        let at = jump.bci as usize;
        let opcode = self.code.get(at).copied().unwrap_or(0);
        if jump.kind == JumpKind::Replaced {
            out.extend_from_slice(self.inserts.changes.code(jump.bci));
            return jump.bci.wrapping_add(jump.length);
        }
        if jump.kind == JumpKind::Switch {
            return self.switch(jump.bci, from, opcode, out);
        }
        let distance = self
            .layout
            .label(jump.target)
            .unwrap_or(0)
            .wrapping_sub(from);
        out.push(opcode.wrapping_add(TO_WIDE));
        out.extend_from_slice(&distance.to_be_bytes());
        jump.bci.wrapping_add(3)
    }

    fn switch(&self, bci: u32, from: u32, opcode: u8, out: &mut Vec<u8>) -> u32 {
        // It has been decoded, so its layout exists.
        let Some(layout) = switch_layout(self.code, bci as usize) else {
            return bci;
        };
        let distance = |operand: usize| {
            let old = i32_at(self.code, operand).unwrap_or(0);
            let target = bci.wrapping_add(old as u32);
            let to = self.layout.destination(bci, target);
            to.map_or(0, |to| to.wrapping_sub(from)).to_be_bytes()
        };
        out.push(opcode);
        let padding = 3_u32.wrapping_sub(from & 3) as usize;
        out.extend_from_slice([0; 3].get(..padding).unwrap_or_default());
        out.extend_from_slice(&distance(layout.default));
        let fixed = layout.default.wrapping_add(4)..layout.entries;
        out.extend_from_slice(self.code.get(fixed).unwrap_or_default());
        for entry in (layout.entries..layout.end).step_by(layout.stride) {
            let operand = entry.wrapping_add(layout.stride).wrapping_sub(4);
            out.extend_from_slice(self.code.get(entry..operand).unwrap_or_default());
            out.extend_from_slice(&distance(operand));
        }
        layout.end as u32
    }

    /// Writes the detours that stand in front of `home`.
    fn detours(&self, home: u32, out: &mut Vec<u8>) {
        for detour in self
            .layout
            .detours
            .iter()
            .filter(|detour| detour.home == home)
        {
            self.detour(detour, out);
        }
    }

    fn detour(&self, detour: &Detour, out: &mut Vec<u8>) {
        let mut from = detour.position.wrapping_add(detour.edits);
        if detour.home != self.layout.length {
            out.extend_from_slice(&[opcode::NOP; ISLAND_MARK as usize]);
            from = from.wrapping_add(ISLAND_MARK);
        }
        self.edits(&self.layout.edge_keys, detour.first, detour.count, out);
        let distance = self
            .layout
            .label(detour.target)
            .unwrap_or(0)
            .wrapping_sub(from);
        if detour.wide {
            out.push(opcode::GOTO_W);
            out.extend_from_slice(&distance.to_be_bytes());
        } else {
            out.push(opcode::GOTO);
            out.extend_from_slice(&(distance as u16).to_be_bytes());
        }
    }
}
