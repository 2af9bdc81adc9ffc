//! The layout of one method.

use crate::class::begins;
use crate::index::Bci;
use crate::splice::order::edit_index;
use crate::splice::positions::Positions;

/// The code inserted before one instruction.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gap {
    pub(crate) bci: u32,
    /// Bytes of trampolines here, before the other code.
    pub(crate) home: u32,
    /// Bytes before the label.
    pub(crate) pre: u32,
    /// Bytes after the label.
    pub(crate) at: u32,
    /// The edits before the label, then those after it, in [`Layout::keys`].
    pub(crate) first: u32,
    pub(crate) pre_count: u32,
    pub(crate) at_count: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JumpKind {
    /// `goto` and `jsr`, which have a wide form.
    Plain,
    /// A `goto` or `jsr` to widen.
    Widened,
    /// `goto_w` and `jsr_w`.
    Wide,
    /// `if…`.
    Conditional,
    /// A conditional branch to replace by its inverse around a `goto_w` to the target.
    Inverted,
    Switch,
    /// No jump, but a replaced instruction.
    Replaced,
}

/// A branch or switch of the original code, or a changed instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jump {
    pub(crate) bci: u32,
    pub(crate) length: u32,
    /// Its target; the new length for a changed instruction.
    pub(crate) target: u32,
    pub(crate) kind: JumpKind,
}

/// Code outside the main line: `edits; goto target`, reached by one edge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trampoline {
    pub(crate) source: u32,
    pub(crate) target: u32,
    /// Its edits in [`Layout::edge_keys`].
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// Bytes of its edits.
    pub(crate) edits: u32,
    /// The bci before which it is placed; the length of the code for the end.
    pub(crate) home: u32,
    pub(crate) position: u32,
    pub(crate) wide: bool,
    /// True if an edit has jumps of its own.
    pub(crate) branching: bool,
}

/// Number of `nop`s that mark a trampoline inside the code and distinguish it from original code.
pub(crate) const TRAMPOLINE_MARK: u32 = 3;

impl Trampoline {
    /// Returns the bytes of the whole trampoline at its home.
    pub(crate) fn size(&self, end: u32) -> u32 {
        let jump = if self.wide { 5 } else { 3 };
        let mark = if self.home == end { 0 } else { TRAMPOLINE_MARK };
        self.edits + jump + mark
    }
}

/// Bytes of an inverted branch with its `goto_w`.
pub(crate) const INVERTED: u32 = 8;

/// Flag of a position with inserted code before it, in a [`Gap`].
pub(super) const GAP: u32 = 1 << 31;

/// The layout of one method; all tables are reused for the next method.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// Length of the original code.
    pub(crate) length: u32,
    /// Instruction starts by bci, see [`begins`].
    pub(super) starts: Vec<u8>,
    pub(crate) jumps: Vec<Jump>,
    /// Indices in `jumps` of switches, widened and inverted jumps, and changed instructions.
    pub(super) resized: Vec<u32>,
    /// Edits in the main line: `bci << 32 | rank << 24 | index`.
    pub(crate) keys: Vec<u64>,
    /// Edits of trampolines: `source << 40 | target << 24 | index`.
    pub(crate) edge_keys: Vec<u64>,
    /// Edits at the handler of `Unwind`.
    pub(crate) unwind_keys: Vec<u64>,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) trampolines: Vec<Trampoline>,
    /// New position of the label of each bci, and of the end, with [`GAP`].
    pub(super) positions: Vec<u32>,
    /// The start of the handler of `Unwind`, after all other code.
    pub(crate) unwind: u32,
    /// Its length; 0 without a handler.
    pub(super) unwind_size: u32,
    /// Length of the new code.
    pub(crate) total: u32,
    pub(super) last_opcode: u8,
    /// Number of trampolines moved into the range of their branch.
    pub(super) rehomed: u32,
}

impl Positions for Layout {
    #[inline]
    fn label(&self, bci: u32) -> Option<u32> {
        let position = self.positions.get(bci as usize)?;
        Some(*position & !GAP)
    }

    #[inline]
    fn start(&self, bci: u32) -> Option<u32> {
        let position = *self.positions.get(bci as usize)?;
        if position & GAP == 0 {
            return Some(position);
        }
        let before = self.gap(bci).map_or(0, |gap| gap.pre);
        Some((position & !GAP) - before)
    }

    #[inline]
    fn instruction(&self, bci: u32) -> Option<u32> {
        let position = *self.positions.get(bci as usize)?;
        if position & GAP == 0 {
            return Some(position);
        }
        let at = self.gap(bci).map_or(0, |gap| gap.at);
        Some((position & !GAP) + at)
    }

    #[inline]
    fn end(&self, bci: u32) -> Option<u32> {
        let position = *self.positions.get(bci as usize)?;
        if position & GAP == 0 {
            return Some(position);
        }
        let gap = self.gap(bci);
        let before = gap.map_or(0, |gap| gap.home + gap.pre);
        Some((position & !GAP) - before)
    }
}

impl Layout {
    #[inline]
    pub(crate) fn begins(&self, bci: Bci) -> bool {
        begins(&self.starts, bci)
    }

    #[inline]
    pub(crate) fn gap(&self, bci: u32) -> Option<&Gap> {
        let index = self.gaps.binary_search_by_key(&bci, |gap| gap.bci).ok()?;
        self.gaps.get(index)
    }

    pub(crate) fn trampoline(&self, source: u32, target: u32) -> Option<&Trampoline> {
        if self.trampolines.is_empty() {
            return None;
        }
        let key = (source, target);
        let index = self
            .trampolines
            .binary_search_by_key(&key, |found| (found.source, found.target))
            .ok()?;
        self.trampolines.get(index)
    }

    /// Passes each edit of the main line, of trampolines and of the handler of `Unwind` to `visit`, with the start of
    /// its code.
    pub(crate) fn each_edit(&self, size: impl Fn(usize) -> u32, mut visit: impl FnMut(usize, u32)) {
        let mut run = |keys: &[u64], first: u32, count: u32, mut at: u32| {
            let range = first as usize..(first + count) as usize;
            for key in keys.get(range).unwrap_or_default() {
                let index = edit_index(*key);
                visit(index, at);
                at += size(index);
            }
        };
        for gap in &self.gaps {
            let start = self.label(gap.bci).unwrap_or_default() - gap.pre;
            run(&self.keys, gap.first, gap.pre_count + gap.at_count, start);
        }
        for trampoline in &self.trampolines {
            let mark = if trampoline.home == self.length {
                0
            } else {
                TRAMPOLINE_MARK
            };
            let start = trampoline.position + mark;
            run(&self.edge_keys, trampoline.first, trampoline.count, start);
        }
        run(
            &self.unwind_keys,
            0,
            self.unwind_keys.len() as u32,
            self.unwind,
        );
    }

    /// Returns the inverted branches: bci, and the new position after each.
    pub(crate) fn inverted(&self) -> impl Iterator<Item = (u32, u32)> {
        let inverted = self.jumps.iter();
        let inverted = inverted.filter(|jump| jump.kind == JumpKind::Inverted);
        inverted.map(|jump| {
            let behind = self.instruction(jump.bci).unwrap_or_default() + INVERTED;
            (jump.bci, behind)
        })
    }

    /// Returns the new destination of the edge from `source` to `target`.
    #[inline]
    pub(crate) fn destination(&self, source: u32, target: u32) -> Option<u32> {
        match self.trampoline(source, target) {
            Some(trampoline) => Some(trampoline.position),
            None => self.label(target),
        }
    }
}

impl Trampoline {
    pub(super) fn new(source: u32, target: u32, first: u32, home: u32) -> Self {
        Trampoline {
            source,
            target,
            first,
            count: 0,
            edits: 0,
            home,
            position: 0,
            wide: false,
            branching: false,
        }
    }
}

impl Layout {
    pub(super) fn note_resized(&mut self) {
        self.resized.clear();
        let grows = |kind| {
            matches!(
                kind,
                JumpKind::Switch | JumpKind::Widened | JumpKind::Inverted | JumpKind::Replaced
            )
        };
        let indices = self
            .jumps
            .iter()
            .enumerate()
            .filter(|(_, jump)| grows(jump.kind));
        self.resized.extend(indices.map(|(index, _)| index as u32));
    }
}
