//! Rules for plans: insertion points, numbers of probes, limits, and the messages of refusals.
//!
//! The plugin host puts the WIT interface in front of a [`Transformation`], the test kit the SDK's traits. So a plugin
//! gets the same answers from both.
//!
//! Start reading at [`Transformation`]; [`limits`] lists the limits.

#![forbid(unsafe_code)]

mod annotation;
mod attributes;
mod class;
mod computed;
pub mod declared;
mod event;
mod helpers;
pub mod limits;
pub mod numbers;
mod points;
pub mod queries;
mod refusal;
mod request;
mod row;
mod snippet;
mod transformation;

pub use annotation::{AnnotationBuilder, NestedArray};
pub use class::{CheckedClass, ClassMemory};
pub use computed::{ComputedTable, ComputedTables};
pub use event::{EventRequest, EventValue, EventValues, Step};
pub use points::instruction_at;
pub use refusal::RefusedRequest;
pub use request::{Note, PlanRequest, ProbeKind, Rows, Tag};
pub use row::Row;
pub use snippet::SnippetBuilder;
pub use transformation::Transformation;
