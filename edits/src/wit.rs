//! The names of the interface `types` in `plugin.wit`, for the bindings that are generated from it.

pub use crate::annotation::{
    AnnotationStart as Annotation, Element, EnumConstant, FieldName, Target, Value, Visibility,
};
pub use crate::constant::Constant;
pub use crate::edit::Refusal;
pub use crate::event::{Event as EventValues, EventValue};
pub use crate::instruction::{Instruction, Local, Member, Operand};
pub use crate::kinds::{InstructionKind, TableKind};
pub use crate::tag::{Column, ColumnKind, Row, Tag};

/// Implements the reading of enums, which the generated bindings call.
macro_rules! lift {
    ($($kind:ident { $first:ident $(, $number:literal $case:ident)* })*) => {$(
        impl $kind {
            #[doc(hidden)]
            #[must_use]
            pub fn _lift(number: u8) -> Self {
                match number {
                    $($number => Self::$case,)*
                    _ => Self::$first,
                }
            }
        }
    )*};
}

lift! {
    Visibility { Visible, 1 Invisible }
    TableKind { Sums, 1 Events }
    ColumnKind { Text, 1 Integer, 2 Duration, 3 Bytes, 4 Class, 5 Method, 6 Line }
}

/// An internal name (JVMS 4.2.1).
pub type InternalName = String;
/// A descriptor (JVMS 4.3).
pub type Descriptor = String;
/// Index of an instruction in the code array.
pub type Bci = u16;
/// A packed [`crate::InsertionPoint`].
pub type InsertionPoint = u64;
/// The number of a probe.
pub type Probe = u32;
/// Code to insert.
pub type Snippet = Vec<Instruction>;
