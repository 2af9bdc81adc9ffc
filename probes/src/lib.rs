//! Allocates the probes of classes in the shared arrays, and writes and reads the files with their hits and the
//! traced calls.
//!
//! The three parts, in the order of the data flow:
//!
//! * [`ProbeTable`] allocates a range of elements in the shared byte arrays of the JVM for every instrumented class.
//! * [`SnapshotWriter`] compares the arrays with their last seen content and appends the changes to a snapshot file.
//! * [`Snapshot`] reads such a file, also after its writer was killed.
//!
//! The crate depends neither on a JVM nor on WebAssembly: arrays are slices, classes are bytes. The module
//! [`format`](mod@format) describes the file format.
//!
//! ```
//! use probes::{Meta, ProbeTable, SnapshotWriter, SnapshotOptions, Snapshot, Summary};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! let table = ProbeTable::new();
//! table.set_arrays(1);
//! let range = table.register("com/acme/Main", 0x1234, "app", "coverage", 3, b"class bytes")?;
//!
//! let mut writer = SnapshotWriter::create(dir.path(), Meta::default(), SnapshotOptions::default())?;
//! let mut array = vec![0i8; probes::ARRAY_LENGTH];
//! array[usize::from(range.base) + 1] = 1; // the JVM stores a byte: probe 1 was hit
//! writer.absorb(range.array, &array);
//! writer.complete(&table, &Summary::default())?;
//!
//! let snapshot = Snapshot::read(writer.path())?;
//! assert_eq!(snapshot.classes[0].probes, [false, true, false]);
//! # Ok(())
//! # }
//! ```
//!
//! Start reading at [`table`], then [`snapshot`].
#![forbid(unsafe_code)]

pub mod arrays;
pub mod baseline;
pub mod coverage_plugins;
pub mod error;
pub mod events;
pub mod file_name;
pub mod format;
mod log;
pub mod merge;
pub mod snapshot;
pub mod spans;
pub mod table;
pub mod test_hits;

pub use arrays::{ARRAY_LENGTH, ARRAYS_AHEAD, COUNTS_LENGTH, MAX_ARRAYS, NEAR_LENGTH};
pub use baseline::{BaselineWriter, ProbeLocation};
pub use error::{SnapshotError, WriteError};
pub use events::{EventWriter, SpanInfo, SpanMode, Trace};
pub use file_name::{FileName, date_and_time, user_name};
pub use format::{FailedPlugin, Failure, Incomplete, Meta, Session, Summary, Unselected};
pub use log::Flush;
pub use merge::{Conflict, Merged, merge};
pub use snapshot::{
    ClassBytes, Snapshot, SnapshotClass, SnapshotOptions, SnapshotWriter, end_copy,
};
pub use spans::SpanTable;
pub use table::{HitCode, PendingClass, ProbeRange, ProbeTable, Registration, TableError};
pub use test_hits::{TakenHits, TestHits};
