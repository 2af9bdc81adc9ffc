//! Edits as values, anchored to the bcis of the original code.

mod edit_plan;
mod error;
mod implied;
mod skip;

pub use ::edits::{InsertionPoint, Location};
pub use edit_plan::{Action, Edit, EditPlan};
pub use error::PlanError;
pub use implied::ImpliedHit;
pub use skip::SkipReason;
