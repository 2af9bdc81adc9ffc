//! Files of this machine, as a command reads and writes them.
//!
//! | module | holds |
//! |---|---|
//! | [`atomic`] | files and folders that appear whole or not at all |
//! | [`output_files`] | the files of one job, of which each may fail alone |
//! | [`distinct_outputs`] | the check that outputs replace neither one another nor an input |
//! | [`stdout`] | standard output in place of a file |
//! | [`preflight`] | checks before a job that its outputs can be written |
//! | [`temporary`] | temporary files and folders, and the removal of leftovers of killed commands |
//! | [`recording_jvm`], [`open_files`] | the JVM that wrote a run file, and whether it still does |
//! | [`jvm_files`], [`jvm_tmp`] | our files in the file system of a JVM |
//! | [`special_file`] | devices, pipes and sockets |
//! | [`absolute_path`] | absolute paths |
//! | [`programs`] | the executable files of commands |
//!
//! Each fails with a coded [`errors::Error`] or an [`std::io::Error`].
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! let report = folder.path().join("report.csv");
//!
//! local_files::atomic::file(&report, &|out| out.write_all(b"class,covered\n"))?;
//! assert_eq!(std::fs::read(&report)?, b"class,covered\n");
//!
//! // A failure leaves the earlier file as it was.
//! let failure = local_files::atomic::file(&report, &|_| Err(std::io::ErrorKind::StorageFull.into()));
//! assert_eq!(failure.unwrap_err().code(), "H0620");
//! assert_eq!(std::fs::read(&report)?, b"class,covered\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod absolute_path;
pub mod atomic;
pub mod distinct_outputs;
pub mod jvm_files;
pub mod jvm_tmp;
pub mod open_files;
pub mod output_files;
pub mod preflight;
pub mod programs;
pub mod recording_jvm;
pub mod special_file;
pub mod stdout;
pub mod temporary;
