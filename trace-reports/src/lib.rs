//! Recorded traces as tables, trees and files, with the tables that plugins compute.
//!
//! | module | holds |
//! |---|---|
//! | [`recorded`] | event files of a run, a visit or a report, with the selected classes |
//! | [`completeness`] | checks for missing data, and for outputs that a recording cannot provide |
//! | [`outputs`] | the table of methods, those of plugins, and the files |
//! | [`stacks`] | flame graphs and folded stacks, also of profiles |
//! | [`slow_trees`] | trees of slow calls |
//! | [`plugin_tables`], [`reporters`] | tables of plugins from JVM events, and from recordings |
//! | [`value_check`] | requested values of calls that no class can have |
//!
//! The outputs of a recording appear whole or not at all, and one that fails leaves the others:
//!
//! ```
//! use trace_reports::completeness::StreamedLines;
//! use trace_reports::outputs::TraceOutputs;
//!
//! let folder = tempfile::tempdir()?;
//! let outputs = TraceOutputs {
//!     table_csv: Some(folder.path().join("methods.csv")),
//!     top: 40,
//!     ..TraceOutputs::default()
//! };
//! outputs.check(None)?;
//! outputs.make(&[], StreamedLines::No)?;
//! assert!(std::fs::read_to_string(folder.path().join("methods.csv"))?.contains("method"));
//!
//! let twice = TraceOutputs { folded: outputs.table_csv.clone(), ..outputs };
//! assert_eq!(twice.check(None).unwrap_err().code(), "H0670");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod completeness;
pub mod outputs;
pub mod plugin_tables;
pub mod recorded;
pub mod reporters;
pub mod slow_trees;
pub mod stacks;
pub mod value_check;
