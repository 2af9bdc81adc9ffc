//! Edits of a class's structure and of single instructions, as values.
//!
//! Names are internal names and descriptors as the JVMS writes them. They are
//! those of the class before its plan: renaming comes last and takes what the
//! plan adds along.

mod change;
mod class_edit;
mod display;
mod literal;
mod structure_error;

pub use change::{CallTarget, Change, ChangeError, ChangeId};
pub use class_edit::{
    Annotation, ClassEdit, ElementValue, NewField, NewMethod, PrefixedNative, Target,
};
pub use literal::Literal;
pub use structure_error::StructureError;
