//! The contents of a snapshot.

use crate::error::SnapshotError;
use crate::format::{Failure, Incomplete, Meta, Summary};
use crate::test_hits::TestHits;

/// The recorded data of one JVM.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Description of the run.
    pub meta: Meta,
    /// The instrumented classes in order of registration.
    pub classes: Vec<SnapshotClass>,
    /// Classes loaded without the edits of a plugin after a failure.
    pub failures: Vec<Failure>,
    /// The totals written at the end; all 0 if the JVM was killed.
    pub summary: Summary,
    /// `true` if the JVM ended in good order.
    pub complete: bool,
    /// `true` if the last record was cut off because the JVM was killed while writing. All records before it are
    /// whole.
    pub truncated: bool,
    /// Probes executed by single tests, in the order of the records.
    pub tests: Vec<TestHits>,
    /// `true` if later tests were not recorded.
    pub tests_cut_off: bool,
    /// The reason and the amount of data that could not be written.
    pub incomplete: Option<Incomplete>,
}

/// A class and its probes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotClass {
    /// Internal name.
    pub name: String,
    /// JaCoCo's class id of the bytes as loaded.
    pub fingerprint: u64,
    /// The class loader of the first request.
    pub loader: String,
    /// The plugin that owns the probes.
    pub plugin: String,
    /// `true` for each probe that was hit.
    pub probes: Vec<bool>,
    /// The class file as loaded, if it was kept.
    pub bytes: Option<ClassBytes>,
}

/// A stored class file, compressed so that many fit into memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassBytes {
    pub(super) compressed: Vec<u8>,
    pub(super) length: usize,
}

impl ClassBytes {
    /// Decompresses the class file.
    ///
    /// # Errors
    /// [`SnapshotError::Corrupt`] if decompression fails, with the offset within the stored block.
    pub fn inflate(&self) -> Result<Vec<u8>, SnapshotError> {
        lz4_flex::block::decompress(&self.compressed, self.length).map_err(|error| {
            SnapshotError::Corrupt {
                offset: 0,
                expected: format!(
                    "a class file of {} bytes in {} compressed ones",
                    self.length,
                    self.compressed.len()
                ),
                found: error.to_string(),
            }
        })
    }
}
