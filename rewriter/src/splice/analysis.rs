//! The snippets of one method, typed against it.

use crate::class::{ClassFile, Code};
use crate::index::MethodIndex;
use crate::plan::{Action, Edit, EditPlan, Location, SkipReason};
use crate::snippet::{Snippet, SnippetId};
use crate::splice::order::edit_index;
use crate::typing::type_snippet;
use crate::typing::{MethodContext, PointTypes, ProgramPoint, Type, Typed};

/// A snippet at its place.
#[derive(Debug)]
pub(crate) struct Inserted<'t> {
    /// Of the edit in the plan.
    pub(crate) index: usize,
    pub(crate) id: SnippetId,
    pub(crate) snippet: &'t Snippet,
    pub(crate) point: ProgramPoint,
    /// What it finds on the stack and leaves there.
    pub(crate) stack: Option<Type<'t>>,
    pub(crate) typed: Typed<'t>,
}

/// What is to be known of a method before code goes into it.
#[derive(Debug)]
pub(crate) struct Analysis<'t> {
    pub(crate) context: MethodContext<'t>,
    pub(crate) inserted: Vec<Inserted<'t>>,
    pub(crate) points: PointTypes<'t>,
    /// What the handler of `Unwind` covers: from, to. Empty without edits there.
    pub(crate) covered: Vec<(u32, u32)>,
    /// Bcis of the instructions that are changed themselves.
    pub(crate) changed: Vec<u32>,
}

/// True when `edit` needs an [`Analysis`].
pub(crate) fn is_special(edit: &Edit) -> bool {
    matches!(edit.action, Action::Insert(_)) || edit.point.location == Location::Unwind
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
        let mut context = MethodContext::of(class, &method, code)?;
        let edits = || {
            order.iter().filter_map(|key| {
                let index = edit_index(*key);
                plan.edits().get(index).map(|edit| (index, edit))
            })
        };
        let mut asked = Vec::new();
        let unwinds = edits().any(|(_, edit)| edit.point.location == Location::Unwind);
        let mut slots = unwinds && context.framed;
        let mut wanted = unwinds && context.constructor;
        for (_, edit) in edits() {
            if let Action::Insert(id) = edit.action {
                let snippet = plan
                    .snippet(id)
                    .ok_or(SkipReason::NoSuchSnippet { snippet: id })?;
                asked.push(ProgramPoint::of(edit.point.location, context.code));
                slots |= edit.point.location != Location::Entry && snippet.uses_parameters();
                wanted |= context.framed && snippet.is_branching()
                    || context.constructor && (snippet.uses_this() || snippet.is_branching());
            }
        }
        if slots {
            context.find_lost(class, code)?;
        }
        asked.sort_unstable();
        let points = match wanted {
            true if context.framed => PointTypes::follow(class, &context, &asked)?,
            true if context.constructor => {
                PointTypes::straight(class, &context, code.handler_bytes())?
            }
            _ => PointTypes::default(),
        };
        let mut inserted = Vec::new();
        for (index, edit) in edits() {
            if let Action::Insert(id) = edit.action
                && let Some(snippet) = plan.snippet(id)
            {
                let wrong = |error| SkipReason::Snippet {
                    location: edit.point.location,
                    error,
                };
                let point = ProgramPoint::of(edit.point.location, context.code);
                let ready = !context.constructor || points.is_ready(point, context.code);
                let at_point = context.at(edit.point.location, ready);
                let typed = type_snippet(snippet, &at_point.view(&context)).map_err(wrong)?;
                let stack = at_point.stack();
                inserted.push(Inserted {
                    index,
                    id,
                    snippet,
                    point,
                    stack,
                    typed,
                });
            }
        }
        let covered = if unwinds {
            covered(&context, &points)?
        } else {
            Vec::new()
        };
        let changed = edits().filter_map(|(_, edit)| match edit.point.location {
            Location::At(bci) => Some(u32::from(bci.0)),
            _ => None,
        });
        let changed = changed.collect();
        Ok(Analysis {
            changed,
            context,
            inserted,
            points,
            covered,
        })
    }

    /// True when the method needs frames that were not there.
    pub(crate) fn needs_frames(&self) -> bool {
        let branching = |found: &Inserted<'_>| {
            !found.typed.falls_through || found.typed.labels.iter().any(Option::is_some)
        };
        self.context.framed && (!self.covered.is_empty() || self.inserted.iter().any(branching))
    }
}

/// What a handler of everything may cover.
fn covered(
    context: &MethodContext<'_>,
    points: &PointTypes<'_>,
) -> Result<Vec<(u32, u32)>, SkipReason> {
    if !context.constructor {
        return Ok(vec![(0, context.code.len() as u32)]);
    }
    if points.ready.is_empty() {
        let reason = "where the constructor has called super() or this() cannot be shown";
        return Err(SkipReason::CannotUnwind { reason });
    }
    Ok(points.ready.clone())
}
