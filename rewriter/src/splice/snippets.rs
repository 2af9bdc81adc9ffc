//! The snippets of one method: typed against it and turned into code.

mod lower;
mod method;

pub(crate) use lower::{Lowered, load_opcode, lower};
pub(crate) use method::{Facts, setting};

use crate::limits::MAX_LOCALS;
use crate::plan::{Action, Edit, EditPlan};
use crate::snippet::{SnippetId, Typed, check};
use crate::splice::SkipReason;
use crate::splice::layout::edit_index;
use crate::splice::pool::PoolWriter;
use crate::splice::snippets::lower::Lowering;

/// The code of a method's snippets; all tables are reused for the next.
#[derive(Debug, Default)]
pub(crate) struct Snippets {
    /// Each snippet that the method uses once, by its number.
    ids: Vec<SnippetId>,
    lowered: Vec<Lowered>,
    code: Vec<u8>,
    /// Where each operation begins in its snippet's code.
    offsets: Vec<u32>,
    /// Slots of the method and of the snippets.
    pub(crate) locals: u32,
}

impl Snippets {
    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.lowered.clear();
        self.code.clear();
        self.offsets.clear();
        self.locals = 0;
    }

    pub(crate) fn get(&self, id: SnippetId) -> Option<&Lowered> {
        let index = self.ids.binary_search(&id).ok()?;
        self.lowered.get(index)
    }

    pub(crate) fn code(&self, id: SnippetId) -> &[u8] {
        let range = self
            .get(id)
            .map(|found| found.start as usize..found.end as usize);
        range
            .and_then(|range| self.code.get(range))
            .unwrap_or_default()
    }

    #[expect(dead_code, reason = "for the frames of branching snippets")]
    /// Where operation `at` begins in the snippet's code.
    pub(crate) fn offset(&self, id: SnippetId, at: u32) -> Option<u32> {
        let first = self.get(id)?.offsets;
        self.offsets.get(first.wrapping_add(at) as usize).copied()
    }

    /// Types all snippets of a method and makes their code. The types are those
    /// of each edit of `order` that is a snippet, in its order.
    pub(crate) fn prepare<'t>(
        &mut self,
        facts: &Facts<'t, '_>,
        plan: &'t EditPlan,
        order: &[u64],
        pool: &mut PoolWriter,
    ) -> Result<Vec<Inserted<'t>>, SkipReason> {
        self.clear();
        self.locals = facts.locals;
        let mut inserted: Vec<Inserted<'t>> = Vec::new();
        for key in order {
            let index = edit_index(*key);
            let Some(Edit {
                site,
                action: Action::Insert(id),
            }) = plan.edits().get(index).copied()
            else {
                continue;
            };
            let wrong = |error| SkipReason::Snippet {
                place: site.place,
                error,
            };
            let snippet = plan
                .snippet(id)
                .ok_or(SkipReason::NoSuchSnippet { snippet: id })?;
            let setting = setting(facts, site.place);
            let typed = check(snippet, &setting.view(facts)).map_err(wrong)?;
            self.locals = self.locals.max(facts.locals.wrapping_add(typed.slots));
            if self.locals > MAX_LOCALS {
                return Err(SkipReason::TooManyLocals);
            }
            let place = match self.ids.binary_search(&id) {
                Ok(place) => place,
                Err(place) => {
                    let (start, offsets) = (self.code.len() as u32, self.offsets.len() as u32);
                    let lowering = Lowering {
                        facts,
                        pool,
                        code: &mut self.code,
                        offsets: &mut self.offsets,
                    };
                    lowering.run(snippet).ok_or(SkipReason::PoolFull)?;
                    let end = self.code.len() as u32;
                    self.ids.insert(place, id);
                    self.lowered.insert(
                        place,
                        Lowered {
                            start,
                            end,
                            offsets,
                            stack: 0,
                        },
                    );
                    place
                }
            };
            if let Some(lowered) = self.lowered.get_mut(place) {
                lowered.stack = lowered.stack.max(typed.deepest);
            }
            inserted.push(Inserted { index, id, typed });
        }
        Ok(inserted)
    }
}

/// A snippet at its site.
#[derive(Debug)]
pub(crate) struct Inserted<'t> {
    /// Of the edit in the plan.
    #[expect(dead_code, reason = "for the frames of branching snippets")]
    pub(crate) index: usize,
    #[expect(dead_code, reason = "for the frames of branching snippets")]
    pub(crate) id: SnippetId,
    pub(crate) typed: Typed<'t>,
}
