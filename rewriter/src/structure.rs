//! Applies the class edits of a plan: members first, then names.
//!
//! The result is a complete class, into which the plan's other edits are spliced. Its methods keep their indices; added
//! ones follow them in the order of the plan.

mod annotations;
mod apply;
mod body;
mod duplicates;
mod index_bounds;
mod members;
mod name_syntax;
mod names;
mod redirect_fields;
mod rename_class;
mod rename_plan;
mod rules;

pub(crate) use apply::{NewStructure, allowed, apply_class_edits, extended, fits, rest};
pub(crate) use duplicates::check_duplicates;
#[cfg(test)]
pub(crate) use members::extend;
pub(crate) use names::{Names, Role};
pub use redirect_fields::redirect_fields;
pub(crate) use rename_class::rename;
pub use rename_class::rename_class;
pub(crate) use rules::ClassChecker;
