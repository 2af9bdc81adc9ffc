//! Writes the new code array.

use crate::arithmetic::{distance, moved, short_distance};
use crate::bytes::{copy, write_at};
use crate::class::switch_layout;
use crate::cursor::i32_at;
use crate::plan::Edit;
use crate::splice::inserts::Inserts;
use crate::splice::layout::{Gap, INVERTED, Jump, JumpKind, Layout, TRAMPOLINE_MARK, Trampoline};
use crate::splice::order::edit_index;
use crate::splice::positions::Positions;
use jvms::opcode;

/// The opcode difference from `goto` to `goto_w`, and from `jsr` to `jsr_w`.
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
        out.reserve(self.layout.total as usize);
        let mut copied = 0;
        let mut gaps = self.layout.gaps.iter().peekable();
        for jump in &self.layout.jumps {
            if !matches!(
                jump.kind,
                JumpKind::Switch | JumpKind::Widened | JumpKind::Inverted | JumpKind::Replaced
            ) {
                continue;
            }
            while let Some(gap) = gaps.next_if(|gap| gap.bci <= jump.bci) {
                self.copy(&mut copied, gap.bci, out);
                self.gap(gap, out);
            }
            self.copy(&mut copied, jump.bci, out);
            copied = self.resized(jump, (out.len() - base) as u32, out);
        }
        for gap in gaps {
            self.copy(&mut copied, gap.bci, out);
            self.gap(gap, out);
        }
        self.copy(&mut copied, self.layout.length, out);
        self.finish(base, out);
    }

    /// Writes the code after the main line, which begins at `base`, and the branch offsets of the main line.
    pub(crate) fn finish(&self, base: usize, out: &mut Vec<u8>) {
        self.trampolines(self.layout.length, out);
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
            self.trampolines(gap.bci, out);
        }
        let count = gap.pre_count + gap.at_count;
        self.edits(&self.layout.keys, gap.first, count, out);
    }

    fn edits(&self, keys: &[u64], first: u32, count: u32, out: &mut Vec<u8>) {
        let range = first as usize..(first + count) as usize;
        for key in keys.get(range).unwrap_or_default() {
            if let Some(edit) = self.edits.get(edit_index(*key)) {
                self.inserts.write(edit.action, out);
            }
        }
    }

    /// Writes the branch offsets of switches, and of branches that kept their size.
    fn patch(&self, base: usize, out: &mut [u8]) {
        let mut gaps = self.layout.gaps.iter().peekable();
        let mut at_gap = (u32::MAX, 0);
        for jump in &self.layout.jumps {
            if matches!(
                jump.kind,
                JumpKind::Widened | JumpKind::Inverted | JumpKind::Replaced
            ) {
                continue;
            }
            while let Some(gap) = gaps.next_if(|gap| gap.bci <= jump.bci) {
                at_gap = (gap.bci, gap.at);
            }
            let inserted = if at_gap.0 == jump.bci { at_gap.1 } else { 0 };
            let from = self.layout.label(jump.bci).unwrap_or_default() + inserted;
            let to = match jump.kind {
                JumpKind::Switch => {
                    self.patch_switch(jump.bci, from, base, out);
                    continue;
                }
                JumpKind::Conditional => self.layout.destination(jump.bci, jump.target),
                _ => self.layout.label(jump.target),
            };
            let to = to.unwrap_or_default();
            let operand = base + from as usize + 1;
            if jump.kind == JumpKind::Wide {
                write_at(out, operand, &distance(from, to).to_be_bytes());
            } else {
                write_at(out, operand, &short_distance(from, to).to_be_bytes());
            }
        }
    }

    /// Writes a switch, a widened or inverted jump, or the replacement of an instruction, at `from`. Returns the next
    /// bci.
    fn resized(&self, jump: &Jump, from: u32, out: &mut Vec<u8>) -> u32 {
        let at = jump.bci as usize;
        let opcode = self.code.get(at).copied().unwrap_or_default();
        if jump.kind == JumpKind::Replaced {
            out.extend_from_slice(self.inserts.changes.code(jump.bci));
            return jump.bci + jump.length;
        }
        if jump.kind == JumpKind::Switch {
            return self.switch(jump.bci, from, opcode, out);
        }
        if jump.kind == JumpKind::Inverted {
            let to = self
                .layout
                .destination(jump.bci, jump.target)
                .unwrap_or_default();
            out.push(opcode::inverse(opcode));
            out.extend_from_slice(&(INVERTED as u16).to_be_bytes());
            out.push(opcode::GOTO_W);
            out.extend_from_slice(&distance(from + 3, to).to_be_bytes());
            return jump.bci + 3;
        }
        let to = self.layout.label(jump.target).unwrap_or_default();
        out.push(opcode + TO_WIDE);
        out.extend_from_slice(&distance(from, to).to_be_bytes());
        jump.bci + 3
    }

    /// Writes a switch with the padding for `from`; its branch offsets stay unchanged.
    fn switch(&self, bci: u32, from: u32, opcode: u8, out: &mut Vec<u8>) -> u32 {
        // The switch was decoded before, so its layout exists.
        let Some(layout) = switch_layout(self.code, bci as usize) else {
            return bci;
        };
        out.push(opcode);
        out.resize(out.len() + (3 - (from & 3) as usize), 0);
        copy(self.code, layout.default, layout.end, out);
        layout.end as u32
    }

    /// Writes the branch offsets of a switch at its new position `from`.
    fn patch_switch(&self, bci: u32, from: u32, base: usize, out: &mut [u8]) {
        let Some(layout) = switch_layout(self.code, bci as usize) else {
            return;
        };
        let default = base + (from | 3) as usize + 1;
        let padding = base + from as usize + 1..default;
        out.get_mut(padding).unwrap_or_default().fill(0);
        for operand in layout.distances() {
            let target = moved(bci, i32_at(self.code, operand).unwrap_or_default());
            let to = self.layout.destination(bci, target).unwrap_or_default();
            let place = default + (operand - layout.default);
            write_at(out, place, &distance(from, to).to_be_bytes());
        }
    }

    /// Writes the trampolines before `home`.
    fn trampolines(&self, home: u32, out: &mut Vec<u8>) {
        for trampoline in self
            .layout
            .trampolines
            .iter()
            .filter(|trampoline| trampoline.home == home)
        {
            self.trampoline(trampoline, out);
        }
    }

    fn trampoline(&self, trampoline: &Trampoline, out: &mut Vec<u8>) {
        let mut from = trampoline.position + trampoline.edits;
        if trampoline.home != self.layout.length {
            out.extend_from_slice(&[opcode::NOP; TRAMPOLINE_MARK as usize]);
            from += TRAMPOLINE_MARK;
        }
        self.edits(
            &self.layout.edge_keys,
            trampoline.first,
            trampoline.count,
            out,
        );
        let to = self.layout.label(trampoline.target).unwrap_or_default();
        if trampoline.wide {
            out.push(opcode::GOTO_W);
            out.extend_from_slice(&distance(from, to).to_be_bytes());
        } else {
            out.push(opcode::GOTO);
            out.extend_from_slice(&short_distance(from, to).to_be_bytes());
        }
    }
}
