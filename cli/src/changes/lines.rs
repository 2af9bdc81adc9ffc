//! Lines of files, as ranges.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The lines that were added or changed, by file; paths are relative to the root of the repository.
pub type ChangedLines = BTreeMap<PathBuf, LineSet>;

/// Some lines of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineSet {
    /// First and last of each range.
    ranges: Vec<(u32, u32)>,
}

impl LineSet {
    /// Adds `count` lines from `first` on.
    pub fn add(&mut self, first: u32, count: u32) {
        if count > 0 {
            let last = first.saturating_add(count - 1);
            self.ranges.push((first, last));
        }
    }

    /// Whether a line is one of them.
    #[must_use]
    pub fn contains(&self, line: u32) -> bool {
        let within = |(first, last): &(u32, u32)| (*first..=*last).contains(&line);
        self.ranges.iter().any(within)
    }

    /// Whether there is no line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

/// Whether a file holds classes in some language, by its name.
#[must_use]
pub fn is_source(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(
        extension,
        Some("java" | "kt" | "kts" | "scala" | "groovy" | "clj" | "aj" | "xtend")
    )
}
