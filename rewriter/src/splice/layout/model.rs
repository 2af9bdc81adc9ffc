//! The layout of one method as a value.

use crate::arithmetic::{Exact, Known};
use crate::class::begins;
use crate::index::Bci;
use crate::splice::order::edit_index;
use crate::splice::positions::Positions;

/// What is inserted in front of one instruction.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gap {
    pub(crate) bci: u32,
    /// Bytes of trampolines that stand here, in front of everything.
    pub(crate) home: u32,
    /// Bytes in front of the label.
    pub(crate) pre: u32,
    /// Bytes behind the label.
    pub(crate) at: u32,
    /// The edits in front of the label, then those behind it, in [`Layout::keys`].
    pub(crate) first: u32,
    pub(crate) pre_count: u32,
    pub(crate) at_count: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JumpKind {
    /// `goto` and `jsr`, which have a wide form.
    Plain,
    /// The same, to be widened.
    Widened,
    /// `goto_w` and `jsr_w`.
    Wide,
    /// `if…`.
    Conditional,
    /// The same, to become its inverse around a `goto_w` to where it went.
    Inverted,
    Switch,
    /// No jump, but an instruction that something else takes the place of.
    Replaced,
}

/// A branch or switch of the original code, or a changed instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jump {
    pub(crate) bci: u32,
    pub(crate) length: u32,
    /// Where it goes; the new length of a changed instruction.
    pub(crate) target: u32,
    pub(crate) kind: JumpKind,
}

/// Code away from the main line: `edits; goto target`, reached by one edge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trampoline {
    pub(crate) source: u32,
    pub(crate) target: u32,
    /// Its edits in [`Layout::edge_keys`].
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// Bytes of its edits.
    pub(crate) edits: u32,
    /// Bci in front of which it stands; the length of the code for the end.
    pub(crate) home: u32,
    pub(crate) position: u32,
    pub(crate) wide: bool,
    /// Some edit of it has jumps of its own.
    pub(crate) branching: bool,
}

/// `nop`s that mark a trampoline inside the code, so that it can be told from
/// what was there before.
pub(crate) const TRAMPOLINE_MARK: u32 = 3;

impl Trampoline {
    /// Bytes of the whole trampoline when it stands at its home.
    pub(crate) fn size(&self, end: u32) -> u32 {
        let jump = if self.wide { 5 } else { 3 };
        let mark = if self.home == end { 0 } else { TRAMPOLINE_MARK };
        self.edits.plus(jump).plus(mark)
    }
}

/// Bytes of an inverted branch with its `goto_w`.
pub(crate) const INVERTED: u32 = 8;

/// Set in a position in front of which something is inserted: it has a [`Gap`].
pub(super) const GAP: u32 = 1 << 31;

/// The layout of one method; all tables are reused for the next.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// Length of the original code.
    pub(crate) length: u32,
    /// By bci, see [`begins`].
    pub(super) starts: Vec<u8>,
    pub(crate) jumps: Vec<Jump>,
    /// Indices of switches, widened and inverted jumps, and changed instructions in `jumps`.
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
    /// Where the handler of `Unwind` begins: behind everything else.
    pub(crate) unwind: u32,
    /// Its length; 0 without one.
    pub(super) unwind_size: u32,
    /// Length of the new code.
    pub(crate) total: u32,
    pub(super) last_opcode: u8,
    /// How many trampolines were moved to where their branch reaches them.
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
        Some((position & !GAP).minus(before))
    }

    #[inline]
    fn instruction(&self, bci: u32) -> Option<u32> {
        let position = *self.positions.get(bci as usize)?;
        if position & GAP == 0 {
            return Some(position);
        }
        let at = self.gap(bci).map_or(0, |gap| gap.at);
        Some((position & !GAP).plus(at))
    }

    #[inline]
    fn end(&self, bci: u32) -> Option<u32> {
        let position = *self.positions.get(bci as usize)?;
        if position & GAP == 0 {
            return Some(position);
        }
        let gap = self.gap(bci);
        let before = gap.map_or(0, |gap| gap.home.plus(gap.pre));
        Some((position & !GAP).minus(before))
    }
}

impl Layout {
    #[inline]
    pub(crate) fn begins(&self, bci: Bci) -> bool {
        begins(&self.starts, bci)
    }

    #[inline]
    fn gap(&self, bci: u32) -> Option<&Gap> {
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

    /// Calls `visit` with each edit of the main line, of trampolines and of the
    /// handler of `Unwind`, and where its code begins.
    pub(crate) fn each_edit(&self, size: impl Fn(usize) -> u32, mut visit: impl FnMut(usize, u32)) {
        let mut run = |keys: &[u64], first: u32, count: u32, mut at: u32| {
            let range = first as usize..first.plus(count) as usize;
            for key in keys.get(range).unwrap_or_default() {
                let index = edit_index(*key);
                visit(index, at);
                at = at.plus(size(index));
            }
        };
        for gap in &self.gaps {
            let start = self.label(gap.bci).known().minus(gap.pre);
            run(
                &self.keys,
                gap.first,
                gap.pre_count.plus(gap.at_count),
                start,
            );
        }
        for trampoline in &self.trampolines {
            let mark = if trampoline.home == self.length {
                0
            } else {
                TRAMPOLINE_MARK
            };
            let start = trampoline.position.plus(mark);
            run(&self.edge_keys, trampoline.first, trampoline.count, start);
        }
        run(
            &self.unwind_keys,
            0,
            self.unwind_keys.len() as u32,
            self.unwind,
        );
    }

    /// The inverted branches: the bci of each, and where what is behind it begins now.
    pub(crate) fn inverted(&self) -> impl Iterator<Item = (u32, u32)> {
        let inverted = self.jumps.iter();
        let inverted = inverted.filter(|jump| jump.kind == JumpKind::Inverted);
        inverted.map(|jump| {
            let behind = self.instruction(jump.bci).known().plus(INVERTED);
            (jump.bci, behind)
        })
    }

    /// Where the edge from `source` to `target` goes now.
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
