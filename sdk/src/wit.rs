//! The values of the WIT package, the same types natively and in WebAssembly.

pub use crate::bindings::classhook::plugin::class_file::{
    FieldSummary, Handler, Jump, MemberRef, MethodSummary,
};
pub use crate::bindings::classhook::plugin::declarations::{
    Annotated, Annotation as DeclaredAnnotation, Component, Element as DeclaredElement, Enclosing,
    EnumConstant as DeclaredEnum, FoundAnnotation, InnerClass, NamedMethod, Parameter,
    ParameterPlace, Value as DeclaredValue,
};
pub use crate::bindings::classhook::plugin::queries::{DynamicFound, Found};
pub use crate::bindings::classhook::plugin::recorded::{
    Event as RecordedEvent, Sum, Table as RecordedTable, Times,
};
pub use crate::bindings::classhook::plugin::results::Column;
pub use crate::bindings::classhook::plugin::structure::{Element, EnumConstant};
pub use crate::bindings::classhook::plugin::types::{Constant, Failure, ProbeId, Site};
pub use crate::numbers::{At, Covered, Instruction, Line, Place};
pub use crate::observing::classhook::plugin::jvm_events::MethodInfo;
