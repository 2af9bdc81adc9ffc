//! Type analysis of the snippets of one method.

use crate::class::{ClassFile, Code};
use crate::index::{Bci, MethodIndex};
use crate::plan::{Action, Edit, EditPlan, Location, SkipReason};
use crate::replace::ChangedMethod;
use crate::snippet::{Snippet, SnippetError, SnippetId};
use crate::splice::order::edit_index;
use crate::typing::type_snippet;
use crate::typing::{
    Class, MethodContext, PointContext, PointTypes, ProgramPoint, StackEffect, Type, Typed,
};
use jvms::names;

/// A typed snippet at its location.
#[derive(Debug)]
pub(crate) struct Inserted<'t> {
    /// Index of its edit in the plan.
    pub(crate) index: usize,
    pub(crate) id: SnippetId,
    pub(crate) snippet: &'t Snippet,
    pub(crate) point: ProgramPoint,
    /// The value on the stack at its start and end.
    pub(crate) stack: Option<Type<'t>>,
    pub(crate) typed: Typed<'t>,
}

/// Code around an instruction that needs frames.
#[derive(Debug)]
pub(crate) struct Surrounding<'t> {
    /// Index of its edit in the plan.
    pub(crate) index: usize,
    pub(crate) bci: u32,
    at: PointContext<'t>,
    pub(crate) stack_effect: StackEffect<'t>,
}

impl<'t> Surrounding<'t> {
    /// Types the code that replaces the instruction.
    pub(crate) fn typed(
        &self,
        code: &'t Snippet,
        context: &MethodContext<'t>,
    ) -> Result<Typed<'t>, SnippetError> {
        let view = self.at.view(context).around(&self.stack_effect);
        let operands = &self.stack_effect.operands;
        type_snippet(code, &view.finding(operands))
    }
}

/// Facts about a method that insertion needs.
#[derive(Debug)]
pub(crate) struct Analysis<'t> {
    pub(crate) context: MethodContext<'t>,
    pub(crate) inserted: Vec<Inserted<'t>>,
    pub(crate) surroundings: Vec<Surrounding<'t>>,
    pub(crate) points: PointTypes<'t>,
    /// The ranges (start, end) that the handler of `Unwind` covers. Empty without edits there.
    pub(crate) covered: Vec<(u32, u32)>,
    /// Bcis of the changed instructions.
    pub(crate) changed: Vec<u32>,
    /// The types after inverted branches, if there are any and the verifier reads frames.
    pub(crate) behind: Option<PointTypes<'t>>,
}

/// Checks whether `edit` needs an [`Analysis`].
pub(crate) fn is_special(plan: &EditPlan, edit: &Edit) -> bool {
    matches!(edit.action, Action::Insert(_))
        || edit.point.location == Location::Unwind
        || plan.around(edit).is_some_and(Snippet::is_branching)
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
                wanted |= snippet.uses_variables()
                    || context.framed && snippet.is_branching()
                    || context.constructor && (snippet.uses_this() || snippet.is_branching());
            }
            if let Some(code) = plan.around(edit).filter(|code| code.is_branching()) {
                asked.push(ProgramPoint::of(edit.point.location, context.code));
                slots |= code.uses_parameters();
                wanted |= context.framed || context.constructor;
            }
        }
        if slots {
            context.find_lost(class, code)?;
        }
        asked.sort_unstable();
        let points = if wanted {
            PointTypes::known(class, &context, &asked, code.handler_bytes())?
        } else {
            PointTypes::default()
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
                let mut at_point = context.at(edit.point.location, ready);
                if snippet.uses_variables() {
                    let known = points.variables(point, context.framed);
                    at_point = at_point.with_variables(known);
                }
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
        let target = ChangedMethod::new(class, &method, code, &context.known);
        let surroundings = surroundings(plan, edits(), &target, &context, &points)?;
        if unwinds && method.name() == names::INIT && class.super_class().is_none() {
            return Err(SkipReason::CannotUnwind { reason: OF_OBJECT });
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
            surroundings,
            points,
            covered,
            behind: None,
        })
    }

    /// Computes the types after the branches at these ascending bcis.
    pub(crate) fn type_after_branches(
        &mut self,
        class: &ClassFile<'t>,
        code: &Code<'_, 't>,
        branches: &[u32],
    ) -> Result<(), SkipReason> {
        if self.context.framed {
            let asked = branches.iter().map(|bci| ProgramPoint::After(*bci));
            let asked: Vec<_> = asked.collect();
            let known = PointTypes::known(class, &self.context, &asked, code.handler_bytes())?;
            self.behind = Some(known);
        }
        Ok(())
    }

    /// Checks whether the method needs added frames.
    pub(crate) fn needs_frames(&self) -> bool {
        let branching = |found: &Inserted<'_>| {
            !found.typed.falls_through || found.typed.labels.iter().any(Option::is_some)
        };
        let code = !self.surroundings.is_empty() || self.inserted.iter().any(branching);
        self.context.framed && (!self.covered.is_empty() || self.behind.is_some() || code)
    }
}

/// Returns the edits that put code with branches around an instruction.
fn surroundings<'t, 'p>(
    plan: &EditPlan,
    edits: impl Iterator<Item = (usize, &'p Edit)>,
    target: &ChangedMethod<'t, '_>,
    context: &MethodContext<'t>,
    points: &PointTypes<'t>,
) -> Result<Vec<Surrounding<'t>>, SkipReason> {
    let mut found = Vec::new();
    for (index, edit) in edits {
        if let Location::At(bci) = edit.point.location
            && plan.around(edit).is_some_and(Snippet::is_branching)
        {
            let wrong = |error| SkipReason::Change { bci, error };
            let stack_effect = target.stack_effect_at(bci).map_err(wrong)?;
            found.push(surrounding(index, bci, stack_effect, context, points));
        }
    }
    Ok(found)
}

/// Returns the context of code around an instruction. The verifier may require that a receiver has the current class
/// (JVMS 4.10.1.8).
fn surrounding<'t>(
    index: usize,
    bci: Bci,
    mut stack_effect: StackEffect<'t>,
    context: &MethodContext<'t>,
    points: &PointTypes<'t>,
) -> Surrounding<'t> {
    let location = Location::At(bci);
    let point = ProgramPoint::of(location, context.code);
    let own = Type::Object(Class::plain(context.known.this));
    let count = stack_effect.operands.len();
    let stack = points.get(point).map_or(&[][..], |types| &types.stack);
    let first = stack.len().checked_sub(count).and_then(|at| stack.get(at));
    if let Some(receiver) = stack_effect.operands.first_mut()
        && first == Some(&own)
        && receiver.is_reference()
    {
        *receiver = own;
    }
    let ready = !context.constructor || points.is_ready(point, context.code);
    Surrounding {
        index,
        bci: u32::from(bci.0),
        at: context.at(location, ready),
        stack_effect,
    }
}

/// The constructor of `Object` returns by an instruction of its own, `_return_register_finalizer`, which may throw. C2
/// then takes the first handler and ignores ranges. For a catch-all handler it fails to find the caught class.
const OF_OBJECT: &str =
    "HotSpot crashes when it compiles the constructor of java.lang.Object with a handler";

/// Returns the ranges that a catch-all handler may cover.
fn covered(
    context: &MethodContext<'_>,
    points: &PointTypes<'_>,
) -> Result<Vec<(u32, u32)>, SkipReason> {
    if !context.constructor {
        return Ok(vec![(0, context.code.len() as u32)]);
    }
    if points.ready.is_empty() {
        let reason = "the call of super() or this() in the constructor cannot be located";
        return Err(SkipReason::CannotUnwind { reason });
    }
    Ok(points.ready.clone())
}
