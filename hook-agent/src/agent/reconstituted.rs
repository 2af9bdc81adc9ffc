//! The class files of classes that the JVM reconstitutes.
//!
//! The hook receives a class that was loaded before the agent as the JVM reconstitutes it from its own structures. The
//! JVM keeps those bytes and passes them again when another agent retransforms the class later. The same holds for a
//! class with structural edits. Probes are numbered by the class file, so the agent keeps it, compressed, for each such
//! class.

use crate::messages;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The class files of reconstituted classes.
#[derive(Debug, Default)]
pub(crate) struct Reconstituted {
    /// By hash of name and reconstituted bytes.
    files: Mutex<HashMap<u64, CompressedClassFile>>,
    hasher: RandomState,
}

#[derive(Debug)]
struct CompressedClassFile {
    compressed: Box<[u8]>,
    length: usize,
}

impl Reconstituted {
    /// Keeps the class file of a class if the reconstituted bytes differ from it.
    pub fn keep(&self, name: &[u8], reconstituted: &[u8], file: &[u8]) {
        if reconstituted == file {
            return;
        }
        let file = CompressedClassFile {
            compressed: lz4_flex::block::compress(file).into_boxed_slice(),
            length: file.len(),
        };
        self.files().insert(self.key(name, reconstituted), file);
    }

    /// The class file that was kept for these bytes.
    pub fn find(&self, name: &[u8], reconstituted: &[u8]) -> Option<Vec<u8>> {
        let files = self.files();
        if files.is_empty() {
            return None;
        }
        let file = files.get(&self.key(name, reconstituted))?;
        lz4_flex::block::decompress(&file.compressed, file.length)
            .inspect_err(|error| {
                messages::debug(format_args!("a stored class file is damaged: {error}"))
            })
            .ok()
    }

    fn key(&self, name: &[u8], reconstituted: &[u8]) -> u64 {
        self.hasher.hash_one((name, reconstituted))
    }

    fn files(&self) -> MutexGuard<'_, HashMap<u64, CompressedClassFile>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_file_is_found_by_its_reconstituted_bytes() {
        let reconstituted = Reconstituted::default();
        assert_eq!(reconstituted.find(b"a/A", b"other"), None);
        reconstituted.keep(b"a/A", b"other", b"file");
        reconstituted.keep(b"a/B", b"same", b"same");
        assert_eq!(
            reconstituted.find(b"a/A", b"other").as_deref(),
            Some(&b"file"[..])
        );
        assert_eq!(reconstituted.find(b"a/A", b"redefined"), None);
        assert_eq!(reconstituted.find(b"a/B", b"other"), None);
        assert_eq!(reconstituted.find(b"a/B", b"same"), None);
    }
}
