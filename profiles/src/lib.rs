//! Profiles of JVMs: recordings of the agent, and answers of the JVM to requests.
//!
//! | module | holds |
//! |---|---|
//! | [`visit`] | a recording in a running JVM, and questions to an agent that leaves again |
//! | [`recorded`] | recordings in files |
//! | [`outputs`] | tables, flame graphs, and files for pprof, Perfetto and JDK Flight Recorder |
//! | [`snapshots`], [`virtual_threads`] | threads and heap at one moment, over the attach protocol |
//! | [`heap_paths`], [`retainers`] | paths from GC roots to objects, and objects that retain the most |
//! | [`pause`] | the pause of a program while its heap is read: estimated, announced, limited |
//!
//! ```
//! use jvm_events::Recorded;
//! use profiles::outputs::ProfileOutputs;
//!
//! let folder = tempfile::tempdir()?;
//! let outputs = ProfileOutputs {
//!     json_lines: Some(folder.path().join("events.jsonl")),
//!     top: 20,
//!     ..ProfileOutputs::default()
//! };
//! outputs.report()?.make(vec![Recorded::default()], None)?;
//! assert!(folder.path().join("events.jsonl").exists());
//!
//! let twice = ProfileOutputs { jfr: outputs.json_lines.clone(), ..outputs };
//! assert_eq!(twice.report().err().map(|error| error.exit()), Some(2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod deadlocks;
mod dump_end;
mod heap_in_use;
pub mod heap_paths;
pub mod outputs;
pub mod pause;
pub mod recorded;
pub mod retainers;
pub mod snapshots;
pub mod virtual_threads;
pub mod visit;
