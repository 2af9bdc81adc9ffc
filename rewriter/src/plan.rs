//! Edits as values, anchored to the bcis of the original code.

mod edit_plan;
mod error;
mod location;
mod merge;
mod skip;

pub use edit_plan::{Action, Edit, EditPlan};
pub use error::PlanError;
pub use location::{InsertionPoint, Location};
pub use merge::{Conflict, PluginPlan};
pub use skip::SkipReason;
