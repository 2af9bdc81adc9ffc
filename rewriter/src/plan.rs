//! Edits as values, anchored to the bcis of the original code.

mod check;
mod merge;

pub use check::SiteChecker;
pub use merge::{Conflict, Part};

use std::fmt;

use thiserror::Error;

use crate::class::ClassFile;
use crate::edits::{Change, ChangeError, ChangeId, ClassEdit, Refusal};
use crate::error::ReadError;
use crate::index::{Bci, MethodIndex};
use crate::limits::{MAX_CLASS_EDITS, MAX_EDITS};
use crate::shape::Names;
use crate::snippet::{Snippet, SnippetError, SnippetId};
use crate::splice::SkipReason;

/// A place in a method's original code where something can be inserted.
///
/// Several edits at one place run in the order of the plan. Where places meet
/// in front of one instruction, a fall-through (or entry) comes first, then
/// `Before`, then the edge of a `goto`, then the instruction.
///
/// What the tables of the method say about inserted code:
/// * code at `Entry` and `FallThrough` stands before the label of the next
///   instruction: jumps skip it, and an exception range that begins at that
///   instruction does not cover it, nor does one that ends there;
/// * code at `Before` stands behind the label: jumps and handlers land on it,
///   ranges that begin at the instruction cover it, and its line is the
///   instruction's;
/// * the line entry and the local variables that begin at bci 0 cover the code
///   at `Entry` as well;
/// * code on a jump edge that cannot stand in front of its `goto` stands behind
///   the method's code, in no range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Place {
    /// Once per invocation; jumps to bci 0 do not pass it.
    Entry,
    /// Every path into the instruction: falling into it, jumps and handlers.
    Before(Bci),
    /// The instruction itself: only for [`Action::Change`].
    At(Bci),
    /// Only when the instruction at this bci completes normally and control
    /// goes on to the one behind it; jumps to that one skip it. A conditional
    /// branch completes so when it is not taken.
    FallThrough(Bci),
    /// The jump from `source` to `target`. All keys of a switch, and its
    /// default, that go to `target` are one edge.
    Jump {
        /// A branch, `goto`, or switch.
        source: Bci,
        /// Where it goes.
        target: Bci,
    },
    /// The method left by an exception that it does not handle: a handler of
    /// everything over the original code, last in the exception table, that
    /// throws the exception again when the inserted code has run. In a
    /// constructor it covers what comes after `super()` or `this()`. The handler
    /// stands behind all other code.
    Unwind,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Entry => write!(f, "entry"),
            Place::Before(bci) => write!(f, "before {bci}"),
            Place::At(bci) => write!(f, "at {bci}"),
            Place::FallThrough(source) => write!(f, "after {source}"),
            Place::Jump { source, target } => write!(f, "jump {source} -> {target}"),
            Place::Unwind => write!(f, "unwind"),
        }
    }
}

/// A place in one of a class's methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The method.
    pub method: MethodIndex,
    /// Where in it.
    pub place: Place,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "method {} {}", self.method, self.place)
    }
}

/// What is inserted. Probes are numbered within the class; where they are
/// stored is chosen when splicing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Action {
    /// Store 1 into the byte of this probe.
    Hit(u32),
    /// Add 1 to the long of this probe, without synchronization.
    Count(u32),
    /// Run this snippet of the plan.
    Insert(SnippetId),
    /// Make this change of the plan to the instruction [`Place::At`].
    Change(ChangeId),
}

impl Action {
    /// The probe it writes to; none for a snippet or change.
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
    /// Where.
    pub site: Site,
    /// What.
    pub action: Action,
}

/// Why an edit was refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The plan is full.
    #[error("a plan holds at most {MAX_EDITS} edits; split the work or select fewer classes")]
    TooManyEdits,
    /// The class has fewer methods.
    #[error("method {method} does not exist: the class has {count}")]
    NoSuchMethod {
        /// The index asked for.
        method: MethodIndex,
        /// How many methods there are.
        count: u32,
    },
    /// An abstract or native method.
    #[error("method {method} has no code, so nothing can be inserted into it")]
    NoCode {
        /// The method.
        method: MethodIndex,
    },
    /// No instruction begins there.
    #[error("no instruction begins at bci {bci} of method {method}")]
    NotAnInstruction {
        /// The method.
        method: MethodIndex,
        /// The bci asked for.
        bci: Bci,
    },
    /// The instruction never goes on to the next one.
    #[error(
        "the {mnemonic} at bci {bci} of method {method} never completes into the next instruction"
    )]
    NoFallThrough {
        /// The method.
        method: MethodIndex,
        /// The instruction.
        bci: Bci,
        /// Its mnemonic.
        mnemonic: &'static str,
    },
    /// The instruction does not jump there.
    #[error("the {mnemonic} at bci {bci} of method {method} does not jump to bci {target}")]
    NoJump {
        /// The method.
        method: MethodIndex,
        /// The instruction.
        bci: Bci,
        /// Its mnemonic.
        mnemonic: &'static str,
        /// The target asked for.
        target: Bci,
    },
    /// The method's code cannot be read.
    #[error("method {method} cannot be read: {error}")]
    Unreadable {
        /// The method.
        method: MethodIndex,
        /// Why.
        error: ReadError,
    },
    /// A change that is at no instruction, or something else that is.
    #[error("{site}: a change stands at an instruction, and nothing else does")]
    Misplaced {
        /// Where.
        site: Site,
    },
    /// The change does not suit its instruction.
    #[error("method {method} bci {bci} cannot be changed so: {error}")]
    Change {
        /// The method.
        method: MethodIndex,
        /// The instruction.
        bci: Bci,
        /// Why not.
        error: ChangeError,
    },
    /// The class cannot be edited so.
    #[error(transparent)]
    Class(#[from] Refusal),
    /// Nothing can stand there.
    #[error("{site}: {reason}")]
    NotThere {
        /// Where.
        site: Site,
        /// Why not.
        reason: Box<SkipReason>,
    },
    /// The snippet cannot stand there.
    #[error("{site}: {error}")]
    Snippet {
        /// Where.
        site: Site,
        /// Why not.
        error: SnippetError,
    },
}

/// The edits to one class, in order. A plan is a value: it can be printed,
/// compared and stored, and says nothing about where probes are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct EditPlan {
    edits: Vec<Edit>,
    snippets: Vec<Snippet>,
    changes: Vec<Change>,
    class_edits: Vec<ClassEdit>,
}

impl EditPlan {
    /// A plan without edits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// True when nothing is to be done.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.class_edits.is_empty()
    }

    /// The edits of code, in order.
    #[must_use]
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// One more than the highest probe number used; 0 without probes.
    #[must_use]
    pub fn probe_count(&self) -> u32 {
        let highest = self
            .edits
            .iter()
            .filter_map(|edit| edit.action.probe())
            .max();
        highest.map_or(0, |probe| probe.saturating_add(1))
    }

    /// Adds an edit without asking whether its site exists; see
    /// [`PlanBuilder`] and [`EditPlan::check`].
    ///
    /// # Errors
    /// When the plan is full, and for a change that is at no instruction, or
    /// anything else that is.
    pub fn push(&mut self, edit: Edit) -> Result<(), PlanError> {
        if self.edits.len() >= MAX_EDITS {
            return Err(PlanError::TooManyEdits);
        }
        let changes = matches!(edit.action, Action::Change(_));
        if changes != matches!(edit.site.place, Place::At(_)) {
            return Err(PlanError::Misplaced { site: edit.site });
        }
        self.edits.push(edit);
        Ok(())
    }

    /// Adds a hit probe, unchecked as in [`EditPlan::push`].
    ///
    /// # Errors
    /// When the plan is full.
    pub fn hit(&mut self, site: Site, probe: u32) -> Result<(), PlanError> {
        self.push(Edit {
            site,
            action: Action::Hit(probe),
        })
    }

    /// Adds a counter, unchecked as in [`EditPlan::push`].
    ///
    /// # Errors
    /// When the plan is full.
    pub fn count(&mut self, site: Site, probe: u32) -> Result<(), PlanError> {
        self.push(Edit {
            site,
            action: Action::Count(probe),
        })
    }

    /// Adds a snippet, unchecked as in [`EditPlan::push`]: where it does not fit,
    /// splicing leaves the method alone.
    ///
    /// # Errors
    /// When the plan is full.
    pub fn insert(&mut self, site: Site, snippet: Snippet) -> Result<(), PlanError> {
        let action = Action::Insert(self.keep(snippet)?);
        self.push(Edit { site, action })
    }

    /// Keeps a snippet for several edits with [`Action::Insert`].
    ///
    /// # Errors
    /// When the plan is full.
    pub fn keep(&mut self, snippet: Snippet) -> Result<SnippetId, PlanError> {
        if self.snippets.last() != Some(&snippet) {
            if self.snippets.len() >= MAX_EDITS {
                return Err(PlanError::TooManyEdits);
            }
            self.snippets.push(snippet);
        }
        Ok(SnippetId(self.snippets.len().saturating_sub(1) as u32))
    }

    /// A snippet of this plan.
    #[must_use]
    pub fn snippet(&self, id: SnippetId) -> Option<&Snippet> {
        self.snippets.get(id.0 as usize)
    }

    /// The snippets and changes alone.
    pub(crate) fn without_edits(&self) -> EditPlan {
        EditPlan {
            edits: Vec::new(),
            snippets: self.snippets.clone(),
            changes: self.changes.clone(),
            class_edits: Vec::new(),
        }
    }

    /// Changes an instruction, unchecked as in [`EditPlan::push`]: where the
    /// change does not suit it, splicing leaves the method alone.
    ///
    /// # Errors
    /// When the plan is full.
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
        let place = Place::At(bci);
        self.push(Edit {
            site: Site { method, place },
            action,
        })?;
        self.changes.push(change);
        Ok(())
    }

    pub(crate) fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    /// A change of this plan.
    #[must_use]
    pub fn changed(&self, id: ChangeId) -> Option<&Change> {
        self.changes.get(id.0 as usize)
    }

    /// What an edit of this plan does, in words; inserted code stands in lines
    /// of its own below.
    #[must_use]
    pub fn words(&self, action: Action) -> String {
        let changed = match action {
            Action::Change(id) => self.changed(id).map(ToString::to_string),
            Action::Insert(id) => self
                .snippet(id)
                .map(|snippet| format!("insert:\n{snippet}")),
            Action::Hit(_) | Action::Count(_) => None,
        };
        changed.unwrap_or_else(|| action.to_string())
    }

    /// Adds a class edit, unchecked: where it does not suit the class, splicing
    /// leaves the class alone.
    ///
    /// # Errors
    /// When the plan is full.
    pub fn edit_class(&mut self, edit: ClassEdit) -> Result<(), PlanError> {
        if self.class_edits.len() >= MAX_CLASS_EDITS {
            return Err(PlanError::TooManyEdits);
        }
        self.class_edits.push(edit);
        Ok(())
    }

    /// The class edits, in order.
    #[must_use]
    pub fn class_edits(&self) -> &[ClassEdit] {
        &self.class_edits
    }

    /// The class edits, taken out.
    pub(crate) fn take_class_edits(&mut self) -> Vec<ClassEdit> {
        std::mem::take(&mut self.class_edits)
    }

    /// This plan without class edits, its names replaced by new ones.
    pub(crate) fn renamed(&self, names: &Names) -> EditPlan {
        EditPlan {
            edits: self.edits.clone(),
            snippets: self
                .snippets
                .iter()
                .map(|snippet| snippet.renamed(names))
                .collect(),
            changes: self
                .changes
                .iter()
                .map(|change| change.renamed(names))
                .collect(),
            class_edits: Vec::new(),
        }
    }

    /// Forgets all edits and keeps the memory.
    pub fn clear(&mut self) {
        self.edits.clear();
        self.snippets.clear();
        self.changes.clear();
        self.class_edits.clear();
    }

    /// Asks whether every site exists in `class`.
    ///
    /// # Errors
    /// For the first site that does not.
    pub fn check(&self, class: &ClassFile<'_>) -> Result<(), PlanError> {
        let mut checker = SiteChecker::new(class);
        self.edits
            .iter()
            .try_for_each(|edit| checker.check(edit.site))
    }

    /// This plan, if every site exists in `class`.
    ///
    /// # Errors
    /// For the first site that does not.
    pub fn checked(self, class: &ClassFile<'_>) -> Result<Self, PlanError> {
        self.check(class).map(|()| self)
    }
}

/// One edit per line, in order and those of the class first, then the snippets
/// with one operation per line: the same plan is the same text in every release.
impl fmt::Display for EditPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut class_edits = self.class_edits.iter();
        class_edits.try_for_each(|edit| writeln!(f, "{edit}"))?;
        for Edit { site, action } in &self.edits {
            let change = match action {
                Action::Change(id) => self.changed(*id),
                _ => None,
            };
            match change {
                Some(change) => writeln!(f, "{site}: {change}")?,
                None => writeln!(f, "{site}: {action}")?,
            }
        }
        let mut snippets = self.snippets.iter().enumerate();
        snippets.try_for_each(|(id, snippet)| write!(f, "snippet {id}:\n{snippet}"))
    }
}

/// Makes a plan whose every site is checked against the class as it is added.
#[derive(Debug)]
pub struct PlanBuilder<'c, 'a> {
    checker: SiteChecker<'c, 'a>,
    plan: EditPlan,
    retransforming: bool,
}

impl<'c, 'a> PlanBuilder<'c, 'a> {
    /// A plan for `class`, empty so far.
    #[must_use]
    pub fn new(class: &'c ClassFile<'a>) -> Self {
        PlanBuilder {
            checker: SiteChecker::new(class),
            plan: EditPlan::new(),
            retransforming: false,
        }
    }

    /// Refuses from now on what a retransformation of a loaded class cannot do,
    /// with the JVM's own reason (see [`crate::schema`]).
    #[must_use]
    pub fn retransforming(mut self) -> Self {
        self.retransforming = true;
        self
    }

    /// Adds an edit.
    ///
    /// # Errors
    /// When the site does not exist or the plan is full; nothing is then added.
    pub fn push(&mut self, edit: Edit) -> Result<(), PlanError> {
        self.checker.check(edit.site)?;
        self.plan.push(edit)
    }

    /// Adds a hit probe.
    ///
    /// # Errors
    /// As [`PlanBuilder::push`].
    pub fn hit(&mut self, site: Site, probe: u32) -> Result<(), PlanError> {
        self.push(Edit {
            site,
            action: Action::Hit(probe),
        })
    }

    /// Adds a counter.
    ///
    /// # Errors
    /// As [`PlanBuilder::push`].
    pub fn count(&mut self, site: Site, probe: u32) -> Result<(), PlanError> {
        self.push(Edit {
            site,
            action: Action::Count(probe),
        })
    }

    /// Adds a snippet, with its types checked against the method at the site.
    ///
    /// # Errors
    /// As [`PlanBuilder::push`], and when the snippet does not fit there.
    pub fn insert(&mut self, site: Site, snippet: Snippet) -> Result<(), PlanError> {
        self.checker.check(site)?;
        self.checker.check_snippet(site, &snippet)?;
        self.plan.insert(site, snippet)
    }

    /// Wraps an instruction: `before` runs in front of it, `after` when it has
    /// completed normally.
    ///
    /// # Errors
    /// As [`PlanBuilder::insert`]; nothing is then added.
    pub fn wrap(
        &mut self,
        method: MethodIndex,
        bci: Bci,
        before: Snippet,
        after: Snippet,
    ) -> Result<(), PlanError> {
        let site = |place| Site { method, place };
        let (front, behind) = (site(Place::Before(bci)), site(Place::FallThrough(bci)));
        self.checker.check(behind)?;
        self.checker.check_snippet(behind, &after)?;
        self.insert(front, before)?;
        self.plan.insert(behind, after)
    }

    /// Changes an instruction.
    ///
    /// # Errors
    /// When there is none, the change does not suit it, or the plan is full.
    pub fn change(
        &mut self,
        method: MethodIndex,
        bci: Bci,
        change: Change,
    ) -> Result<(), PlanError> {
        self.checker.check_change(method, bci, &change)?;
        self.plan.change(method, bci, change)
    }

    /// Adds a class edit.
    ///
    /// # Errors
    /// When it does not suit the class, when the class is loaded already (see
    /// [`PlanBuilder::retransforming`]) and the JVM would refuse it, or when the
    /// plan is full.
    pub fn edit_class(&mut self, edit: ClassEdit) -> Result<(), PlanError> {
        self.checker.check_class_edit(&edit, self.retransforming)?;
        self.plan.edit_class(edit)
    }

    /// The plan.
    #[must_use]
    pub fn finish(self) -> EditPlan {
        self.plan
    }
}
