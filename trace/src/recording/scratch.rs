//! Storage for sorting: memory for small data, else an unnamed file.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::SpooledTempFile;

/// Maximum number of bytes in memory.
const IN_MEMORY: usize = 8 << 20;

/// Stored bytes, addressed by offset. Clones share them.
#[derive(Clone)]
pub struct Scratch(Arc<Mutex<ScratchFile>>);

struct ScratchFile {
    file: SpooledTempFile,
    length: u64,
}

impl Default for Scratch {
    /// Uses the folder for temporary files.
    fn default() -> Self {
        Self::new(std::env::temp_dir())
    }
}

impl Scratch {
    /// Uses this folder once the data is too large for memory.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self(Arc::new(Mutex::new(ScratchFile {
            file: tempfile::spooled_tempfile_in(IN_MEMORY, folder),
            length: 0,
        })))
    }

    fn with<T>(&self, work: impl FnOnce(&mut ScratchFile) -> io::Result<T>) -> io::Result<T> {
        let mut room = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut room).map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("no space for temporary files: {error}; set TMPDIR to another folder"),
            )
        })
    }

    /// Stores bytes; returns their offset.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(super) fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        self.with(|room| {
            let at = room.length;
            room.file.seek(SeekFrom::Start(at))?;
            room.file.write_all(bytes)?;
            room.length += bytes.len() as u64;
            Ok(at)
        })
    }

    /// Reads stored bytes.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(super) fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.with(|room| {
            room.file.seek(SeekFrom::Start(at))?;
            room.file.read_exact(bytes)
        })
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scratch")
    }
}
