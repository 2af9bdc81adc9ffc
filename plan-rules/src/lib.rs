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
pub mod counter;
pub mod declared;
mod event;
mod helper_classes;
mod helpers;
pub mod limits;
pub mod numbers;
pub mod queries;
mod refusal;
mod request;
pub mod row;
mod snippet;
pub mod span;
mod transformation;

pub use class::{CheckedClass, ClassMemory};
pub use computed::{ComputedTable, ComputedTables};
pub use event::{EventRequest, EventValue, EventValues, Step};
pub use helper_classes::{
    HELPER_PREFIX, HelperClass, HelperError, HelperUseError, PROBED_PREFIX, UsePlace,
    check_helper_uses, is_helper_class, is_probed_helper, place_helpers,
};
pub use refusal::RefusedRequest;
pub use request::{Note, PlanRequest, ProbeKind, Rows, Tag};
pub use row::{Row, columns};
pub use transformation::{Transformation, instruction_at};
