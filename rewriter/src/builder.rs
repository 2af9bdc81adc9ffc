//! Plans whose edits are checked against the class on addition.

mod checker;
mod plan_builder;

pub use checker::PlanChecker;
pub use plan_builder::PlanBuilder;
