//! Verification types (JVMS 4.10.1.2) and what instructions do to them.
//!
//! Types are compared by name; no class is ever loaded.

mod hierarchy;
mod machine;
mod table;
mod types;

pub(crate) use hierarchy::Hierarchy;
pub(crate) use machine::{Expected, Fault, Machine};
pub(crate) use types::{Class, Origin, Type};
