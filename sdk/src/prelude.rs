//! The items that most plugins need.

pub use crate::capture::Capture;
pub use crate::class::{Allocation, Call, Class, Method, MethodView};
pub use crate::config::Config;
pub use crate::error::{Error, Result};
pub use crate::event::Event;
pub use crate::numbers::{CodeView, RawCode};
pub use crate::plan::Plan;
pub use crate::reporter::{EventRow, Recorded, Report, Reporter, SumRow};
pub use crate::snippet::Snippet;
pub use crate::table::{ColumnKind, Table};
pub use crate::transformer::{NoSettings, Transformer};
pub use crate::wit::{
    Annotated, At, Failure, Handler, Instruction, Jump, Line, Place, ProbeId, Site,
};
pub use serde::Deserialize;
