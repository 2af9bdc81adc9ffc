//! Plans whose every edit is checked against the class as it is added.

mod checker;
mod plan_builder;

pub use checker::PlanChecker;
pub use plan_builder::PlanBuilder;
