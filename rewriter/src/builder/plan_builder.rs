//! A plan whose edits are checked on addition.

use crate::builder::checker::PlanChecker;
use crate::class::ClassFile;
use crate::edits::{Change, ClassEdit};
use crate::index::{Bci, MethodIndex};
use crate::plan::{Action, Edit, EditPlan, InsertionPoint, Location, PlanError};
use crate::snippet::Snippet;

/// Builds a plan; checks each insertion point against the class on addition.
#[derive(Debug)]
pub struct PlanBuilder<'c, 'a> {
    checker: PlanChecker<'c, 'a>,
    plan: EditPlan,
    retransforming: bool,
}

impl<'c, 'a> PlanBuilder<'c, 'a> {
    /// Creates an empty plan for `class`.
    #[must_use]
    pub fn new(class: &'c ClassFile<'a>) -> Self {
        PlanBuilder {
            checker: PlanChecker::new(class),
            plan: EditPlan::new(),
            retransforming: false,
        }
    }

    /// From now on, refuses edits that a retransformation of a loaded class does not allow, with the JVM's reason (see
    /// [`crate::schema`]).
    #[must_use]
    pub fn retransforming(mut self) -> Self {
        self.retransforming = true;
        self
    }

    /// Adds an edit.
    ///
    /// # Errors
    /// The point does not exist or the plan is full; nothing is added.
    pub fn push(&mut self, edit: Edit) -> Result<(), PlanError> {
        self.checker.check(edit.point)?;
        self.plan.push(edit)
    }

    /// Adds a hit probe.
    ///
    /// # Errors
    /// As [`PlanBuilder::push`].
    pub fn hit(&mut self, point: InsertionPoint, probe: u32) -> Result<(), PlanError> {
        self.push(Edit {
            point,
            action: Action::Hit(probe),
        })
    }

    /// Adds a counter.
    ///
    /// # Errors
    /// As [`PlanBuilder::push`].
    pub fn count(&mut self, point: InsertionPoint, probe: u32) -> Result<(), PlanError> {
        self.push(Edit {
            point,
            action: Action::Count(probe),
        })
    }

    /// Adds a snippet and checks its types against the method at the point.
    ///
    /// # Errors
    /// As [`PlanBuilder::push`], and the snippet does not fit there.
    pub fn insert(&mut self, point: InsertionPoint, snippet: Snippet) -> Result<(), PlanError> {
        self.checker.check_snippets(&[point], &snippet)?;
        self.plan.insert(point, snippet)
    }

    /// Wraps an instruction: `before` runs before it, `after` follows its normal completion.
    ///
    /// # Errors
    /// As [`PlanBuilder::insert`]; nothing is added.
    pub fn wrap(
        &mut self,
        method: MethodIndex,
        bci: Bci,
        before: Snippet,
        after: Snippet,
    ) -> Result<(), PlanError> {
        let point = |location| InsertionPoint { method, location };
        let (front, behind) = (
            point(Location::Before(bci)),
            point(Location::FallThrough(bci)),
        );
        self.checker.check_snippets(&[behind], &after)?;
        self.insert(front, before)?;
        self.plan.insert(behind, after)
    }

    /// Changes an instruction.
    ///
    /// # Errors
    /// The instruction does not exist, the change does not suit it, or the plan is full.
    pub fn change(
        &mut self,
        method: MethodIndex,
        bci: Bci,
        change: Change,
    ) -> Result<(), PlanError> {
        self.checker.check_changes(&[(method, bci)], &change)?;
        self.plan.change(method, bci, change)
    }

    /// Adds a class edit.
    ///
    /// # Errors
    /// The edit does not suit the class, or the plan is full.
    /// For a loaded class (see [`PlanBuilder::retransforming`]), the JVM would reject the edit.
    pub fn edit_class(&mut self, edit: ClassEdit) -> Result<(), PlanError> {
        self.checker.check_class_edit(&edit, self.retransforming)?;
        self.plan.edit_class(edit)
    }

    /// Returns the plan.
    #[must_use]
    pub fn finish(self) -> EditPlan {
        self.plan
    }
}
