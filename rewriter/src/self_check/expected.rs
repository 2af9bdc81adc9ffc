//! The expected edits of one method, derived only from plan and original code. This module shares no code with the
//! splice.

use crate::class::{InstructionMap, JumpForm, begins, decode, leads_to};
use crate::error::ReadError;
use crate::index::Bci;
use crate::plan::{EditPlan, Location};
use crate::self_check::mismatch::Mismatch;
use crate::splice::{Replacements, edit_index};
use jvms::opcode;

/// Ranks of edits before one instruction, in order.
const IN_FRONT_OF_LABEL: u64 = 0;
const IN_FRONT: u64 = 1;
const ON_GOTO: u64 = 2;

/// The difference between a special instruction and its original.
#[derive(Debug, Clone, Copy)]
pub(super) enum SpecialKind {
    /// A branch, `goto` or `jsr` to this bci.
    Jump(u32),
    Switch,
    /// Other code replaces this many bytes.
    Replaced(u32),
}

/// An instruction that is not copied unchanged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Special {
    pub(super) bci: u32,
    pub(super) kind: SpecialKind,
}

/// The expected edits of one method; all tables are reused for the next method.
#[derive(Debug, Default)]
pub(super) struct Expected {
    /// Instruction starts by bci, see [`begins`].
    starts: Vec<u8>,
    /// In bci order.
    pub(super) specials: Vec<Special>,
    /// Edits in the main line: `bci << 32 | rank << 24 | index`.
    main: Vec<u64>,
    /// Edits of edges with separate code: `source << 40 | target << 24 | index`.
    edges: Vec<u64>,
    /// Edits at the handler of `Unwind`.
    pub(super) unwind: Vec<u64>,
    /// All edits precede the code, and the code itself is unchanged. Branch offsets stay as they are, so no instruction
    /// needs a check.
    pub(super) moves_as_a_whole: bool,
}

impl Expected {
    /// Sorts the edits of a method, which `order` lists. Takes its code before and after, and its instruction starts
    /// and jumps before.
    pub(super) fn read<'i>(
        &mut self,
        (code, new): (&[u8], &[u8]),
        found: impl FnOnce() -> Result<InstructionMap<'i>, ReadError>,
        plan: &EditPlan,
        order: &[u64],
        changes: &Replacements,
    ) -> Result<(), Mismatch> {
        self.main.clear();
        self.edges.clear();
        self.unwind.clear();
        self.specials.clear();
        let edits = || {
            order
                .iter()
                .filter_map(|key| plan.edits().get(edit_index(*key)))
        };
        let at_entry = edits().all(|edit| edit.point.location == Location::Entry);
        // Switches are aligned to four bytes.
        self.moves_as_a_whole =
            at_entry && new.ends_with(code) && (new.len() - code.len()) & 3 == 0;
        if !self.moves_as_a_whole {
            let unreadable = |_| Mismatch::new("code that can be decoded", 0, 0);
            self.decode(&found().map_err(unreadable)?);
        }
        for (edit, key) in edits().zip(order) {
            let index = edit_index(*key) as u64;
            self.sort(code, edit.point.location, index)
                .ok_or_else(|| Mismatch::new("a location of the plan", 0, 0))?;
        }
        if !self.main.is_sorted() {
            self.main.sort_unstable();
        }
        self.edges.sort_unstable();
        let replaced = changes.iter().map(|changed| Special {
            bci: changed.replacement.bci,
            kind: SpecialKind::Replaced(changed.replacement.length),
        });
        let before = self.specials.len();
        self.specials.extend(replaced);
        if self.specials.len() > before {
            self.specials.sort_by_key(|special| special.bci);
        }
        Ok(())
    }

    /// Records instruction starts and jumps of the original.
    fn decode(&mut self, found: &InstructionMap<'_>) {
        self.starts.clear();
        self.starts.extend_from_slice(found.marks);
        self.specials.extend(found.jumps.iter().map(|jump| Special {
            bci: jump.bci,
            kind: match jump.form {
                JumpForm::Switch => SpecialKind::Switch,
                JumpForm::Plain | JumpForm::Conditional | JumpForm::Wide => {
                    SpecialKind::Jump(jump.target)
                }
            },
        }));
    }

    fn begins(&self, bci: Bci) -> Option<()> {
        begins(&self.starts, bci).then_some(())
    }

    /// Files an edit by the position of its code; `None` if the method has no such location.
    fn sort(&mut self, code: &[u8], location: Location, index: u64) -> Option<()> {
        let (bci, rank) = match location {
            Location::Entry => (0, IN_FRONT_OF_LABEL),
            Location::Before(bci) => {
                self.begins(bci)?;
                (usize::from(bci), IN_FRONT)
            }
            Location::FallThrough(source) => {
                self.begins(source)?;
                (
                    next_instruction(code, usize::from(source))?,
                    IN_FRONT_OF_LABEL,
                )
            }
            Location::Jump { source, target } => {
                self.begins(source)?;
                self.begins(target)?;
                return self.edge(code, source, target, index);
            }
            Location::Unwind => {
                self.unwind.push(index);
                return Some(());
            }
            Location::At(bci) => return self.begins(bci),
        };
        self.main.push((bci as u64) << 32 | rank << 24 | index);
        Some(())
    }

    fn edge(&mut self, code: &[u8], source: Bci, target: Bci, index: u64) -> Option<()> {
        let at = usize::from(source);
        leads_to(code, at, target.0).then_some(())?;
        let (from, to) = (u64::from(source.0), u64::from(target.0));
        match *code.get(at)? {
            call if opcode::is_subroutine_call(call) => return None,
            opcode::GOTO | opcode::GOTO_W => self.main.push(from << 32 | ON_GOTO << 24 | index),
            _ => self.edges.push(from << 40 | to << 24 | index),
        }
        Some(())
    }

    /// Returns the edits in the main line, in bci order.
    pub(super) fn main(&self) -> &[u64] {
        &self.main
    }

    /// Returns the edits on the edge from `source` to `target`, if that has separate code.
    pub(super) fn edge_edits(&self, source: u32, target: u32) -> &[u64] {
        if self.edges.is_empty() {
            return &[];
        }
        let edge = u64::from(source) << 16 | u64::from(target);
        let from = self.edges.partition_point(|key| key >> 24 < edge);
        let rest = self.edges.get(from..).unwrap_or_default();
        let count = rest.partition_point(|key| key >> 24 == edge);
        rest.get(..count).unwrap_or_default()
    }
}

/// Returns the bci that an edit in the main line precedes.
pub(super) fn bci_of(key: u64) -> usize {
    (key >> 32) as usize
}

/// Checks whether the edit also precedes the label.
pub(super) fn is_in_front_of_label(key: u64) -> bool {
    key >> 24 & 0xFF == IN_FRONT_OF_LABEL
}

/// Returns the instruction into which the one at `at` falls through.
fn next_instruction(code: &[u8], at: usize) -> Option<usize> {
    let opcode = *code.get(at)?;
    let next = at + decode(code, at)?;
    let is_ret = opcode == opcode::WIDE && code.get(at + 1) == Some(&opcode::RET);
    (opcode::falls_through(opcode) && !is_ret && next < code.len()).then_some(next)
}
