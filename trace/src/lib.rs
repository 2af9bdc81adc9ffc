//! Turns event files into tables, flame graphs, time lines and JSON lines.
//!
//! | module | makes |
//! |---|---|
//! | [`summary`], [`table`], [`records`] | one row per method: calls, times, quantiles, errors; for people and for programs |
//! | [`stacks`], [`flame`] | who called whom for how long, as folded stacks and as an SVG |
//! | [`perfetto`] | every call on a time line, for <https://ui.perfetto.dev> and `chrome://tracing` |
//! | [`json_lines`], [`compact`] | one event or one call per line, for programs |
//!
//! Everything here is a function of [`probes::events::Trace`]; several traces (the JVMs of one build) are united.
#![forbid(unsafe_code)]

pub mod compact;
pub mod flame;
pub mod json_lines;
pub mod names;
pub mod perfetto;
pub mod records;
pub mod stacks;
pub mod summary;
pub mod table;
mod values;
