//! The snapshot file: [`SnapshotWriter`] writes it. [`Snapshot`] reads it, also if the writer was killed or the bytes
//! are hostile.

mod contents;
mod decode;
mod write;

pub use contents::{ClassBytes, Snapshot, SnapshotClass};
pub use write::{SnapshotOptions, SnapshotWriter, end_copy};
pub(crate) use write::{write_class, write_hits};

use std::io::Read;
use std::path::Path;

use crate::error::SnapshotError;
use crate::format::{EVENTS_MAGIC, MAGIC, Meta, Summary};

impl Snapshot {
    /// Reads a snapshot file.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn read(path: &Path) -> Result<Self, SnapshotError> {
        let bytes = std::fs::read(path).map_err(|source| SnapshotError::Io {
            path: path.to_owned(),
            source,
        })?;
        Self::from_bytes(&bytes)
    }
}

/// Upper bound of a file's first record: a command line may be long.
const MAX_META_LENGTH: u64 = 4 << 20;

impl Meta {
    /// Reads only the description of the run from a snapshot file.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn read(path: &Path) -> Result<Self, SnapshotError> {
        decode::meta(&begin_of(path)?, MAGIC)
    }

    /// Reads only the description of the run from a snapshot or an event file.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn of_file(path: &Path) -> Result<Self, SnapshotError> {
        let bytes = begin_of(path)?;
        let magic = match bytes.starts_with(&EVENTS_MAGIC) {
            true => EVENTS_MAGIC,
            false => MAGIC,
        };
        decode::meta(&bytes, magic)
    }
}

impl Summary {
    /// Reads only the totals at the end of a snapshot file; `None` if its JVM did not end in good order.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn of_file(path: &Path) -> Result<Option<Self>, SnapshotError> {
        let bytes = std::fs::read(path).map_err(|source| SnapshotError::Io {
            path: path.to_owned(),
            source,
        })?;
        decode::summary(&bytes)
    }
}

fn begin_of(path: &Path) -> Result<Vec<u8>, SnapshotError> {
    let failed = |source| SnapshotError::Io {
        path: path.to_owned(),
        source,
    };
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .map_err(failed)?
        .take(MAX_META_LENGTH)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    Ok(bytes)
}
