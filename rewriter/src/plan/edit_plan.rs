//! The edits to one class.

use std::fmt;

use crate::edits::{Change, ChangeId, ClassEdit};
use crate::index::{Bci, MethodIndex};
use crate::limits::{MAX_CLASS_EDITS, MAX_EDITS};
use crate::plan::error::PlanError;
use crate::snippet::{Snippet, SnippetId};
use ::edits::{InsertionPoint, Location};
use stored::impl_stored;

/// The inserted code. Probes are numbered within the class; splicing chooses their storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// Stores 1 into the byte of this probe.
    Hit(u32),
    /// Adds 1 to the `long` of this probe, without synchronization.
    Count(u32),
    /// Runs this snippet of the plan.
    Insert(SnippetId),
    /// Applies this change of the plan to the instruction [`Location::At`].
    Change(ChangeId),
}

impl_stored!(enum Action {
    0 Hit(probe),
    1 Count(probe),
    2 Insert(snippet),
    3 Change(change),
});

impl Action {
    /// Returns the probe that it writes; `None` for a snippet or change.
    #[must_use]
    pub fn probe(&self) -> Option<u32> {
        match self {
            Action::Hit(probe) | Action::Count(probe) => Some(*probe),
            Action::Insert(_) | Action::Change(_) => None,
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Action::Hit(probe) => write!(f, "hit {probe}"),
            Action::Count(probe) => write!(f, "count {probe}"),
            Action::Insert(snippet) => write!(f, "insert snippet {snippet}"),
            Action::Change(change) => write!(f, "change {change}"),
        }
    }
}

/// One edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Edit {
    /// The insertion point.
    pub point: InsertionPoint,
    /// The action.
    pub action: Action,
}

impl_stored!(struct Edit { point, action });

/// The edits to one class, in order. A plan is a value that can be printed, compared and stored. It is independent of
/// the storage of probes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct EditPlan {
    edits: Vec<Edit>,
    snippets: Vec<Snippet>,
    changes: Vec<Change>,
    class_edits: Vec<ClassEdit>,
    /// The first edit of each run of edits of one layer, and the layer. Edits before the first run are of layer 0.
    layers: Vec<(u32, u16)>,
    /// Methods with the code for their exits, see [`EditPlan::exit`].
    exits: Vec<(MethodIndex, SnippetId)>,
}

impl_stored!(struct EditPlan { edits, snippets, changes, class_edits, layers, exits });

impl EditPlan {
    /// Creates a plan without edits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks for a plan without edits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.class_edits.is_empty()
    }

    /// Returns the edits of code, in order.
    #[must_use]
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Returns one more than the highest probe number; 0 without probes.
    #[must_use]
    pub fn probe_count(&self) -> u32 {
        let highest = self
            .edits
            .iter()
            .filter_map(|edit| edit.action.probe())
            .max();
        highest.map_or(0, |probe| probe.saturating_add(1))
    }

    /// Checks whether any edit of a method is a probe.
    #[must_use]
    pub fn has_probes(&self, method: MethodIndex) -> bool {
        let mut edits = self.edits.iter();
        edits.any(|edit| edit.point.method == method && edit.action.probe().is_some())
    }

    /// Adds an edit without checking its insertion point; see [`PlanBuilder`](crate::PlanBuilder) and
    /// [`EditPlan::check`].
    ///
    /// # Errors
    /// The plan is full, or a change and [`Location::At`] occur without each other.
    #[inline]
    pub fn push(&mut self, edit: Edit) -> Result<(), PlanError> {
        if self.edits.len() >= MAX_EDITS {
            return Err(PlanError::TooManyEdits);
        }
        let changes = matches!(edit.action, Action::Change(_));
        if changes != matches!(edit.point.location, Location::At(_)) {
            return Err(PlanError::Misplaced { point: edit.point });
        }
        self.edits.push(edit);
        Ok(())
    }

    /// Reserves memory for further edits, up to the limit of a plan.
    pub fn reserve(&mut self, edits: usize) {
        let left = MAX_EDITS.saturating_sub(self.edits.len());
        self.edits.reserve(edits.min(left));
    }

    /// Adds a hit probe, unchecked as in [`EditPlan::push`].
    ///
    /// # Errors
    /// The plan is full.
    #[inline]
    pub fn hit(&mut self, point: InsertionPoint, probe: u32) -> Result<(), PlanError> {
        self.push(Edit {
            point,
            action: Action::Hit(probe),
        })
    }

    /// Adds a counter, unchecked as in [`EditPlan::push`].
    ///
    /// # Errors
    /// The plan is full.
    pub fn count(&mut self, point: InsertionPoint, probe: u32) -> Result<(), PlanError> {
        self.push(Edit {
            point,
            action: Action::Count(probe),
        })
    }

    /// Adds a snippet, unchecked as in [`EditPlan::push`]. If it does not fit, splicing skips the method.
    ///
    /// # Errors
    /// The plan is full.
    pub fn insert(&mut self, point: InsertionPoint, snippet: Snippet) -> Result<(), PlanError> {
        let action = Action::Insert(self.keep(snippet)?);
        self.push(Edit { point, action })
    }

    /// Stores a snippet for several edits with [`Action::Insert`].
    ///
    /// # Errors
    /// The plan is full.
    pub fn keep(&mut self, snippet: Snippet) -> Result<SnippetId, PlanError> {
        if self.snippets.last() != Some(&snippet) {
            if self.snippets.len() >= MAX_EDITS {
                return Err(PlanError::TooManyEdits);
            }
            self.snippets.push(snippet);
        }
        Ok(SnippetId(self.snippets.len().saturating_sub(1) as u32))
    }

    /// Returns a snippet of this plan.
    #[must_use]
    pub fn snippet(&self, id: SnippetId) -> Option<&Snippet> {
        self.snippets.get(id.0 as usize)
    }

    /// Returns a plan with only the snippets and changes.
    #[must_use]
    pub fn without_edits(&self) -> EditPlan {
        EditPlan {
            edits: Vec::new(),
            snippets: self.snippets.clone(),
            changes: self.changes.clone(),
            class_edits: Vec::new(),
            layers: Vec::new(),
            exits: Vec::new(),
        }
    }

    /// Puts the edits that follow into this layer. Layer 0 is outermost; see [`EditPlan::merge`].
    pub fn begin_layer(&mut self, layer: u16) {
        let first = self.edits.len() as u32;
        if self.layers.last().is_some_and(|last| last.0 == first) {
            self.layers.pop();
        }
        if self.layers.last().map_or(0, |last| last.1) != layer {
            self.layers.push((first, layer));
        }
    }

    /// Returns the layer of the edit with this index.
    #[must_use]
    pub fn layer(&self, index: usize) -> u16 {
        let after = self.layers.partition_point(|run| run.0 as usize <= index);
        let run = after.checked_sub(1).and_then(|run| self.layers.get(run));
        run.map_or(0, |run| run.1)
    }

    /// States that this code belongs to every exit of the method by a return. The edits before the method's own returns
    /// must exist besides; a merge adds the code to returns in the code of other plans, and to those of another body.
    ///
    /// # Errors
    /// The plan is full.
    pub fn exit(&mut self, method: MethodIndex, code: Snippet) -> Result<(), PlanError> {
        let id = self.keep(code)?;
        self.exits.push((method, id));
        Ok(())
    }

    /// Returns the methods and the code that [`EditPlan::exit`] stated, in order.
    pub fn exits(&self) -> impl Iterator<Item = (MethodIndex, &Snippet)> {
        let exits = self.exits.iter();
        exits.filter_map(|exit| Some((exit.0, self.snippet(exit.1)?)))
    }

    /// Changes an instruction, unchecked as in [`EditPlan::push`]. If the change does not suit the instruction,
    /// splicing skips the method.
    ///
    /// # Errors
    /// The plan is full.
    pub fn change(
        &mut self,
        method: MethodIndex,
        bci: Bci,
        change: Change,
    ) -> Result<(), PlanError> {
        if self.changes.len() >= MAX_EDITS {
            return Err(PlanError::TooManyEdits);
        }
        let action = Action::Change(ChangeId(self.changes.len() as u32));
        let location = Location::At(bci);
        self.push(Edit {
            point: InsertionPoint { method, location },
            action,
        })?;
        self.changes.push(change);
        Ok(())
    }

    /// Removes the hit probes and counts in these methods and returns their number.
    pub fn remove_probes(&mut self, methods: &[MethodIndex]) -> usize {
        let before = self.edits.len();
        let is_probe = |action| matches!(action, Action::Hit(_) | Action::Count(_));
        self.retain(|edit| !(is_probe(edit.action) && methods.contains(&edit.point.method)));
        before.saturating_sub(self.edits.len())
    }

    /// Keeps only these edits. The plan has one layer.
    pub(super) fn retain(&mut self, is_kept: impl FnMut(&Edit) -> bool) {
        debug_assert!(self.layers.is_empty());
        self.edits.retain(is_kept);
    }

    pub(crate) fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Checks whether its edits of code may name classes and members.
    pub(crate) fn names_anything(&self) -> bool {
        self.has_changes() || !self.snippets.is_empty()
    }

    /// Returns a change of this plan.
    #[must_use]
    pub fn changed(&self, id: ChangeId) -> Option<&Change> {
        self.changes.get(id.0 as usize)
    }

    /// Returns the code that an edit puts around an instruction.
    pub(crate) fn around(&self, edit: &Edit) -> Option<&Snippet> {
        let Action::Change(id) = edit.action else {
            return None;
        };
        match self.changed(id)? {
            Change::Around(code) => Some(code),
            _ => None,
        }
    }

    /// Returns the inserted code of an edit.
    pub(crate) fn code_of(&self, edit: &Edit) -> Option<&Snippet> {
        match edit.action {
            Action::Insert(id) => self.snippet(id),
            _ => self.around(edit),
        }
    }

    /// Describes the action of an edit; inserted code follows on lines of its own.
    #[must_use]
    pub fn describe(&self, action: Action) -> String {
        let changed = match action {
            Action::Change(id) => self.changed(id).map(ToString::to_string),
            Action::Insert(id) => self
                .snippet(id)
                .map(|snippet| format!("insert:\n{snippet}")),
            Action::Hit(_) | Action::Count(_) => None,
        };
        changed.unwrap_or_else(|| action.to_string())
    }

    /// Adds a class edit, unchecked. If it does not suit the class, splicing skips the class.
    ///
    /// # Errors
    /// The plan is full.
    pub fn edit_class(&mut self, edit: ClassEdit) -> Result<(), PlanError> {
        if self.class_edits.len() >= MAX_CLASS_EDITS {
            return Err(PlanError::TooManyEdits);
        }
        self.class_edits.push(edit);
        Ok(())
    }

    /// Returns the class edits, in order.
    #[must_use]
    pub fn class_edits(&self) -> &[ClassEdit] {
        &self.class_edits
    }

    /// Returns this plan without class edits, with every snippet and change mapped.
    pub(crate) fn map(
        &self,
        snippet: impl FnMut(&Snippet) -> Snippet,
        change: impl FnMut(&Change) -> Change,
    ) -> EditPlan {
        EditPlan {
            edits: self.edits.clone(),
            snippets: self.snippets.iter().map(snippet).collect(),
            changes: self.changes.iter().map(change).collect(),
            class_edits: Vec::new(),
            layers: self.layers.clone(),
            exits: Vec::new(),
        }
    }

    /// Removes all edits and keeps the memory.
    pub fn clear(&mut self) {
        self.edits.clear();
        self.snippets.clear();
        self.changes.clear();
        self.class_edits.clear();
        self.layers.clear();
        self.exits.clear();
    }
}

/// Formats class edits first, then one edit per line in order, then the snippets with one operation per line. The text
/// of a plan is stable across releases.
impl fmt::Display for EditPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut class_edits = self.class_edits.iter();
        class_edits.try_for_each(|edit| writeln!(f, "{edit}"))?;
        for Edit { point, action } in &self.edits {
            let change = match action {
                Action::Change(id) => self.changed(*id),
                _ => None,
            };
            match change {
                Some(change) => writeln!(f, "{point}: {change}")?,
                None => writeln!(f, "{point}: {action}")?,
            }
        }
        let mut snippets = self.snippets.iter().enumerate();
        snippets.try_for_each(|(id, snippet)| write!(f, "snippet {id}:\n{snippet}"))
    }
}
