//! Applies the class edits of a plan: members first, then names.
//!
//! The result is a complete class, into which the plan's other edits are spliced. Its methods keep their indices; added
//! ones follow them in the order of the plan.

mod anchored;
mod annotations;
mod apply;
mod body;
mod distinct;
mod flags;
mod members;
mod names;
mod rename_class;
mod rename_plan;
mod rules;
mod spelling;

pub(crate) use apply::{NewStructure, allowed, apply_class_edits, extended, fits, rest};
pub(crate) use distinct::expect_distinct;
#[cfg(test)]
pub(crate) use members::extend;
pub(crate) use names::{Names, Role};
pub(crate) use rename_class::rename;
pub(crate) use rules::ClassChecker;
