//! Which file belongs to bytes that the JVM rebuilt.
//!
//! A class that was loaded before the agent comes through the hook as the JVM rebuilds it, and the
//! JVM keeps those bytes: when another agent retransforms the class later, they come again. Probes
//! are numbered by the file, so it is kept, compressed, for each such class.

use crate::messages;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The files of rebuilt classes.
#[derive(Debug, Default)]
pub(crate) struct Rebuilt {
    /// By hash of name and rebuilt bytes.
    files: Mutex<HashMap<u64, File>>,
    hasher: RandomState,
}

#[derive(Debug)]
struct File {
    compressed: Box<[u8]>,
    length: usize,
}

impl Rebuilt {
    /// Keeps the file of a class whose rebuilt bytes differ from it.
    pub fn keep(&self, name: &[u8], rebuilt: &[u8], file: &[u8]) {
        if rebuilt == file {
            return;
        }
        let file = File {
            compressed: lz4_flex::block::compress(file).into_boxed_slice(),
            length: file.len(),
        };
        self.files().insert(self.key(name, rebuilt), file);
    }

    /// The file that was kept for these bytes.
    pub fn find(&self, name: &[u8], rebuilt: &[u8]) -> Option<Vec<u8>> {
        let files = self.files();
        if files.is_empty() {
            return None;
        }
        let file = files.get(&self.key(name, rebuilt))?;
        lz4_flex::block::decompress(&file.compressed, file.length)
            .inspect_err(|error| messages::debug(format_args!("a file kept is damaged: {error}")))
            .ok()
    }

    fn key(&self, name: &[u8], rebuilt: &[u8]) -> u64 {
        self.hasher.hash_one((name, rebuilt))
    }

    fn files(&self) -> MutexGuard<'_, HashMap<u64, File>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_by_the_bytes_that_the_jvm_made_of_it() {
        let rebuilt = Rebuilt::default();
        assert_eq!(rebuilt.find(b"a/A", b"other"), None);
        rebuilt.keep(b"a/A", b"other", b"file");
        rebuilt.keep(b"a/B", b"same", b"same");
        assert_eq!(
            rebuilt.find(b"a/A", b"other").as_deref(),
            Some(&b"file"[..])
        );
        assert_eq!(rebuilt.find(b"a/A", b"redefined"), None);
        assert_eq!(rebuilt.find(b"a/B", b"other"), None);
        assert_eq!(rebuilt.find(b"a/B", b"same"), None);
    }
}
