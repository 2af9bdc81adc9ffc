//! What JVMs say of themselves: recorded by the agent, or asked of the JVM.

pub mod outputs;
pub mod recorded;
pub mod snapshots;
pub mod visit;
