//! Archives that depend on nothing but their content: entries in the order of their names, one time, no users.

use anyhow::Result;
use flate2::{Compression, GzBuilder};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use tar::{Builder, EntryType, Header};

/// The time of all entries, in seconds since 1970: that of the commit, or `SOURCE_DATE_EPOCH`.
#[derive(Clone, Copy)]
pub struct Time(pub u64);

/// An entry of an archive.
#[derive(Clone)]
pub enum Entry {
    /// A file that users read.
    File(Vec<u8>),
    /// A file that users execute, or a JVM loads.
    Program(Vec<u8>),
    /// A link to another path.
    Link(&'static str),
}

impl Entry {
    /// Bytes of its content.
    pub fn size(&self) -> usize {
        match self {
            Self::File(bytes) | Self::Program(bytes) => bytes.len(),
            Self::Link(_) => 0,
        }
    }
}

/// Entries by their paths, which have no `/` at their start.
pub type Tree = BTreeMap<String, Entry>;

/// Returns the tree as a tar archive, with an entry for each folder.
pub fn tar(tree: &Tree, time: Time) -> Result<Vec<u8>> {
    let mut archive = Builder::new(Vec::new());
    let mut folders = BTreeSet::new();
    for (path, entry) in tree {
        for (at, _) in path.match_indices('/') {
            if folders.insert(&path[..=at]) {
                let mut header = header(EntryType::Directory, 0o755, 0, time);
                archive.append_data(&mut header, &path[..=at], [].as_slice())?;
            }
        }
        match entry {
            Entry::File(bytes) => {
                let mut header = header(EntryType::Regular, 0o644, bytes.len(), time);
                archive.append_data(&mut header, path, bytes.as_slice())?;
            }
            Entry::Program(bytes) => {
                let mut header = header(EntryType::Regular, 0o755, bytes.len(), time);
                archive.append_data(&mut header, path, bytes.as_slice())?;
            }
            Entry::Link(target) => {
                let mut header = header(EntryType::Symlink, 0o777, 0, time);
                archive.append_link(&mut header, path, target)?;
            }
        }
    }
    Ok(archive.into_inner()?)
}

/// Compresses with gzip, whose header then names no file and no time.
pub fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut packed = GzBuilder::new().write(Vec::new(), Compression::best());
    packed.write_all(bytes)?;
    Ok(packed.finish()?)
}

fn header(kind: EntryType, mode: u32, size: usize, time: Time) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size as u64);
    header.set_mtime(time.0);
    header.set_uid(0);
    header.set_gid(0);
    header
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::output_of;
    use std::process::Command;

    fn tree() -> Tree {
        let long = format!("a/{}/notes.txt", "long".repeat(40));
        Tree::from([
            ("a/tool".to_owned(), Entry::Program(b"#!/bin/sh\n".to_vec())),
            ("a/b/text".to_owned(), Entry::File(b"text".to_vec())),
            (long, Entry::File(Vec::new())),
            ("bin/tool".to_owned(), Entry::Link("../a/tool")),
        ])
    }

    #[test]
    fn packed_twice_the_same_tree_gives_the_same_bytes() {
        let pack = || gzip(&tar(&tree(), Time(1_700_000_000)).unwrap()).unwrap();
        assert_eq!(pack(), pack());
        let later = gzip(&tar(&tree(), Time(1_700_000_001)).unwrap()).unwrap();
        assert_ne!(pack(), later, "the time is in the archive");
    }

    #[test]
    fn tar_of_the_system_unpacks_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.tar.gz");
        std::fs::write(
            &file,
            gzip(&tar(&tree(), Time(1_700_000_000)).unwrap()).unwrap(),
        )
        .unwrap();
        let mut unpack = Command::new("tar");
        unpack.arg("xzf").arg(&file).arg("-C").arg(folder.path());
        output_of(&mut unpack).unwrap();
        let list = output_of(Command::new("tar").arg("tvzf").arg(&file)).unwrap();
        assert!(list.contains("lrwxrwxrwx 0/0"), "{list}");
        assert!(list.contains("drwxr-xr-x 0/0"), "{list}");
        assert_eq!(
            std::fs::read(folder.path().join("a/b/text")).unwrap(),
            b"text"
        );
        output_of(&mut Command::new(folder.path().join("bin/tool"))).unwrap();
    }
}
