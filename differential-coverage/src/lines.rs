//! Lines of files, as ranges.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The added or changed lines, by file. Paths are relative to the root of the repository.
pub type ChangedLines = BTreeMap<PathBuf, LineSet>;

/// Some lines of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineSet {
    /// First and last line of each range.
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

    /// Checks whether the set holds a line.
    #[must_use]
    pub fn contains(&self, line: u32) -> bool {
        let within = |(first, last): &(u32, u32)| (*first..=*last).contains(&line);
        self.ranges.iter().any(within)
    }

    /// Checks whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

/// Checks by its name whether a file holds classes in some language.
#[must_use]
pub fn is_source(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(
        extension,
        Some("java" | "kt" | "kts" | "scala" | "groovy" | "clj" | "aj" | "xtend")
    )
}
