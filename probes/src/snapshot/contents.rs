//! What a snapshot holds.

use crate::error::SnapshotError;
use crate::format::{Failure, Incomplete, Meta, Summary};
use crate::test_hits::TestHits;

/// What one JVM recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// What was run, where and when.
    pub meta: Meta,
    /// The instrumented classes in order of registration.
    pub classes: Vec<SnapshotClass>,
    /// Classes loaded without the edits of a plugin after a failure.
    pub failures: Vec<Failure>,
    /// The numbers written at the end; all 0 if the JVM was killed.
    pub summary: Summary,
    /// Whether the JVM ended in good order.
    pub complete: bool,
    /// Whether the last record was cut off: the JVM was killed while writing. What is here is whole.
    pub truncated: bool,
    /// What single tests executed, in the order in which they began or ended.
    pub tests: Vec<TestHits>,
    /// Whether of later tests it is not known.
    pub tests_cut_off: bool,
    /// Why something could not be written, and what.
    pub incomplete: Option<Incomplete>,
}

/// A class and its probes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotClass {
    /// Internal name.
    pub name: String,
    /// JaCoCo's class id of the bytes as loaded.
    pub fingerprint: u64,
    /// The class loader that asked first.
    pub loader: String,
    /// The plugin that the probes belong to.
    pub plugin: String,
    /// Which probes were hit.
    pub probes: Vec<bool>,
    /// The class file as loaded, if it was kept.
    pub bytes: Option<ClassBytes>,
}

/// A class file as stored: compressed, so that many of them fit into memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassBytes {
    pub(super) compressed: Vec<u8>,
    pub(super) length: usize,
}

impl ClassBytes {
    /// The class file itself.
    ///
    /// # Errors
    /// [`SnapshotError::Corrupt`] if it cannot be decompressed, with the offset within the stored block.
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
