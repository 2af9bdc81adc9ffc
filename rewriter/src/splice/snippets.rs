//! The snippets of one method: typed against it and turned into code.

mod extra;
mod lower;
mod method;
mod sites;

pub(crate) use extra::{Extra, Placed, Placement, extras, merged_frames, write_frames};
pub(crate) use lower::{Lowered, load_opcode, lower};
pub(crate) use method::Facts;
pub(crate) use sites::{Moment, Sites, Types};

use crate::class::{ClassFile, Code};
use crate::index::MethodIndex;
use crate::limits::MAX_LOCALS;
use crate::plan::{Action, Edit, EditPlan, Place};
use crate::snippet::{Snippet, SnippetId, Typed, check};
use crate::splice::SkipReason;
use crate::splice::layout::edit_index;
use crate::splice::pool::PoolWriter;
use crate::verify::Type;

/// A snippet at its place.
#[derive(Debug)]
pub(crate) struct Inserted<'t> {
    /// Of the edit in the plan.
    pub(crate) index: usize,
    pub(crate) id: SnippetId,
    pub(crate) snippet: &'t Snippet,
    pub(crate) moment: Moment,
    /// What it finds on the stack and leaves there.
    pub(crate) stack: Option<Type<'t>>,
    pub(crate) typed: Typed<'t>,
}

/// What is to be known of a method before code goes into it.
#[derive(Debug)]
pub(crate) struct Analysis<'t> {
    pub(crate) facts: Facts<'t>,
    pub(crate) inserted: Vec<Inserted<'t>>,
    pub(crate) sites: Sites<'t>,
    /// What the handler of `Unwind` covers: from, to. Empty without edits there.
    pub(crate) covered: Vec<(u32, u32)>,
    /// Bcis of the instructions that are changed themselves.
    pub(crate) changed: Vec<u32>,
}

/// True when `edit` needs an [`Analysis`].
pub(crate) fn is_special(edit: &Edit) -> bool {
    matches!(edit.action, Action::Insert(_)) || edit.site.place == Place::Unwind
}

impl<'t> Analysis<'t> {
    /// Types the snippets among the edits of a method.
    pub(crate) fn of(
        class: &ClassFile<'t>,
        index: MethodIndex,
        code: &Code<'_, 't>,
        plan: &'t EditPlan,
        order: &[u64],
    ) -> Result<Self, SkipReason> {
        let method = class.method(index).ok_or(SkipReason::NoCode)?;
        let mut facts = Facts::of(class, &method, code)?;
        let edits = || {
            order.iter().filter_map(|key| {
                let index = edit_index(*key);
                plan.edits().get(index).map(|edit| (index, edit))
            })
        };
        let mut asked = Vec::new();
        let unwinds = edits().any(|(_, edit)| edit.site.place == Place::Unwind);
        let mut slots = unwinds && facts.framed;
        let mut wanted = unwinds && facts.constructor;
        for (_, edit) in edits() {
            if let Action::Insert(id) = edit.action {
                let snippet = plan
                    .snippet(id)
                    .ok_or(SkipReason::NoSuchSnippet { snippet: id })?;
                asked.push(Moment::of(edit.site.place, facts.code));
                slots |= edit.site.place != Place::Entry && snippet.uses_parameters();
                wanted |= facts.framed && snippet.is_branching()
                    || facts.constructor && (snippet.uses_this() || snippet.is_branching());
            }
        }
        if slots {
            facts.find_lost(class, code)?;
        }
        asked.sort_unstable();
        let sites = match wanted {
            true if facts.framed => Sites::follow(class, &facts, &asked)?,
            true if facts.constructor => Sites::straight(class, &facts, code.handler_bytes())?,
            _ => Sites::default(),
        };
        let mut inserted = Vec::new();
        for (index, edit) in edits() {
            if let Action::Insert(id) = edit.action
                && let Some(snippet) = plan.snippet(id)
            {
                let wrong = |error| SkipReason::Snippet {
                    place: edit.site.place,
                    error,
                };
                let moment = Moment::of(edit.site.place, facts.code);
                let ready = !facts.constructor || sites.is_ready(moment, facts.code);
                let setting = facts.setting(edit.site.place, ready);
                let typed = check(snippet, &setting.view(&facts)).map_err(wrong)?;
                let stack = setting.stack();
                inserted.push(Inserted {
                    index,
                    id,
                    snippet,
                    moment,
                    stack,
                    typed,
                });
            }
        }
        let covered = if unwinds {
            covered(&facts, &sites)?
        } else {
            Vec::new()
        };
        let changed = edits().filter_map(|(_, edit)| match edit.site.place {
            Place::At(bci) => Some(u32::from(bci.0)),
            _ => None,
        });
        let changed = changed.collect();
        Ok(Analysis {
            changed,
            facts,
            inserted,
            sites,
            covered,
        })
    }

    /// True when the method needs frames that were not there.
    pub(crate) fn needs_frames(&self) -> bool {
        let branching = |found: &Inserted<'_>| {
            !found.typed.falls_through || found.typed.labels.iter().any(Option::is_some)
        };
        self.facts.framed && (!self.covered.is_empty() || self.inserted.iter().any(branching))
    }
}

/// What a handler of everything may cover.
fn covered(facts: &Facts<'_>, sites: &Sites<'_>) -> Result<Vec<(u32, u32)>, SkipReason> {
    if !facts.constructor {
        return Ok(vec![(0, facts.code.len() as u32)]);
    }
    if sites.ready.is_empty() {
        let reason = "where the constructor has called super() or this() cannot be shown";
        return Err(SkipReason::CannotUnwind { reason });
    }
    Ok(sites.ready.clone())
}

/// The code of a method's snippets; all tables are reused for the next.
#[derive(Debug, Default)]
pub(crate) struct Snippets {
    /// Each snippet that the method uses once, by its number.
    ids: Vec<SnippetId>,
    lowered: Vec<Lowered>,
    code: Vec<u8>,
    /// Where each operation begins in its snippet's code, and where that ends.
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

    /// Where each operation begins in the snippet's code, and where that ends.
    pub(crate) fn offsets(&self, id: SnippetId) -> &[u32] {
        let range = self
            .get(id)
            .map(|found| found.offsets.0 as usize..found.offsets.1 as usize);
        range
            .and_then(|range| self.offsets.get(range))
            .unwrap_or_default()
    }

    /// Makes the code of all snippets of a method.
    pub(crate) fn lower(
        &mut self,
        analysis: &Analysis<'_>,
        pool: &mut PoolWriter,
    ) -> Result<(), SkipReason> {
        let facts = &analysis.facts;
        self.locals = facts.locals();
        for Inserted {
            id, snippet, typed, ..
        } in &analysis.inserted
        {
            self.locals = self.locals.max(facts.locals().wrapping_add(typed.slots));
            if self.locals > MAX_LOCALS {
                return Err(SkipReason::TooManyLocals);
            }
            let place = match self.ids.binary_search(id) {
                Ok(place) => place,
                Err(place) => {
                    let (start, first) = (self.code.len() as u32, self.offsets.len() as u32);
                    let (code, offsets) = (&mut self.code, &mut self.offsets);
                    lower(facts, snippet, pool, code, offsets).ok_or(SkipReason::PoolFull)?;
                    let lowered = Lowered {
                        start,
                        end: self.code.len() as u32,
                        offsets: (first, self.offsets.len() as u32),
                        stack: 0,
                    };
                    self.ids.insert(place, *id);
                    self.lowered.insert(place, lowered);
                    place
                }
            };
            if let Some(lowered) = self.lowered.get_mut(place) {
                lowered.stack = lowered.stack.max(typed.deepest);
            }
        }
        Ok(())
    }
}
