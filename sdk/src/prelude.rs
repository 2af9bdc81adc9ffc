//! The items that most plugins need.

pub use crate::class::{Allocation, Call, Class, Exit, Method, MethodView};
pub use crate::config::Config;
pub use crate::error::{Error, Result};
pub use crate::numbers::{CodeView, RawCode};
pub use crate::plan::Plan;
pub use crate::reporter::{EventRow, Recorded, Report, Reporter, SumRow};
pub use crate::table::Table;
pub use crate::transformer::{NoSettings, Transformer};
pub use crate::wit::{Annotated, Handler, Instruction, Line};
pub use edits::{
    Assemble, Bci, Capture, ColumnKind, Event, InsertionPoint, Location, MethodIndex, Refusal,
    Snippet, Tag,
};
pub use serde::Deserialize;
