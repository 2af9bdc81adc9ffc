//! Merges several plans for one class into layers: the plan that comes first is outermost.

mod boundaries;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use thiserror::Error;

use crate::class::ClassFile;
use crate::edits::{Change, ClassEdit};
use crate::index::{Bci, MethodIndex};
use crate::plan::{Action, Edit, EditPlan, PlanError};
use crate::snippet::{Snippet, SnippetId};
use crate::structure::apply_class_edits;
use ::edits::{InsertionPoint, Location};
use boundaries::Boundaries;

/// One of the plans to merge. The first one is outermost.
#[derive(Debug, Clone, Copy)]
pub struct PluginPlan<'p> {
    /// The name of its plugin.
    pub by: &'p str,
    /// The plan.
    pub plan: &'p EditPlan,
    /// Offset added to the numbers of its hit probes.
    pub hits: u32,
}

/// Several plans as one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MergedPlan {
    /// The plan, in layers.
    pub plan: EditPlan,
    /// The edits that have no effect beside those of other plans.
    pub left_out: Vec<LeftOut>,
}

/// An edit that is left out, because other plans come first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The method.
    pub method: MethodIndex,
    /// The name of the plan's plugin.
    pub by: String,
    /// The reason as text.
    pub cause: String,
    /// True if the plan's probes in the method are left out, so that it is not measured.
    pub is_unmeasured: bool,
}

/// The reason why plans cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Conflict {
    /// Two plans want an edit that is possible only once.
    #[error("`{first}` and `{second}` both {what}; switch one of them off for this class")]
    Both {
        /// The plan that comes first.
        first: String,
        /// The other.
        second: String,
        /// The edit.
        what: String,
    },
    /// The plans exceed a limit together.
    #[error("the plans are too long together: {0}")]
    TooLong(PlanError),
}

/// An edit that is possible only once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Once {
    Member(String),
    Annotation(String),
    Attribute(String),
    Name(String),
    Body(MethodIndex),
}

impl Once {
    fn of(edit: &ClassEdit) -> Option<Self> {
        Some(match edit {
            ClassEdit::AddField(field) => {
                Once::Member(format!("field {}:{}", field.name, field.descriptor))
            }
            ClassEdit::AddMethod(method) => {
                Once::Member(format!("method {}{}", method.name, method.descriptor))
            }
            ClassEdit::AddInterface(_) => return None,
            ClassEdit::AddAnnotation {
                target, annotation, ..
            } => Once::Annotation(format!("{} to {target}", annotation.descriptor)),
            ClassEdit::AddAttribute { target, name, .. } => {
                Once::Attribute(format!("{name} to {target}"))
            }
            ClassEdit::RenameMember { member, .. } => Once::Name(format!(
                "{}.{}:{}",
                member.owner, member.name, member.descriptor
            )),
            ClassEdit::RenameType { from, .. } => Once::Name(format!("type {from}")),
            ClassEdit::PrefixNative(wrapper) => Once::Body(wrapper.method),
            ClassEdit::ReplaceBody { method, .. } => Once::Body(*method),
        })
    }

    fn describe(&self) -> String {
        match self {
            Once::Member(member) => format!("add {member}"),
            Once::Annotation(what) => format!("add annotation {what}"),
            Once::Attribute(what) => format!("add attribute {what}"),
            Once::Name(what) => format!("rename {what}"),
            Once::Body(method) => format!("replace or wrap method {method}"),
        }
    }
}

/// A merge in progress.
#[derive(Default)]
struct Merge<'p> {
    plan: EditPlan,
    done: HashMap<Once, (&'p str, Option<&'p ClassEdit>)>,
    interfaces: Vec<&'p str>,
    /// The first plan that changes each instruction by other means than code around it.
    changed: BTreeMap<(MethodIndex, Bci), &'p str>,
    left_out: Vec<LeftOut>,
}

impl EditPlan {
    /// Merges plans for `class` into one. Each plan is a layer around those that follow it, and all are around the code
    /// of the class:
    ///
    /// * where control enters (`Entry`, `Before`, behind the `super()` of a constructor), the first plan's code runs
    ///   first; where it leaves (`FallThrough`, `Jump`, `Unwind`, `Before` a return or `athrow`), the last plan's does;
    /// * an exception passes the `Unwind` code of all plans whose entry has run and whose exit has not, from the last
    ///   plan to the first;
    /// * if inserted code returns from the method, the exits of the plans around it run first. The exit of a plan is the
    ///   code that it inserts before every return, see also [`EditPlan::exit`];
    /// * code around an instruction surrounds that of later plans. Other changes of an instruction, and new bodies, take
    ///   the place of the code of the class, so all plans are around them. Of several, the first plan's applies.
    ///
    /// The added members of an earlier plan precede later ones. Probes get new numbers as each part requests. Plans may
    /// agree on an added interface and on a new name; each then applies once. One plan may add several attributes of one
    /// name. All other edits of the class that are possible only once conflict.
    ///
    /// # Errors
    /// The first conflict.
    pub fn merge(class: &ClassFile<'_>, parts: &[PluginPlan<'_>]) -> Result<MergedPlan, Conflict> {
        Self::merge_with(class, parts, EditPlan::new())
    }

    /// Does the same as [`EditPlan::merge`] with the memory of an earlier plan.
    ///
    /// # Errors
    /// As [`EditPlan::merge`]; the memory is then lost.
    pub fn merge_with(
        class: &ClassFile<'_>,
        parts: &[PluginPlan<'_>],
        mut memory: EditPlan,
    ) -> Result<MergedPlan, Conflict> {
        memory.clear();
        let mut merge = Merge {
            plan: memory,
            ..Merge::default()
        };
        for part in parts {
            merge.class_edits(part)?;
        }
        let mut working = parts.iter().filter(|part| !part.plan.is_empty());
        match (working.next(), working.next()) {
            (None, _) => {}
            (Some(part), None) => {
                merge.plan.reserve(part.plan.edits().len());
                let mut edits = part.plan.edits().iter();
                edits
                    .try_for_each(|edit| merge.edit(part, part.plan, *edit, &[]))
                    .map_err(Conflict::TooLong)?;
            }
            _ => merge.layers(class, parts)?,
        }
        let mut left_out = merge.left_out;
        left_out.dedup();
        Ok(MergedPlan {
            plan: merge.plan,
            left_out,
        })
    }

    /// Returns this plan for a class file with other bodies of the methods that `is_moved` names, and those of them with
    /// edits that fit no other body.
    fn around_bodies(
        &self,
        class: &ClassFile<'_>,
        bodies: &ClassFile<'_>,
        is_moved: impl Fn(MethodIndex) -> bool,
    ) -> (EditPlan, BTreeSet<MethodIndex>) {
        let mut plan = self.without_edits();
        let mut moved = BTreeSet::new();
        let mut lost = BTreeSet::new();
        for edit in self.edits() {
            let method = edit.point.method;
            if !is_moved(method) {
                // The plan is not longer than before.
                let _ = plan.push(*edit);
            } else if moved.insert(method)
                && !self.around_body((class, method), (bodies, method), &mut plan)
            {
                lost.insert(method);
            }
        }
        (plan, lost)
    }

    /// Adds the edits at the entry and the exits of a method to a plan for another body of it. Returns false if it has
    /// others, which fit no other body.
    pub fn around_body(
        &self,
        (class, method): (&ClassFile<'_>, MethodIndex),
        (other, index): (&ClassFile<'_>, MethodIndex),
        plan: &mut EditPlan,
    ) -> bool {
        let bounds = |class: &ClassFile<'_>, index| {
            let method = class.method(index);
            method
                .map(|method| Boundaries::of(&method))
                .unwrap_or_default()
        };
        let (old, new) = (bounds(class, method), bounds(other, index));
        let mut moved: Vec<(Location, &Snippet)> = Vec::new();
        let begun = self.common(method, old.constructed());
        for location in new.constructed() {
            moved.extend(begun.iter().map(|snippet| (location, *snippet)));
        }
        let exits = self.exit_code(method, &old);
        for location in new.returns() {
            moved.extend(exits.iter().map(|snippet| (location, *snippet)));
        }
        for snippet in &exits {
            let _ = plan.exit(index, (*snippet).clone());
        }
        let mut all = true;
        for edit in self
            .edits()
            .iter()
            .filter(|edit| edit.point.method == method)
        {
            let snippet = match edit.action {
                Action::Insert(id) => self.snippet(id),
                _ => None,
            };
            match (edit.point.location, snippet) {
                (location @ (Location::Entry | Location::Unwind), Some(snippet)) => {
                    moved.push((location, snippet));
                }
                (location, Some(snippet)) if old.is_entry(location) => {
                    all &= begun.contains(&snippet);
                }
                (location, Some(snippet)) if old.is_return(location) => {
                    all &= exits.contains(&snippet);
                }
                _ => all = false,
            }
        }
        for (location, snippet) in moved {
            let point = InsertionPoint {
                method: index,
                location,
            };
            all &= plan.insert(point, snippet.clone()).is_ok();
        }
        all
    }

    /// Returns the code for the exits of a method: the stated code, or that before every return.
    fn exit_code(&self, method: MethodIndex, bounds: &Boundaries) -> Vec<&Snippet> {
        let stated = self.exits().filter(|stated| stated.0 == method);
        let stated: Vec<&Snippet> = stated.map(|stated| stated.1).collect();
        match stated.is_empty() {
            true => self.common(method, bounds.returns()),
            false => stated,
        }
    }

    /// Returns the snippets that a method has at each of these locations, in order.
    fn common(
        &self,
        method: MethodIndex,
        mut locations: impl Iterator<Item = Location>,
    ) -> Vec<&Snippet> {
        let at = |location: Location| -> Vec<&Snippet> {
            let point = InsertionPoint { method, location };
            let edits = self.edits().iter().filter(|edit| edit.point == point);
            let inserted = edits.filter_map(|edit| match edit.action {
                Action::Insert(id) => self.snippet(id),
                _ => None,
            });
            inserted.collect()
        };
        let Some(first) = locations.next() else {
            return Vec::new();
        };
        let mut common = at(first);
        for location in locations {
            let here = at(location);
            common.retain(|snippet| here.contains(snippet));
        }
        common
    }
}

/// The plans of a merge, with the exits that other plans' code has to run.
struct Layers<'c, 'a, 'p> {
    class: &'c ClassFile<'a>,
    /// The class with the new bodies, if there are any.
    bodies: Option<&'c ClassFile<'c>>,
    plans: Vec<Cow<'p, EditPlan>>,
    boundaries: HashMap<MethodIndex, Boundaries>,
    exits: HashMap<MethodIndex, Vec<Snippet>>,
}

impl Layers<'_, '_, '_> {
    fn boundaries(&mut self, method: MethodIndex) -> &Boundaries {
        let (class, bodies) = (self.class, self.bodies);
        self.boundaries.entry(method).or_insert_with(|| {
            let found = match bodies {
                Some(bodies) => bodies.method(method).map(|method| Boundaries::of(&method)),
                None => class.method(method).map(|method| Boundaries::of(&method)),
            };
            found.unwrap_or_default()
        })
    }

    /// Returns the exit of a method for each layer, with the exits of outer layers before its own returns.
    fn exits(&mut self, method: MethodIndex) -> &[Snippet] {
        if !self.exits.contains_key(&method) {
            let bounds = self.boundaries(method).clone();
            let mut found: Vec<Snippet> = Vec::new();
            for plan in &self.plans {
                let mut whole = Snippet::new();
                for snippet in plan.exit_code(method, &bounds) {
                    let outer: Vec<Snippet> = found.iter().rev().cloned().collect();
                    whole.add_code(&snippet.with_exits(&outer));
                }
                found.push(whole);
            }
            self.exits.insert(method, found);
        }
        self.exits.get(&method).map_or(&[], Vec::as_slice)
    }

    /// Returns the exits that a return in inserted code at this location of `layer` has to run, in order.
    fn exits_around(&mut self, point: InsertionPoint, layer: usize) -> Vec<Snippet> {
        let bounds = self.boundaries(point.method);
        let location = point.location;
        let is_at_edge =
            bounds.is_entry(location) || bounds.is_return(location) || location == Location::Unwind;
        let exits = self.exits(point.method).iter().enumerate().rev();
        let around = exits.filter(|(of, exit)| {
            let active = if is_at_edge {
                *of < layer
            } else {
                *of != layer
            };
            active && !exit.is_empty()
        });
        around.map(|(_, exit)| exit.clone()).collect()
    }
}

impl<'p> Merge<'p> {
    fn once(
        &mut self,
        once: Once,
        by: &'p str,
        edit: Option<&'p ClassEdit>,
    ) -> Result<bool, Conflict> {
        let words = once.describe();
        if let (Once::Body(method), Some(ClassEdit::ReplaceBody { .. })) = (&once, edit)
            && let Some((first, Some(ClassEdit::ReplaceBody { .. }))) = self.done.get(&once)
            && *first != by
        {
            self.left_out.push(LeftOut {
                method: *method,
                by: by.to_owned(),
                cause: format!("plugin `{first}`, which is further out, replaces its body"),
                is_unmeasured: false,
            });
            return Ok(false);
        }
        let is_attribute = matches!(once, Once::Attribute(_));
        let Some((first, known)) = self.done.insert(once, (by, edit)) else {
            return Ok(true);
        };
        let renames = matches!(
            edit,
            Some(ClassEdit::RenameMember { .. } | ClassEdit::RenameType { .. })
        );
        if renames && known == edit {
            return Ok(false);
        }
        if is_attribute && first == by {
            // A plan may add several attributes of one name. Duplicates of single ones were refused on request.
            return Ok(true);
        }
        Err(Conflict::Both {
            first: first.to_owned(),
            second: by.to_owned(),
            what: words,
        })
    }

    fn class_edits(&mut self, part: &PluginPlan<'p>) -> Result<(), Conflict> {
        for edit in part.plan.class_edits() {
            let wanted = match (Once::of(edit), edit) {
                (Some(once), _) => self.once(once, part.by, Some(edit))?,
                (None, ClassEdit::AddInterface(name)) => {
                    let known = self.interfaces.contains(&name.as_str());
                    self.interfaces.push(name);
                    !known
                }
                (None, _) => true,
            };
            if wanted {
                let added = self.plan.edit_class(edit.clone());
                added.map_err(Conflict::TooLong)?;
            }
        }
        Ok(())
    }

    /// Checks for new bodies of methods.
    fn has_bodies(&self) -> bool {
        let mut edits = self.plan.class_edits().iter();
        edits.any(|edit| matches!(edit, ClassEdit::ReplaceBody { .. }))
    }

    /// Returns the class file with the new bodies alone; `None` if they do not fit.
    fn with_bodies(&self, class: &ClassFile<'_>) -> Option<Vec<u8>> {
        let mut bodies = EditPlan::new();
        for edit in self.plan.class_edits() {
            if matches!(edit, ClassEdit::ReplaceBody { .. }) {
                bodies.edit_class(edit.clone()).ok()?;
            }
        }
        Some(apply_class_edits(class, &bodies).ok()?.bytes)
    }

    /// Adds the edits of all plans, each as a layer.
    fn layers(&mut self, class: &ClassFile<'_>, parts: &[PluginPlan<'p>]) -> Result<(), Conflict> {
        let bytes = match self.has_bodies() {
            true => self.with_bodies(class),
            false => None,
        };
        let bodies = bytes.as_deref().map(ClassFile::read);
        let bodies = bodies.and_then(Result::ok);
        let mut layers = Layers {
            class,
            bodies: bodies.as_ref(),
            plans: parts.iter().map(|part| Cow::Borrowed(part.plan)).collect(),
            boundaries: HashMap::new(),
            exits: HashMap::new(),
        };
        if let Some(bodies) = &bodies {
            self.move_to_bodies((class, bodies), parts, &mut layers.plans);
        }
        let count: usize = layers.plans.iter().map(|plan| plan.edits().len()).sum();
        self.plan.reserve(count);
        let plans: Vec<Cow<'_, EditPlan>> = layers.plans.clone();
        let each = || (0_u16..).zip(plans.iter().zip(parts));
        for (layer, (plan, part)) in each() {
            self.layer(&mut layers, (layer, plan, part), false)?;
        }
        for (layer, (plan, part)) in each().collect::<Vec<_>>().into_iter().rev() {
            self.layer(&mut layers, (layer, plan, part), true)?;
        }
        Ok(())
    }

    /// Moves the edits of other plans to the new bodies.
    fn move_to_bodies(
        &mut self,
        (class, bodies): (&ClassFile<'_>, &ClassFile<'_>),
        parts: &[PluginPlan<'p>],
        plans: &mut [Cow<'_, EditPlan>],
    ) {
        let done = &self.done;
        let replacing = |method: MethodIndex| match done.get(&Once::Body(method)) {
            Some((by, Some(edit @ ClassEdit::ReplaceBody { .. }))) => Some((*by, *edit)),
            _ => None,
        };
        for (plan, part) in plans.iter_mut().zip(parts) {
            let moves = |method: MethodIndex| {
                let by_other =
                    |(_, edit): (&str, &ClassEdit)| !part.plan.class_edits().contains(edit);
                replacing(method).is_some_and(by_other)
            };
            let mut edits = part.plan.edits().iter();
            if !edits.any(|edit| moves(edit.point.method)) {
                continue;
            }
            let (moved, lost) = part.plan.around_bodies(class, bodies, moves);
            *plan = Cow::Owned(moved);
            for method in lost {
                let by = replacing(method).map_or("", |(by, _)| by);
                self.left_out.push(LeftOut {
                    method,
                    by: part.by.to_owned(),
                    cause: format!(
                        "plugin `{by}` replaces its body, so only edits at its entry and exits remain"
                    ),
                    is_unmeasured: part.plan.has_probes(method),
                });
            }
        }
    }

    /// Adds the edits of one layer at which control leads out, or the others.
    fn layer(
        &mut self,
        layers: &mut Layers<'_, '_, '_>,
        (layer, plan, part): (u16, &EditPlan, &PluginPlan<'p>),
        outwards: bool,
    ) -> Result<(), Conflict> {
        self.plan.begin_layer(layer);
        for edit in plan.edits() {
            let InsertionPoint { method, location } = edit.point;
            if layers.boundaries(method).leads_out(location) != outwards {
                continue;
            }
            let returns = plan.code_of(edit).is_some_and(Snippet::returns);
            let exits = match returns {
                true => layers.exits_around(edit.point, usize::from(layer)),
                false => Vec::new(),
            };
            self.edit(part, plan, *edit, &exits)
                .map_err(Conflict::TooLong)?;
        }
        Ok(())
    }

    /// Adds an edit of `plan`, which is that of `part` or made from it, with `exits` before the returns of its code.
    fn edit(
        &mut self,
        part: &PluginPlan<'p>,
        plan: &EditPlan,
        edit: Edit,
        exits: &[Snippet],
    ) -> Result<(), PlanError> {
        let point = edit.point;
        let action = match edit.action {
            Action::Hit(probe) => Action::Hit(probe.saturating_add(part.hits)),
            // The caller knows the storage and adds the code.
            Action::Count(_) => return Ok(()),
            Action::Insert(id) => match plan.snippet(id) {
                Some(snippet) if exits.is_empty() => {
                    Action::Insert(self.plan.keep(snippet.clone())?)
                }
                Some(snippet) => Action::Insert(self.plan.keep(snippet.with_exits(exits))?),
                // The number belongs to another plan, so splicing will skip the method.
                None => Action::Insert(SnippetId(u32::MAX)),
            },
            Action::Change(id) => {
                let (Some(change), Location::At(bci)) = (plan.changed(id), point.location) else {
                    return Ok(());
                };
                let change = match change {
                    Change::Around(code) => Change::Around(code.with_exits(exits)),
                    change => {
                        if !self.is_first(part, point.method, bci) {
                            return Ok(());
                        }
                        change.clone()
                    }
                };
                return self.plan.change(point.method, bci, change);
            }
        };
        self.plan.push(Edit { point, action })
    }

    /// Returns false if an earlier plan replaces the instruction.
    fn is_first(&mut self, part: &PluginPlan<'p>, method: MethodIndex, bci: Bci) -> bool {
        let first = *self.changed.entry((method, bci)).or_insert(part.by);
        if first == part.by {
            return true;
        }
        self.left_out.push(LeftOut {
            method,
            by: part.by.to_owned(),
            cause: format!(
                "plugin `{first}`, which is further out, replaces the instruction at bci {bci}"
            ),
            is_unmeasured: false,
        });
        false
    }
}
