//! The values of the WIT package, the same types natively and in WebAssembly.

pub use crate::bindings::classhook::plugin::class_file::{FieldSummary, Handler, MethodSummary};
pub use crate::bindings::classhook::plugin::declarations::{
    Annotated, Component, Enclosing, FoundAnnotation, InnerClass, NamedMethod, Parameter,
    ParameterPlace,
};
pub use crate::bindings::classhook::plugin::queries::{DynamicFound, Found};
pub use crate::bindings::classhook::plugin::recorded::{
    Event as RecordedEvent, Sum, Table as RecordedTable, Times,
};
pub use crate::numbers::{Covered, Instruction, Line};
pub use crate::observing::classhook::plugin::jvm_events::MethodInfo;
