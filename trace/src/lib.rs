//! Converts event files to tables, flame graphs, time lines and JSON lines.
//!
//! | module | output |
//! |---|---|
//! | [`summary`], [`table`], [`records`] | one row per method: calls, times, quantiles, errors; for people and for programs |
//! | [`recording`] | an event file with its sums in memory and its single calls on disk, in the order of outputs |
//! | [`results`] | the tables of plugins, for people and for programs |
//! | [`stacks`], [`flame`] | callers and callees with their durations, as folded stacks and as an SVG |
//! | [`jvm_events`] | recorded events of JVMs: samples, contention, exceptions, collections |
//! | [`losses`] | missing data and its causes |
//! | [`numbers`] | numbers in texts |
//! | [`perfetto`] | every call on a time line, for <https://ui.perfetto.dev> and `chrome://tracing` |
//! | [`watched`] | one call at a time, for people or as a JSON object |
//! | [`json_lines`], [`compact`] | one event or one call per line, for programs |
//! | [`stream`], [`rolling`], [`prometheus`] | the same lines when calls end, sums of intervals, metrics: during the trace |
//! | [`settling`] | the JVMs of a running trace, whose calls are settled periodically |
//! | [`trees`], [`otlp`] | callers of calls when they end; spans and metrics for OpenTelemetry |
//! | [`slow`] | the tree of each slow call, with waits and collections |
//! | [`tasks`] | the calls that submitted what other threads run |
//! | [`rates`], [`nesting`] | calls in an interval by package, class, method, thread and caller |
//!
//! Sums are computed from [`probes::events::Trace`]; several traces (the JVMs of one build) are united. Outputs of
//! single calls are written call by call ([`recording::Recording`]), with constant memory. Outputs during a trace
//! receive it entry by entry ([`probes::events::Follower`]). They keep only the single calls whose callers are not
//! known yet.
#![forbid(unsafe_code)]

pub mod absent;
mod cells;
pub mod compact;
pub mod flame;
mod forgotten;
pub mod json_lines;
pub mod jvm_events;
pub mod losses;
pub mod names;
pub mod nesting;
pub mod numbers;
pub mod otlp;
pub mod perfetto;
pub mod prometheus;
pub mod rates;
pub mod recording;
pub mod records;
pub mod results;
pub mod rolling;
pub mod settling;
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
