//! What Classhook records: where each class's probes lie, which of them were hit, and the snapshot file.
//!
//! Three parts, in the order that data takes:
//!
//! * [`ProbeTable`] gives every instrumented class its slots in the shared byte arrays of the JVM.
//! * [`Recorder`] compares the arrays with what it last saw and appends what is new to a snapshot file.
//! * [`Snapshot`] reads such a file again, also one whose writer was killed.
//!
//! This crate knows no JVM and no WebAssembly: arrays arrive as slices, classes as bytes.
//! The file format is described in [`format`](mod@format).
//!
//! ```
//! use probes::{Meta, ProbeTable, Recorder, RecorderOptions, Snapshot, Summary};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! let table = ProbeTable::new();
//! table.set_arrays(1);
//! let slots = table.register("com/acme/Main", 0x1234, "app", "coverage", 3, b"class bytes")?;
//!
//! let mut recorder = Recorder::create(dir.path(), Meta::default(), RecorderOptions::default())?;
//! let mut array = vec![0i8; probes::ARRAY_LENGTH];
//! array[usize::from(slots.base) + 1] = 1; // the JVM stores a byte: probe 1 was hit
//! recorder.absorb(slots.array, &array);
//! recorder.complete(&table, &Summary::default())?;
//!
//! let snapshot = Snapshot::read(recorder.path())?;
//! assert_eq!(snapshot.classes[0].probes, [false, true, false]);
//! # Ok(())
//! # }
//! ```
//!
//! Start reading at [`table`], then [`recorder`].
#![forbid(unsafe_code)]

pub mod baseline;
mod crc32;
pub mod error;
pub mod events;
pub mod format;
mod log;
pub mod merge;
pub mod recorder;
pub mod snapshot;
pub mod spans;
pub mod table;

pub use baseline::BaselineWriter;
pub use error::{RecordError, SnapshotError};
pub use events::{EventWriter, SpanInfo, SpanMode, Trace};
pub use format::{Failure, Meta, Summary};
pub use log::Flush;
pub use merge::{Conflict, Merged, merge};
pub use recorder::{Recorder, RecorderOptions, end_copy};
pub use snapshot::{ClassBytes, Snapshot, SnapshotClass};
pub use spans::SpanTable;
pub use table::{
    ARRAY_LENGTH, ARRAYS_AHEAD, MAX_ARRAYS, PendingClass, ProbeTable, Registration, Slots,
    TableError,
};
