//! What can go wrong when snapshots and event files are written and read.

use std::io;
use std::path::PathBuf;

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The snapshot file could not be made.
    #[error("cannot create a snapshot in {}: {source}", directory.display())]
    Create {
        /// Where it should have been made.
        directory: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The snapshot file could not be written; it holds whole records only, the rest is tried again later.
    #[error("cannot write {pending} bytes to {}: {source}; they are kept and tried again", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Bytes that wait.
        pending: usize,
        /// Why not.
        source: io::Error,
    },
    /// An event file has the length that was asked for and cannot be made shorter.
    #[error("cannot make {} shorter: {source}; it becomes longer than asked for (max-size)", path.display())]
    Shorten {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Why a snapshot cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The file cannot be opened or read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file does not begin as a snapshot does.
    #[error("not such a recording: expected the file to begin with {expected}, found {found}")]
    NotASnapshot {
        /// The first bytes of a snapshot.
        expected: String,
        /// The first bytes of the file.
        found: String,
    },
    /// The writer was killed before it had written anything.
    #[error(
        "the recording holds {length} bytes and no record: its JVM ended before anything was recorded"
    )]
    Empty {
        /// Bytes in the file.
        length: u64,
    },
    /// The file was written by a newer version.
    #[error(
        "the recording has format version {found}, this version reads {supported}: use the classhook that wrote it, or a newer one"
    )]
    Newer {
        /// The file's version.
        found: u32,
        /// The version that can be read.
        supported: u32,
    },
    /// The file is damaged in the middle.
    #[error(
        "the recording is damaged at byte {offset}: expected {expected}, found {found}; run the program again, or report on the others without this one"
    )]
    Corrupt {
        /// Where.
        offset: u64,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
}
