//! Where everything goes: decoding, sites, and positions after insertion.

mod decode;
mod reach;

use crate::class::{decode as instruction_length, switch_layout};
use crate::cursor::{i16_at, i32_at};
use crate::index::Bci;
use crate::limits::MAX_CODE_LENGTH;
use crate::opcode;
use crate::plan::{Action, Edit, Place};
use crate::splice::SkipReason;
use crate::splice::changes::Changes;
use crate::splice::probe::Inserts;

/// What is inserted in front of one instruction.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gap {
    pub(crate) bci: u32,
    /// Bytes of detours that stand here, in front of everything.
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
pub(crate) struct Detour {
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

/// `nop`s that mark a detour inside the code, so that it can be told from
/// what was there before.
pub(crate) const ISLAND_MARK: u32 = 3;

impl Detour {
    /// Bytes of the whole detour when it stands at its home.
    pub(crate) fn size(&self, end: u32) -> u32 {
        let jump = if self.wide { 5 } else { 3 };
        let mark = if self.home == end { 0 } else { ISLAND_MARK };
        self.edits.wrapping_add(jump).wrapping_add(mark)
    }
}

/// The layout of one method; all tables are reused for the next.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// Length of the original code.
    pub(crate) length: u32,
    /// By bci: 1 where an instruction begins.
    starts: Vec<u8>,
    pub(crate) jumps: Vec<Jump>,
    /// Indices of switches, widened jumps and changed instructions in `jumps`.
    resized: Vec<u32>,
    /// Edits in the main line: `bci << 32 | rank << 24 | index`.
    pub(crate) keys: Vec<u64>,
    /// Edits of detours: `source << 40 | target << 24 | index`.
    pub(crate) edge_keys: Vec<u64>,
    /// Edits at the handler of `Unwind`.
    pub(crate) unwind_keys: Vec<u64>,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) detours: Vec<Detour>,
    /// New position of the label of each bci, and of the end.
    positions: Vec<u32>,
    /// Where the handler of `Unwind` begins: behind everything else.
    pub(crate) unwind: u32,
    /// Its length; 0 without one.
    unwind_size: u32,
    /// Length of the new code.
    pub(crate) total: u32,
    last_opcode: u8,
    /// How many detours were moved to where their branch reaches them.
    rehomed: u32,
}

/// Where what was at a bci of the original code is now.
pub(crate) trait Positions {
    /// New position of the label of `bci`; the end of the main line for the
    /// length of the code.
    fn label(&self, bci: u32) -> Option<u32>;
    /// New position of the instruction at `bci`.
    fn instruction(&self, bci: u32) -> Option<u32>;
    /// New position of the end of what stands before `bci`.
    fn end(&self, bci: u32) -> Option<u32>;
}

impl Positions for Layout {
    #[inline]
    fn label(&self, bci: u32) -> Option<u32> {
        self.positions.get(bci as usize).copied()
    }

    #[inline]
    fn instruction(&self, bci: u32) -> Option<u32> {
        let at = self.gap(bci).map_or(0, |gap| gap.at);
        self.label(bci).map(|label| label.wrapping_add(at))
    }

    #[inline]
    fn end(&self, bci: u32) -> Option<u32> {
        let label = self.label(bci)?;
        // Most ranges end with the code, where nothing is in front of a label.
        let gap = if bci == self.length {
            None
        } else {
            self.gap(bci)
        };
        let before = gap.map_or(0, |gap| gap.home.wrapping_add(gap.pre));
        Some(label.wrapping_sub(before))
    }
}

const RANK_PRE: u64 = 0;
const RANK_BEFORE: u64 = 1;
const RANK_EDGE: u64 = 2;

/// The index of an edit in a key.
#[inline]
pub(crate) fn edit_index(key: u64) -> usize {
    (key & 0xFF_FFFF) as usize
}

impl Layout {
    /// Decodes `code` and finds the sites of `edits`, which `order` lists.
    pub(crate) fn plan(
        &mut self,
        code: &[u8],
        edits: &[Edit],
        order: &[u64],
        inserts: Inserts<'_>,
    ) -> Result<(), SkipReason> {
        if moves_as_a_whole(edits, order, inserts) {
            self.forget(code);
        } else {
            self.decode(code)?;
        }
        self.replace(inserts.changes);
        self.keys.clear();
        self.edge_keys.clear();
        self.unwind_keys.clear();
        for key in order {
            if let Some(edit) = edits.get(edit_index(*key)) {
                self.place(code, edit.site.place, *key & 0xFF_FFFF)?;
            }
        }
        if !self.keys.is_sorted() {
            self.keys.sort_unstable();
        }
        if !self.edge_keys.is_sorted() {
            self.edge_keys.sort_unstable();
        }
        self.group(edits, inserts);
        Ok(())
    }

    /// Notes the changed instructions, which are no branches.
    fn replace(&mut self, changes: &Changes) {
        let before = self.jumps.len();
        self.jumps.extend(changes.iter().map(|changed| Jump {
            bci: changed.replacement.bci,
            length: changed.replacement.length,
            target: changed.size(),
            kind: JumpKind::Replaced,
        }));
        if self.jumps.len() > before {
            self.jumps.sort_unstable_by_key(|jump| jump.bci);
            self.note_resized();
        }
    }

    fn place(&mut self, code: &[u8], place: Place, index: u64) -> Result<(), SkipReason> {
        let mut add = |bci: usize, rank: u64| {
            self.keys.push(((bci as u64) << 32) | (rank << 24) | index);
        };
        match place {
            Place::Entry => add(0, RANK_PRE),
            Place::Before(bci) if self.begins(bci) => {
                self.keys
                    .push((u64::from(bci.0) << 32) | (RANK_BEFORE << 24) | index);
            }
            Place::FallThrough(source) if self.begins(source) => {
                let at = usize::from(source);
                let length = instruction_length(code, at).unwrap_or(0);
                let next = at.wrapping_add(length);
                let opcode = code.get(at).copied().unwrap_or(0);
                if !opcode::falls_through(opcode) || next >= code.len() || is_wide_ret(code, at) {
                    return Err(SkipReason::NoSuchSite { bci: source });
                }
                self.keys
                    .push(((next as u64) << 32) | (RANK_PRE << 24) | index);
            }
            Place::Jump { source, target } if self.begins(source) && self.begins(target) => {
                self.place_edge(code, source, target, index)?;
            }
            Place::Unwind => self.unwind_keys.push(index),
            // It has been made out where it is.
            Place::At(bci) if self.begins(bci) => {}
            Place::Before(bci)
            | Place::At(bci)
            | Place::FallThrough(bci)
            | Place::Jump { source: bci, .. } => {
                return Err(SkipReason::NoSuchSite { bci });
            }
        }
        Ok(())
    }

    fn place_edge(
        &mut self,
        code: &[u8],
        source: Bci,
        target: Bci,
        index: u64,
    ) -> Result<(), SkipReason> {
        let at = usize::from(source);
        let missing = SkipReason::NoSuchSite { bci: source };
        let opcode = code.get(at).copied().unwrap_or(0);
        let goes = if opcode::is_switch(opcode) {
            switch_goes_to(code, at, target)
        } else {
            jump_target(code, at, opcode) == Some(i64::from(target.0))
        };
        match opcode {
            opcode::GOTO | opcode::GOTO_W if goes => {
                self.keys
                    .push((u64::from(source.0) << 32) | (RANK_EDGE << 24) | index);
            }
            _ if goes && (opcode::is_switch(opcode) || opcode::is_conditional(opcode)) => {
                self.edge_keys
                    .push((u64::from(source.0) << 40) | (u64::from(target.0) << 24) | index);
            }
            _ => return Err(missing),
        }
        Ok(())
    }

    #[inline]
    fn begins(&self, bci: Bci) -> bool {
        self.starts.get(usize::from(bci)) == Some(&1)
    }

    /// Turns sorted keys into gaps and detours.
    fn group(&mut self, edits: &[Edit], inserts: Inserts<'_>) {
        self.gaps.clear();
        self.detours.clear();
        let size = |key: u64| {
            edits
                .get(edit_index(key))
                .map_or(0, |edit| inserts.size(edit.action))
        };
        let inserted = |key: u64| {
            let edit = edits.get(edit_index(key));
            edit.is_some_and(|edit| matches!(edit.action, Action::Insert(_)))
        };
        let unwind = self
            .unwind_keys
            .iter()
            .map(|key| size(*key))
            .fold(0, u32::wrapping_add);
        // The exception is thrown again by one `athrow`.
        self.unwind_size = if self.unwind_keys.is_empty() {
            0
        } else {
            unwind.wrapping_add(1)
        };
        for (index, key) in self.keys.iter().enumerate() {
            let bci = (*key >> 32) as u32;
            if self.gaps.last().is_none_or(|gap| gap.bci != bci) {
                self.gaps.push(Gap {
                    bci,
                    first: index as u32,
                    ..Gap::default()
                });
            }
            let Some(gap) = self.gaps.last_mut() else {
                continue;
            };
            let (bytes, count) = match (*key >> 24) & 3 {
                RANK_PRE => (&mut gap.pre, &mut gap.pre_count),
                _ => (&mut gap.at, &mut gap.at_count),
            };
            *bytes = bytes.wrapping_add(size(*key));
            *count = count.wrapping_add(1);
        }
        for (index, key) in self.edge_keys.iter().enumerate() {
            let (source, target) = ((*key >> 40) as u32, (*key >> 24) as u32 & 0xFFFF);
            if self
                .detours
                .last()
                .is_none_or(|last| (last.source, last.target) != (source, target))
            {
                let detour = Detour::new(source, target, index as u32, self.length);
                self.detours.push(detour);
            }
            let Some(detour) = self.detours.last_mut() else {
                continue;
            };
            detour.edits = detour.edits.wrapping_add(size(*key));
            detour.branching |= inserted(*key);
            detour.count = detour.count.wrapping_add(1);
        }
    }

    /// Computes all positions.
    pub(crate) fn settle(&mut self, code: &[u8], handlers: &[u8]) -> Result<(), SkipReason> {
        let behind = !self.detours.is_empty() || !self.unwind_keys.is_empty();
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
            pass = pass.wrapping_add(1);
        }
    }

    /// Assigns positions for the sizes known so far.
    fn fill(&mut self) {
        self.positions.clear();
        let mut shift = 0_u32;
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
                .extend((from..bci).map(|old| old.wrapping_add(shift)));
            let mut label = bci.wrapping_add(shift);
            let mut start = label;
            if gap_at == bci
                && let Some(gap) = gaps.next()
            {
                if gap.home > 0 {
                    place_detours(&mut self.detours, gap.bci, self.length, label);
                }
                label = label.wrapping_add(gap.home).wrapping_add(gap.pre);
                start = label.wrapping_add(gap.at);
            }
            self.positions.push(label);
            shift = start.wrapping_sub(bci);
            if jump_at == bci
                && let Some(jump) = resized.next()
            {
                // Debug tables of careless compilers point inside an instruction.
                let inside = bci.wrapping_add(1)..bci.wrapping_add(jump.length);
                self.positions
                    .extend(inside.map(|old| old.wrapping_add(shift)));
                shift = shift.wrapping_add(growth(jump, start));
            }
        }
        let from = self.positions.len() as u32;
        self.positions
            .extend((from..=self.length).map(|old| old.wrapping_add(shift)));
        let end = self.length.wrapping_add(shift);
        self.unwind = place_detours(&mut self.detours, self.length, self.length, end);
        self.total = self.unwind.wrapping_add(self.unwind_size);
    }

    #[inline]
    pub(crate) fn gap(&self, bci: u32) -> Option<&Gap> {
        let index = self.gaps.binary_search_by_key(&bci, |gap| gap.bci).ok()?;
        self.gaps.get(index)
    }

    pub(crate) fn detour(&self, source: u32, target: u32) -> Option<&Detour> {
        if self.detours.is_empty() {
            return None;
        }
        let key = (source, target);
        let index = self
            .detours
            .binary_search_by_key(&key, |found| (found.source, found.target))
            .ok()?;
        self.detours.get(index)
    }

    /// Calls `visit` with each edit of the main line, of detours and of the
    /// handler of `Unwind`, and where its code begins.
    pub(crate) fn each_edit(&self, size: impl Fn(usize) -> u32, mut visit: impl FnMut(usize, u32)) {
        let mut run = |keys: &[u64], first: u32, count: u32, mut at: u32| {
            let range = first as usize..first.wrapping_add(count) as usize;
            for key in keys.get(range).unwrap_or_default() {
                let index = edit_index(*key);
                visit(index, at);
                at = at.wrapping_add(size(index));
            }
        };
        for gap in &self.gaps {
            let start = self.label(gap.bci).unwrap_or(0).wrapping_sub(gap.pre);
            run(
                &self.keys,
                gap.first,
                gap.pre_count.wrapping_add(gap.at_count),
                start,
            );
        }
        for detour in &self.detours {
            let mark = if detour.home == self.length {
                0
            } else {
                ISLAND_MARK
            };
            let start = detour.position.wrapping_add(mark);
            run(&self.edge_keys, detour.first, detour.count, start);
        }
        run(
            &self.unwind_keys,
            0,
            self.unwind_keys.len() as u32,
            self.unwind,
        );
    }

    /// Where the edge from `source` to `target` goes now.
    #[inline]
    pub(crate) fn destination(&self, source: u32, target: u32) -> Option<u32> {
        match self.detour(source, target) {
            Some(detour) => Some(detour.position),
            None => self.label(target),
        }
    }
}

impl Detour {
    fn new(source: u32, target: u32, first: u32, home: u32) -> Self {
        Detour {
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

/// True when everything is inserted at entry and keeps switches aligned: no
/// instruction changes then, so none has to be looked at.
fn moves_as_a_whole(edits: &[Edit], order: &[u64], inserts: Inserts<'_>) -> bool {
    let mut bytes = 0_u32;
    let at_entry = order
        .iter()
        .filter_map(|key| edits.get(edit_index(*key)))
        .all(|edit| {
            bytes = bytes.wrapping_add(inserts.size(edit.action));
            edit.site.place == Place::Entry && !matches!(edit.action, Action::Insert(_))
        });
    at_entry && bytes & 3 == 0
}

/// Positions the detours at `home` one after another; returns where they end.
fn place_detours(detours: &mut [Detour], home: u32, end: u32, mut at: u32) -> u32 {
    for detour in detours.iter_mut().filter(|detour| detour.home == home) {
        detour.position = at;
        at = at.wrapping_add(detour.size(end));
    }
    at
}

/// By how much a switch, widened jump or changed instruction that now starts
/// at `start` grows; it may also shrink.
fn growth(jump: &Jump, start: u32) -> u32 {
    match jump.kind {
        JumpKind::Switch => (jump.bci & 3).wrapping_sub(start & 3),
        JumpKind::Widened => 2,
        JumpKind::Replaced => jump.target.wrapping_sub(jump.length),
        _ => 0,
    }
}

fn is_wide_ret(code: &[u8], at: usize) -> bool {
    code.get(at) == Some(&opcode::WIDE) && code.get(at.wrapping_add(1)) == Some(&opcode::RET)
}

/// Target of the branch at `at`.
fn jump_target(code: &[u8], at: usize, opcode: u8) -> Option<i64> {
    let operand = at.wrapping_add(1);
    let distance = match opcode::form(opcode) {
        opcode::Form::Branch => i64::from(i16_at(code, operand)?),
        opcode::Form::BranchWide => i64::from(i32_at(code, operand)?),
        _ => return None,
    };
    Some((at as i64).wrapping_add(distance))
}

fn switch_goes_to(code: &[u8], at: usize, target: Bci) -> bool {
    let Some(layout) = switch_layout(code, at) else {
        return false;
    };
    let distance = i64::from(target.0).wrapping_sub(at as i64);
    let hits = |operand: usize| i32_at(code, operand).map(i64::from) == Some(distance);
    let first = layout.entries.wrapping_add(layout.stride).wrapping_sub(4);
    hits(layout.default) || (first..layout.end).step_by(layout.stride).any(hits)
}
