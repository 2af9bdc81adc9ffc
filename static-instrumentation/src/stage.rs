//! A staging folder beside the output, which receives all output first.

use std::fs::{self, DirEntry, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use errors::Error;
use tempfile::{Builder, TempDir};

const PREFIX: &str = ".classhook-stage-";
/// A younger folder may not be locked yet.
const YOUNG: Duration = Duration::from_secs(60);

/// Target of the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Goal {
    /// One input becomes this file.
    File(PathBuf),
    /// Inputs go into this folder by their names, and so does the content of folders.
    Folder(PathBuf),
}

/// The staging folder; removed when dropped.
#[derive(Debug)]
pub struct Stage {
    _folder: TempDir,
    /// Locked as long as this process lives, so that leftovers of killed processes are recognised.
    _lock: File,
    content: PathBuf,
    goal: Goal,
}

impl Stage {
    /// Creates a stage in this folder, and removes those of killed processes.
    pub(super) fn new(parent: &Path, goal: Goal) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        remove_abandoned(parent);
        let folder = Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        let lock = File::open(folder.path())?;
        // Without support for locks, no process takes the folder for abandoned.
        let _ = lock.try_lock();
        let content = folder.path().join("out");
        fs::create_dir(&content)?;
        Ok(Self {
            _folder: folder,
            _lock: lock,
            content,
            goal,
        })
    }

    /// Returns the folder that receives the output.
    pub(super) fn content(&self) -> &Path {
        &self.content
    }

    /// Moves everything to the output. Each file appears whole.
    ///
    /// # Errors
    /// If a file cannot be moved (`H0620`). Files moved before stay.
    pub fn publish(self) -> Result<(), Error> {
        let (goal, moved) = match &self.goal {
            Goal::File(path) => (path, self.publish_file(path)),
            Goal::Folder(path) if path.is_dir() => (path, merge(&self.content, path)),
            Goal::Folder(path) => (path, fs::rename(&self.content, path)),
        };
        moved.map_err(|error| Error::unwritable(goal, &error))
    }

    fn publish_file(&self, path: &Path) -> io::Result<()> {
        let mut made = fs::read_dir(&self.content)?;
        let made = made
            .next()
            .ok_or_else(|| io::Error::other("nothing was made"))??;
        fs::rename(made.path(), path)
    }
}

/// Moves the files of one folder into another, which may hold files already.
fn merge(from: &Path, to: &Path) -> io::Result<()> {
    let mut names = fs::read_dir(from)?
        .map(|entry| Ok(entry?.file_name()))
        .collect::<io::Result<Vec<_>>>()?;
    names.sort();
    for name in names {
        let (from, to) = (from.join(&name), to.join(&name));
        match (from.is_dir(), to.is_dir()) {
            (true, true) => merge(&from, &to)?,
            _ => fs::rename(&from, &to)?,
        }
    }
    Ok(())
}

/// Removes the staging folders that no process locks. Failures are harmless.
fn remove_abandoned(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries.filter(is_abandoned) {
        let _ = fs::remove_dir_all(entry.path());
    }
}

fn is_abandoned(entry: &DirEntry) -> bool {
    let is_stage = entry
        .file_name()
        .as_encoded_bytes()
        .starts_with(PREFIX.as_bytes())
        && entry.file_type().is_ok_and(|kind| kind.is_dir());
    let is_old = || {
        let begun = entry.metadata().and_then(|found| found.modified());
        let age = |begun| SystemTime::now().duration_since(begun);
        begun.is_ok_and(|begun| age(begun).is_ok_and(|age| age > YOUNG))
    };
    let is_free = || File::open(entry.path()).is_ok_and(|folder| folder.try_lock().is_ok());
    is_stage && is_old() && is_free()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_of_killed_processes_are_removed_and_others_stay() {
        let root = tempfile::tempdir().unwrap();
        let old = SystemTime::now() - 2 * YOUNG;
        let folder = |name: &str, time: SystemTime| {
            let folder = root.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("made"), "x").unwrap();
            let opened = File::open(&folder).unwrap();
            opened.set_modified(time).unwrap();
            (folder, opened)
        };
        let (abandoned, _) = folder(".classhook-stage-a", old);
        let (held, lock) = folder(".classhook-stage-b", old);
        lock.try_lock().unwrap();
        let (young, _) = folder(".classhook-stage-c", SystemTime::now());
        let (other, _) = folder("stage", old);
        let stage = Stage::new(root.path(), Goal::Folder(root.path().to_owned())).unwrap();
        assert!(!abandoned.exists());
        assert!(held.exists() && young.exists() && other.exists());
        let another = Stage::new(root.path(), Goal::Folder(root.path().to_owned())).unwrap();
        assert!(stage.content().exists() && another.content().exists());
    }
}
