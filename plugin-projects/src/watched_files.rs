//! Detects changes of a plugin's sources or its component.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use errors::{Error, codes};
use host::config::lock::STORE;

/// Poll interval for the files.
const TURN: Duration = Duration::from_millis(250);
/// Folders that builds and editors write to, besides hidden ones.
const BUILT: [&str; 3] = ["target", "__pycache__", "node_modules"];
/// Maximum number of watched files.
const MOST: usize = 10_000;

/// A file, its length, its modification time in nanoseconds, and its inode.
type FileState = (PathBuf, u64, i128, u64);

/// The watched files of a plugin.
#[derive(Debug)]
pub struct WatchedFiles {
    path: PathBuf,
    looked: Instant,
    /// The files at the last poll.
    seen: Vec<FileState>,
    /// The files at the last reported change.
    taken: Vec<FileState>,
}

impl WatchedFiles {
    /// Starts with the current files. Call it before they are built, so that no change is missed.
    ///
    /// # Errors
    /// If nothing can change, or too many files can (`H0658`).
    pub fn new(plugin: &str) -> Result<Self, Error> {
        let path = Path::new(plugin);
        let is_kept = path.ancestors().any(|folder| folder.ends_with(STORE));
        let is_file = plugin.ends_with(".wasm") && !is_kept;
        if !path.is_dir() && !is_file {
            let message = format!("the plugin `{plugin}` cannot change while it is watched");
            return Err(Error::mistake(codes::H0658, message).with(
                "expected",
                "a project's folder, or a component file (.wasm) that was not added",
            ));
        }
        let seen = files(path);
        if seen.len() > MOST {
            let message = format!("{plugin} holds too many files to watch");
            return Err(Error::mistake(codes::H0658, message).with(
                "expected",
                format!("at most {MOST} files outside of `target`"),
            ));
        }
        Ok(Self {
            path: path.to_owned(),
            looked: Instant::now(),
            taken: seen.clone(),
            seen,
        })
    }

    /// Checks whether files have changed since the last report, and were the same in two polls:
    /// their writer may not be done. A missing file is about to be written.
    pub fn has_changed(&mut self) -> bool {
        if self.looked.elapsed() < TURN {
            return false;
        }
        self.looked = Instant::now();
        let now = files(&self.path);
        let has_settled = now == self.seen && !now.is_empty();
        self.seen = now;
        if !has_settled || self.seen == self.taken {
            return false;
        }
        self.taken.clone_from(&self.seen);
        true
    }
}

/// Returns the files at a path, sorted, at most one more than the limit.
fn files(path: &Path) -> Vec<FileState> {
    let mut all = Vec::new();
    collect(path, &mut all);
    all.sort();
    all
}

fn collect(path: &Path, all: &mut Vec<FileState>) {
    // A removed file counts as a change.
    let Ok(found) = fs::metadata(path) else {
        return;
    };
    if found.is_file() {
        let written = i128::from(found.mtime()) * 1_000_000_000 + i128::from(found.mtime_nsec());
        return all.push((path.to_owned(), found.len(), written, found.ino()));
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        let is_source = !name.starts_with('.') && !BUILT.contains(&&*name);
        if is_source && !(is_link && entry.path().is_dir()) && all.len() <= MOST {
            collect(&entry.path(), all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Polls at once, without the interval.
    fn look(watched: &mut WatchedFiles) -> bool {
        watched.looked -= TURN;
        watched.has_changed()
    }

    #[test]
    fn change_is_reported_once_after_it_has_settled() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("src/lib.rs");
        fs::create_dir_all(source.parent().unwrap()).unwrap();
        fs::write(&source, "1").unwrap();
        let mut watched = WatchedFiles::new(&folder.path().to_string_lossy()).unwrap();
        assert!(!look(&mut watched) && !look(&mut watched));
        fs::write(&source, "12").unwrap();
        assert!(!look(&mut watched));
        fs::write(&source, "123").unwrap();
        assert!(!look(&mut watched));
        assert!(look(&mut watched));
        assert!(!look(&mut watched) && !look(&mut watched));
        fs::write(folder.path().join("src/other.rs"), "").unwrap();
        assert!(!look(&mut watched) && look(&mut watched));
        fs::remove_file(&source).unwrap();
        assert!(!look(&mut watched) && look(&mut watched));
    }

    #[test]
    fn build_outputs_are_no_change() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("plugin.py"), "").unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("round")).unwrap();
        let mut watched = WatchedFiles::new(&folder.path().to_string_lossy()).unwrap();
        for built in ["target", "__pycache__", ".git"] {
            fs::create_dir(folder.path().join(built)).unwrap();
            fs::write(folder.path().join(built).join("x"), "").unwrap();
        }
        assert!(!look(&mut watched) && !look(&mut watched));
    }

    #[test]
    fn replaced_component_is_a_change_once_it_exists() {
        let folder = tempfile::tempdir().unwrap();
        let component = folder.path().join("x.wasm");
        fs::write(&component, "1").unwrap();
        let mut watched = WatchedFiles::new(&component.to_string_lossy()).unwrap();
        fs::remove_file(&component).unwrap();
        assert!(!look(&mut watched) && !look(&mut watched));
        fs::write(&component, "22").unwrap();
        assert!(!look(&mut watched) && look(&mut watched));
    }

    #[test]
    fn plugin_that_cannot_change_is_refused() {
        let kept = format!("{STORE}/{}/x.wasm", "ab".repeat(32));
        for plugin in ["coverage", "nosuch", &kept] {
            assert_eq!(
                WatchedFiles::new(plugin).unwrap_err().code(),
                "H0658",
                "{plugin}"
            );
        }
    }
}
