//! Edits of a class's structure and of single instructions, as values.
//!
//! Names are internal names and descriptors of the JVMS. They are the names before the plan: renames come last and also
//! apply to items that the plan adds.

mod change;
mod class_edit;
mod display;
mod structure_error;

pub use ::edits::Constant;
pub use change::{CallTarget, Change, ChangeError, ChangeId};
pub use class_edit::{
    Annotation, ClassEdit, ElementValue, NewField, NewMethod, PrefixedNative, Target,
};
pub use structure_error::StructureError;
