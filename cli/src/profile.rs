//! Profiles of JVMs: recordings of the agent, and answers of the JVM to requests.

mod deadlocks;
mod dump_end;
mod heap_in_use;
pub mod heap_paths;
pub mod outputs;
pub mod pause;
pub mod recorded;
pub mod retainers;
pub mod snapshots;
pub mod visit;
