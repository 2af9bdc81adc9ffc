//! What JVMs say of themselves: recorded by the agent, or asked of the JVM.

mod deadlocks;
mod heap_in_use;
pub mod heap_paths;
pub mod outputs;
pub mod pause;
pub mod recorded;
pub mod retainers;
pub mod snapshots;
pub mod visit;
mod whole_dump;
