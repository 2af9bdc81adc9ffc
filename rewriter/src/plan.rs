//! Edits as values, anchored to the bcis of the original code.

mod edit_plan;
mod error;
mod merge;
mod skip;

pub use ::edits::{InsertionPoint, Location};
pub use edit_plan::{Action, Edit, EditPlan};
pub use error::PlanError;
pub use merge::{Conflict, PluginPlan};
pub use skip::SkipReason;
