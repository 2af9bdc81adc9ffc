//! Verification types (JVMS 4.10.1.2) and what instructions do to them.
//!
//! Types are compared by name; no class is ever loaded.

mod follow;
mod frames;
mod hierarchy;
mod machine;
mod table;
mod types;

pub(crate) use follow::Followed;
pub(crate) use frames::{FrameReader, FrameWriter, by_entry, by_slot};
pub(crate) use hierarchy::Hierarchy;
pub(crate) use machine::{Expected, Fault, Machine};
pub(crate) use types::{Class, Origin, Type};
