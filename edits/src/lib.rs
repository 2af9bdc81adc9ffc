//! The vocabulary of edits to a class, each item defined once.
//!
//! The SDK, the test kit, the host, the rules for plans and the rewriter use these values. This crate knows no class
//! file and checks no value: the rewriter does, when it assembles a snippet or applies an edit.
//!
//! ```
//! use edits::{Assemble, Member, Operand, Snippet};
//! use jvms::opcode::INVOKESTATIC;
//!
//! let mut code = Snippet::new();
//! code.push_int(1);
//! code.invoke(INVOKESTATIC, Member::of_class("java/lang/System", "exit", "(I)V"));
//! assert_eq!(code.instructions()[0].operand, Operand::Int(1));
//! ```
//!
//! Start reading at [`Edit`], [`Instruction`] and [`InsertionPoint`].

#![forbid(unsafe_code)]

mod annotation;
mod assemble;
mod capture;
mod constant;
mod edit;
mod event;
mod instruction;
mod kinds;
mod point;
mod snippet;
mod tag;
pub mod wit;

pub use annotation::{
    Annotation, AnnotationStart, Element, EnumConstant, FieldName, Target, Value, Visibility,
};
pub use assemble::Assemble;
pub use capture::Capture;
pub use constant::Constant;
pub use edit::{Edit, Field, Refusal};
pub use event::{Event, EventValue};
pub use instruction::{Instruction, Label, Local, Member, Operand, symbolic};
pub use kinds::{InstructionKind, TableKind};
pub use point::{Bci, InsertionPoint, Location, MethodIndex};
pub use snippet::Snippet;
pub use tag::{Column, ColumnKind, Row, Tag};
