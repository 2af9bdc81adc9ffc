//! Turns event files into tables, flame graphs, time lines and JSON lines.
//!
//! | module | makes |
//! |---|---|
//! | [`summary`], [`table`], [`records`] | one row per method: calls, times, quantiles, errors; for people and for programs |
//! | [`recording`] | of an event file the sums in memory and the single calls from disk, in the order of outputs |
//! | [`results`] | the tables of plugins, for people and for programs |
//! | [`stacks`], [`flame`] | who called whom for how long, as folded stacks and as an SVG |
//! | [`observed`] | what JVMs said of themselves: samples, contention, exceptions, collections |
//! | [`losses`] | what is missing, and why |
//! | [`numbers`] | numbers in texts |
//! | [`perfetto`] | every call on a time line, for <https://ui.perfetto.dev> and `chrome://tracing` |
//! | [`watched`] | one call at a time, for people or as a JSON object |
//! | [`json_lines`], [`compact`] | one event or one call per line, for programs |
//! | [`stream`], [`rolling`], [`prometheus`] | the same lines as calls end, sums of intervals, metrics: while the trace goes on |
//! | [`trees`], [`otlp`] | who called whom as calls end; spans and metrics for OpenTelemetry |
//! | [`slow`] | the tree of each slow call, with waits and collections |
//! | [`tasks`] | the calls that submitted what other threads run |
//! | [`rates`], [`nesting`] | what happened in an interval by package, class, method, thread and caller |
//!
//! Sums are a function of [`probes::events::Trace`]; several traces (the JVMs of one build) are united.
//! Files of single calls are written call by call ([`recording::Recording`]), with the same memory however many there are.
//! What is made while a trace goes on takes it entry by entry ([`probes::events::Follower`]) and keeps no single calls, but for those that
//! wait for their caller.
#![forbid(unsafe_code)]

pub mod absent;
mod cells;
pub mod compact;
pub mod flame;
pub mod json_lines;
pub mod losses;
pub mod names;
pub mod nesting;
pub mod numbers;
pub mod observed;
pub mod otlp;
pub mod perfetto;
pub mod prometheus;
pub mod rates;
pub mod recording;
pub mod records;
pub mod results;
pub mod rolling;
mod sheet;
pub mod slow;
pub mod stacks;
pub mod stream;
pub mod summary;
pub mod table;
pub mod tasks;
pub mod trees;
mod values;
pub mod watched;
