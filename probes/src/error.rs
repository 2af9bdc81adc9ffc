//! Errors of writing and reading snapshots and event files.

use std::io;
use std::path::PathBuf;

/// The reason why a file could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The snapshot file could not be created.
    #[error("cannot create a snapshot in {}: {source}", directory.display())]
    Create {
        /// The directory of the file.
        directory: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The snapshot file could not be written. It holds whole records only; the rest is written later.
    #[error("cannot write {pending} bytes to {}: {source}; they are kept and written later", path.display())]
    Write {
        /// Path of the file.
        path: PathBuf,
        /// Number of pending bytes.
        pending: usize,
        /// The cause.
        source: io::Error,
    },
    /// An event file reached its size limit and cannot be compacted.
    #[error("cannot compact {}: {source}; the file exceeds its size limit (max-size)", path.display())]
    Shorten {
        /// Path of the file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// The reason why a snapshot cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The file cannot be opened or read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file does not start with the magic bytes of a snapshot.
    #[error("wrong file type: expected the first bytes {expected}, found {found}")]
    NotASnapshot {
        /// The magic bytes of a snapshot.
        expected: String,
        /// The first bytes of the file.
        found: String,
    },
    /// The writer was killed before its first record.
    #[error(
        "the recording holds {length} bytes and no record: its JVM ended before it recorded data"
    )]
    Empty {
        /// Length of the file, in bytes.
        length: u64,
    },
    /// The file has a newer format version.
    #[error(
        "the recording has format version {found}, this version reads {supported}: use the classhook that wrote it, or a newer one"
    )]
    Newer {
        /// The format version of the file.
        found: u32,
        /// The newest readable format version.
        supported: u32,
    },
    /// The file is damaged before its last record.
    #[error(
        "the recording is damaged at byte {offset}: expected {expected}, found {found}; run the program again, or omit this recording"
    )]
    Corrupt {
        /// Offset in the file.
        offset: u64,
        /// The expected content.
        expected: String,
        /// The content of the file.
        found: String,
    },
}
