//! Traces while they are recorded. A thread of this process reads the event files that agents append
//! to, so the JVMs take no part.
//!
//! | module | holds |
//! |---|---|
//! | [`jvms`] | the JVMs of a trace, and their growing event files |
//! | [`outputs`] | JSON lines, a table for each interval, metrics, OpenTelemetry |
//! | [`watch_printer`] | single calls, lines and field writes as they end |
//! | [`top`] | rates of methods on a screen, and as tables |
//!
//! ```
//! use live_traces::jvms::EventFileSource;
//! use live_traces::outputs::{Live, LiveOptions};
//!
//! let folder = tempfile::tempdir()?;
//! let lines = folder.path().join("calls.jsonl");
//! let options = LiveOptions { json_lines: Some(lines.clone()), ..LiveOptions::default() };
//! let live = Live::start(EventFileSource::Run("run-1".to_owned()), folder.path(), options)?;
//! // … the JVMs of the run append their event files …
//! assert!(live.finish().failed.is_empty());
//! assert!(lines.exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod jvms;
pub mod outputs;
pub mod top;
pub mod watch_printer;
