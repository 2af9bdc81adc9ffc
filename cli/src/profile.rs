//! What JVMs say of themselves: recorded by the agent, or asked of the JVM.

pub mod heap_paths;
pub mod outputs;
pub mod recorded;
pub mod retainers;
pub mod snapshots;
pub mod visit;
mod whole_dump;
