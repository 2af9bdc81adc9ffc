//! Assigns edits to the positions of their code.

use crate::class::{InstructionMap, decode as instruction_length, leads_to};
use crate::error::ReadError;
use crate::index::Bci;
use crate::plan::{Action, Edit, Location, SkipReason};
use crate::splice::inserts::Inserts;
use crate::splice::layout::model::{Gap, Jump, JumpKind, Layout, Trampoline};
use crate::splice::order::edit_index;
use crate::splice::replacements::Replacements;
use jvms::opcode;

pub(super) const RANK_PRE: u64 = 0;
const RANK_BEFORE: u64 = 1;
const RANK_EDGE: u64 = 2;

/// Checks whether all edits are at entry and keep switches aligned. Then no instruction changes, so none needs
/// decoding.
fn moves_as_a_whole(edits: &[Edit], order: &[u64], inserts: Inserts<'_>) -> bool {
    let mut bytes = 0_u32;
    let at_entry = order
        .iter()
        .filter_map(|key| edits.get(edit_index(*key)))
        .all(|edit| {
            bytes += inserts.size(edit.action);
            edit.point.location == Location::Entry && !matches!(edit.action, Action::Insert(_))
        });
    at_entry && bytes & 3 == 0
}

fn is_wide_ret(code: &[u8], at: usize) -> bool {
    code.get(at) == Some(&opcode::WIDE) && code.get(at + 1) == Some(&opcode::RET)
}

impl Layout {
    /// Assigns `edits`, which `order` lists, to positions in `code`. `found` returns the instructions; it is called
    /// only if they matter.
    pub(crate) fn sort<'i>(
        &mut self,
        code: &[u8],
        found: impl FnOnce() -> Result<InstructionMap<'i>, ReadError>,
        edits: &[Edit],
        order: &[u64],
        inserts: Inserts<'_>,
    ) -> Result<(), SkipReason> {
        if moves_as_a_whole(edits, order, inserts) {
            self.forget(code);
        } else {
            self.decode(code, &found()?);
        }
        self.replace(inserts.changes);
        self.keys.clear();
        self.edge_keys.clear();
        self.unwind_keys.clear();
        for key in order {
            if let Some(edit) = edits.get(edit_index(*key)) {
                self.place(code, edit.point.location, *key & 0xFF_FFFF)?;
            }
        }
        if !self.keys.is_sorted() {
            self.keys.sort_unstable();
        }
        if !self.edge_keys.is_sorted() {
            self.edge_keys.sort_unstable();
        }
        Ok(())
    }

    /// Records the changed instructions, none of which is a branch.
    fn replace(&mut self, changes: &Replacements) {
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

    fn place(&mut self, code: &[u8], location: Location, index: u64) -> Result<(), SkipReason> {
        let (bci, rank) = match location {
            Location::Entry => (0, RANK_PRE),
            Location::Before(bci) if self.begins(bci) => (usize::from(bci), RANK_BEFORE),
            Location::FallThrough(source) if self.begins(source) => {
                let at = usize::from(source);
                let missing = || SkipReason::NoSuchLocation { bci: source };
                let next = at + instruction_length(code, at).ok_or_else(missing)?;
                let opcode = code.get(at).copied().unwrap_or_default();
                if !opcode::falls_through(opcode) || next >= code.len() || is_wide_ret(code, at) {
                    return Err(missing());
                }
                (next, RANK_PRE)
            }
            Location::Jump { source, target } if self.begins(source) && self.begins(target) => {
                return self.place_edge(code, source, target, index);
            }
            Location::Unwind => {
                self.unwind_keys.push(index);
                return Ok(());
            }
            // Changes were resolved at their bci before.
            Location::At(bci) if self.begins(bci) => return Ok(()),
            Location::Before(bci)
            | Location::At(bci)
            | Location::FallThrough(bci)
            | Location::Jump { source: bci, .. } => {
                return Err(SkipReason::NoSuchLocation { bci });
            }
        };
        self.keys.push(((bci as u64) << 32) | (rank << 24) | index);
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
        let missing = SkipReason::NoSuchLocation { bci: source };
        let Some(opcode) = code.get(at).copied() else {
            return Err(missing);
        };
        let goes = leads_to(code, at, target.0);
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

    /// Converts sorted keys into gaps and trampolines.
    pub(crate) fn group(&mut self, edits: &[Edit], inserts: Inserts<'_>) {
        self.gaps.clear();
        let size = |key: u64| {
            edits
                .get(edit_index(key))
                .map_or(0, |edit| inserts.size(edit.action))
        };
        let inserted = |key: u64| {
            let edit = edits.get(edit_index(key));
            edit.is_some_and(|edit| matches!(edit.action, Action::Insert(_)))
        };
        let unwind = self.unwind_keys.iter().map(|key| size(*key)).sum::<u32>();
        // The handler ends with one `athrow`, which rethrows.
        self.unwind_size = if self.unwind_keys.is_empty() {
            0
        } else {
            unwind + 1
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
            *bytes += size(*key);
            *count += 1;
        }
        self.group_edges(size, inserted);
    }

    /// Converts sorted keys into trampolines.
    pub(super) fn group_edges(
        &mut self,
        size: impl Fn(u64) -> u32,
        inserted: impl Fn(u64) -> bool,
    ) {
        self.trampolines.clear();
        for (index, key) in self.edge_keys.iter().enumerate() {
            let (source, target) = ((*key >> 40) as u32, (*key >> 24) as u32 & 0xFFFF);
            if self
                .trampolines
                .last()
                .is_none_or(|last| (last.source, last.target) != (source, target))
            {
                let trampoline = Trampoline::new(source, target, index as u32, self.length);
                self.trampolines.push(trampoline);
            }
            let Some(trampoline) = self.trampolines.last_mut() else {
                continue;
            };
            trampoline.edits += size(*key);
            trampoline.branching |= inserted(*key);
            trampoline.count += 1;
        }
    }
}
