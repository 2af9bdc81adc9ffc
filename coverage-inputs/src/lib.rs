//! Inputs of coverage reports: run files, class files and sources.
//!
//! | module | holds |
//! |---|---|
//! | [`run_files`] | snapshots, event files and JaCoCo's files: their kinds, and reading them |
//! | [`runs`] | the files of the latest run, or of all runs |
//! | [`execution_data`] | the hits of snapshots and JaCoCo's files, merged by class |
//! | [`damaged_files`] | files that are left out, or end a strict job |
//! | [`exec_files`], [`jacoco_agents`] | JaCoCo's files, and its agents in the recorded JVMs |
//! | [`class_files`], [`named_classes`] | class files in folders, jars, archives in archives, and the JDK |
//! | [`archive`], [`jrt`] | reading of jars, and of the JDK's image of modules |
//! | [`sources`] | source files by package and name |
//! | [`command_line`] | the main class of a JVM, from its command line |
//!
//! Each fails with a coded [`errors::Error`], and adds remarks to [`errors::Warnings`].
//!
//! ```
//! use coverage_inputs::class_files::{self, Loader};
//! use coverage_inputs::run_files::{self, RunFileKind};
//!
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("classhook.hook"), probes::format::MAGIC)?;
//! std::fs::write(folder.path().join("Shop.class"), b"\xca\xfe\xba\xbe")?;
//!
//! let files = run_files::find(&[folder.path().to_owned()])?;
//! assert_eq!(files, [folder.path().join("classhook.hook")]);
//! assert_eq!(run_files::kind(&files[0])?, RunFileKind::Snapshot);
//!
//! let mut found = Vec::new();
//! let place = folder.path().display().to_string();
//! class_files::read(&place, &Loader::newest(), &mut |classes| {
//!     found.extend(classes);
//!     Ok(())
//! })?;
//! assert_eq!(found.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod archive;
pub mod class_files;
pub mod command_line;
pub mod damaged_files;
pub mod exec_files;
pub mod execution_data;
pub mod jacoco_agents;
pub mod jrt;
pub mod named_classes;
pub mod run_files;
pub mod runs;
pub mod sources;
