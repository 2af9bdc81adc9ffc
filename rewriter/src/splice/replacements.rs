//! The changed instructions of one method.

use crate::class::{ClassFile, Code, Method};
use crate::edits::Change;
use crate::index::Bci;
use crate::lowering::lower;
use crate::plan::{Action, Edit, EditPlan, Location, SkipReason};
use crate::pool::PoolWriter;
use crate::replace::{ChangedMethod, Replacement};
use crate::splice::order::edit_index;
use crate::typing::{Hierarchy, MethodContext};

/// One changed instruction.
#[derive(Debug)]
pub(crate) struct LoweredReplacement {
    /// Index of its edit in the plan.
    pub(crate) index: usize,
    pub(crate) replacement: Replacement,
    /// The range of its operations' offsets in the shared list.
    offsets: (usize, usize),
    /// The start of its code in the shared code; its length is 0 before lowering.
    start: u32,
    end: u32,
}

impl LoweredReplacement {
    /// Returns the length of its code.
    pub(crate) fn size(&self) -> u32 {
        self.end - self.start
    }
}

/// The changed instructions of a method by bci, and their code.
#[derive(Debug, Default)]
pub(crate) struct Replacements {
    found: Vec<LoweredReplacement>,
    code: Vec<u8>,
    offsets: Vec<u32>,
    /// By bci: 1 for an instruction start.
    starts: Vec<u8>,
}

impl Replacements {
    pub(crate) fn clear(&mut self) {
        self.found.clear();
        self.code.clear();
        self.offsets.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &LoweredReplacement> {
        self.found.iter()
    }

    pub(crate) fn get(&self, bci: u32) -> Option<&LoweredReplacement> {
        let index = self
            .found
            .binary_search_by_key(&bci, |changed| changed.replacement.bci);
        self.found.get(index.ok()?)
    }

    /// Returns the code that replaces the instruction at `bci`.
    pub(crate) fn code(&self, bci: u32) -> &[u8] {
        let range = self
            .get(bci)
            .map(|changed| changed.start as usize..changed.end as usize);
        range
            .and_then(|range| self.code.get(range))
            .unwrap_or_default()
    }

    /// Returns the offset of each operation in the code, and that of the end.
    pub(crate) fn offsets(&self, changed: &LoweredReplacement) -> &[u32] {
        let (from, to) = changed.offsets;
        self.offsets.get(from..to).unwrap_or_default()
    }

    /// Returns the local variable slots needed in addition to those of the original.
    pub(crate) fn slots(&self) -> u32 {
        let needed = self.found.iter();
        let needed = needed.map(|changed| changed.replacement.code.own_slots());
        needed.max().unwrap_or(0)
    }

    /// Returns the operand stack slots needed in addition to those of the original.
    pub(crate) fn stack(&self) -> u32 {
        let needed = self.found.iter().map(|changed| changed.replacement.stack);
        needed.max().unwrap_or(0)
    }

    /// Resolves the changes among the edits of a method.
    pub(crate) fn resolve(
        &mut self,
        class: &ClassFile<'_>,
        method: &Method<'_, '_>,
        code: &Code<'_, '_>,
        plan: &EditPlan,
        order: &[u64],
    ) -> Result<(), SkipReason> {
        self.clear();
        let changes = |key: &u64| {
            let edit = plan.edits().get(edit_index(*key));
            edit.is_some_and(|edit| matches!(edit.action, Action::Change(_)))
        };
        if !order.iter().any(changes) {
            return Ok(());
        }
        self.note_starts(code)?;
        let known = Hierarchy::of(class);
        let target = ChangedMethod::new(class, method, code, &known);
        let mut asked: Vec<(Bci, usize, &Change)> = Vec::new();
        for key in order {
            let edit = plan.edits().get(edit_index(*key)).copied();
            let Some(Edit {
                point,
                action: Action::Change(id),
            }) = edit
            else {
                continue;
            };
            let Location::At(bci) = point.location else {
                continue; // no plan holds such an edit
            };
            let change = plan
                .changed(id)
                .ok_or(SkipReason::NoSuchChange { change: id })?;
            if self.starts.get(usize::from(bci)) != Some(&1) {
                return Err(SkipReason::NoSuchLocation { bci });
            }
            asked.push((bci, edit_index(*key), change));
        }
        asked.sort_by_key(|asked| asked.0);
        for same in asked.chunk_by(|a, b| a.0 == b.0) {
            self.resolve_one(&target, same)?;
        }
        self.found.sort_by_key(|changed| changed.replacement.bci);
        let mut pairs = self.found.windows(2);
        let twice = pairs.find_map(|pair| match pair {
            [a, b] if a.replacement.bci == b.replacement.bci => Some(a.replacement.bci),
            _ => None,
        });
        match twice {
            Some(bci) => Err(SkipReason::ChangedTwice {
                bci: Bci(bci as u16),
            }),
            None => Ok(()),
        }
    }

    /// Resolves the changes of one instruction, with the indices of their edits.
    fn resolve_one(
        &mut self,
        target: &ChangedMethod<'_, '_>,
        asked: &[(Bci, usize, &Change)],
    ) -> Result<(), SkipReason> {
        let Some((bci, first, _)) = asked.first().copied() else {
            return Ok(());
        };
        let changes: Vec<&Change> = asked.iter().map(|asked| asked.2).collect();
        let replacing = changes
            .iter()
            .filter(|change| !matches!(change, Change::Around(_)));
        if replacing.count() > 1 {
            return Err(SkipReason::ChangedTwice { bci });
        }
        let wrong = |error| SkipReason::Change { bci, error };
        let replacements = target.resolve_all(bci, &changes).map_err(wrong)?;
        let is_branching =
            |change: &Change| matches!(change, Change::Around(code) if code.is_branching());
        let branching = asked.iter().find(|asked| is_branching(asked.2));
        let index = branching.map_or(first, |asked| asked.1);
        let all = replacements.into_iter();
        self.found.extend(all.map(|replacement| LoweredReplacement {
            index,
            replacement,
            offsets: (0, 0),
            start: 0,
            end: 0,
        }));
        Ok(())
    }

    fn note_starts(&mut self, code: &Code<'_, '_>) -> Result<(), SkipReason> {
        self.starts.clear();
        self.starts.resize(code.bytes().len(), 0);
        for instruction in code.instructions() {
            if let Some(start) = self.starts.get_mut(usize::from(instruction?.bci)) {
                *start = 1;
            }
        }
        Ok(())
    }

    /// Lowers all changes to code.
    pub(crate) fn lower(
        &mut self,
        context: &MethodContext<'_>,
        pool: &mut PoolWriter,
    ) -> Result<(), SkipReason> {
        for changed in &mut self.found {
            changed.start = self.code.len() as u32;
            let first = self.offsets.len();
            let code = &changed.replacement.code;
            lower(context, code, pool, &mut self.code, &mut self.offsets)
                .ok_or(SkipReason::PoolFull)?;
            changed.end = self.code.len() as u32;
            changed.offsets = (first, self.offsets.len());
        }
        Ok(())
    }
}
