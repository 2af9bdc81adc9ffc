//! Verification types (JVMS 4.10.1.2), and the effect of instructions on them.
//!
//! Types are compared by name; no class is ever loaded.

mod context;
mod frames;
mod hierarchy;
mod instruction_typer;
mod machine;
mod points;
mod snippet;
mod table;
mod types;
mod unset_fields;

pub(crate) use context::{MethodContext, PointContext, StackEffect, TypingContext};
pub(crate) use frames::{FrameReader, FrameWriter, by_entry, by_slot, encoded};
pub(crate) use hierarchy::Hierarchy;
pub(crate) use points::{PointTypes, ProgramPoint, Types};
pub(crate) use snippet::{Typed, type_snippet};
pub(crate) use types::{Class, Origin, Type};
pub(crate) use unset_fields::UnsetFields;
