//! Files and folders that commands leave in `/tmp`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The entries of `/tmp` at some time. A process may get the id of one that left a folder on the day before, so a
/// test compares with the entries from before its commands.
pub struct Leftovers {
    before: BTreeSet<PathBuf>,
}

impl Leftovers {
    /// Reads the entries before the commands of a test.
    pub fn before() -> Self {
        Self {
            before: entries().collect(),
        }
    }

    /// Returns the entries that these commands have made, and that exist now.
    pub fn of(&self, commands: &[u32]) -> Vec<PathBuf> {
        let is_theirs = |path: &PathBuf| maker(path).is_some_and(|maker| commands.contains(&maker));
        entries()
            .filter(|path| !self.before.contains(path) && is_theirs(path))
            .collect()
    }

    /// Deletes the folders that a command has left on purpose.
    pub fn delete(&self, command: u32) {
        let left = self.of(&[command]);
        assert!(!left.is_empty(), "the command left no folder");
        for folder in left {
            std::fs::remove_dir_all(folder).expect("a folder of this user");
        }
    }
}

fn entries() -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir("/tmp").expect("a folder");
    entries.flatten().map(|entry| entry.path())
}

/// Returns the process that made an entry: the second part of `classhook-for-NAMESPACE-PROCESS-START-…`.
fn maker(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    let parts = name.strip_prefix("classhook-for-")?;
    parts.split('-').nth(1)?.parse().ok()
}
