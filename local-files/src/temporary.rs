//! Temporary files and folders of the command. A later command of the same user deletes those of a
//! killed one.

use std::fmt;
use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use errors::Error;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use tempfile::{Builder, NamedTempFile, TempDir};

use crate::recording_jvm::is_written;

/// Prefix of their names, followed by the creating process.
const PREFIX: &str = "classhook-for-";
/// Folder within one of them, for recordings.
pub const RECORDS: &str = "records";
/// File that makes a folder outlive the command, until a day after the last change of its records.
pub const KEPT: &str = "kept";
/// Lifetime of a kept folder after the last change of its records.
const KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// Creates a private folder in the usual location for temporary files.
///
/// # Errors
/// If it cannot be created (`H0620`).
pub fn usual_folder() -> Result<TempDir, Error> {
    let parent = std::env::temp_dir();
    folder(&parent).map_err(|error| Error::unwritable(&parent, &error))
}

/// Creates a private folder in another one.
///
/// # Errors
/// Those of the system, without the path.
pub fn folder(parent: &Path) -> io::Result<TempDir> {
    let prefix = prefix_in(parent)?;
    let mut builder = Builder::new();
    let builder = builder.prefix(&prefix);
    builder
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(parent)
        .map_err(without_path)
}

/// Creates a private file in a folder.
///
/// # Errors
/// Those of the system, without the path.
pub fn file(parent: &Path) -> io::Result<NamedTempFile> {
    NamedTempFile::with_prefix_in(prefix_in(parent)?, parent).map_err(without_path)
}

/// Removes the path of a temporary file, which has a random name, and may begin with a folder of `/proc`.
fn without_path(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.rsplit_once(" at path ") {
        Some((cause, _)) => io::Error::new(error.kind(), cause),
        None => error,
    }
}

/// The large folders of this command.
static LARGE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn large() -> MutexGuard<'static, Vec<PathBuf>> {
    LARGE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A private folder for a large file that a JVM writes. A signal that ends the command deletes it
/// at once.
#[derive(Debug)]
pub struct LargeFolder {
    folder: TempDir,
    signals: Handle,
}

impl LargeFolder {
    /// Creates the folder in another one. From now on Ctrl-C, SIGTERM and SIGHUP delete it, and
    /// then end this command.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new(parent: &Path) -> io::Result<Self> {
        // Before the folder, so that an early signal waits for it.
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        let folder = folder(parent)?;
        large().push(folder.path().to_owned());
        std::thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                // The first thread that gets the signal ends the command, so it deletes all folders.
                for path in large().drain(..) {
                    let _ = fs::remove_dir_all(path);
                }
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        });
        Ok(Self {
            folder,
            signals: handle,
        })
    }

    /// Returns the folder's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for LargeFolder {
    fn drop(&mut self) {
        self.signals.close();
    }
}

/// Returns the prefix for new names, and deletes the leftovers of killed commands.
fn prefix_in(parent: &Path) -> io::Result<String> {
    let us = Maker::of(std::process::id())?;
    sweep(parent, &us);
    Ok(format!("{PREFIX}{us}-"))
}

/// The creating process: these three values identify a process for all time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Maker {
    /// Inode of its pid namespace.
    namespace: u64,
    pid: u32,
    /// Start time, in ticks since the system's start.
    start: u64,
}

impl Maker {
    /// Returns the process with this id in our namespace.
    fn of(pid: u32) -> io::Result<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        // The second field is a name in parentheses, which may hold any text. The start is the
        // 22nd.
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let start = fields.split_whitespace().nth(19);
        let start = start.and_then(|start| start.parse().ok());
        Ok(Self {
            namespace: fs::metadata("/proc/self/ns/pid")?.ino(),
            pid,
            start: start.ok_or(io::ErrorKind::InvalidData)?,
        })
    }

    /// Parses the name of a temporary file or folder.
    fn read(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix(PREFIX)?.split('-');
        Some(Self {
            namespace: parts.next()?.parse().ok()?,
            pid: parts.next()?.parse().ok()?,
            start: parts.next()?.parse().ok()?,
        })
    }

    /// Checks whether the process has ended, as seen from the namespace `ours`.
    fn has_ended(&self, ours: u64) -> bool {
        self.namespace == ours && Self::of(self.pid).map_or(true, |there| there != *self)
    }
}

impl fmt::Display for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.namespace, self.pid, self.start)
    }
}

/// Deletes the leftovers of killed commands of this user, unless an agent still records there.
fn sweep(tmp: &Path, us: &Maker) {
    let uid = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(tmp).into_iter().flatten().flatten() {
        let maker = entry.file_name().to_str().and_then(Maker::read);
        let is_left = maker.is_some_and(|maker| maker.has_ended(us.namespace));
        let path = entry.path();
        // Root has created some for the users of JVMs.
        let is_ours = |found: &Metadata| found.uid() == uid || uid == 0;
        let found = fs::symlink_metadata(&path).ok().filter(is_ours);
        // Failures are harmless.
        let _ = match found.filter(|_| is_left) {
            Some(found) if found.is_file() => fs::remove_file(&path),
            Some(found) if found.is_dir() && !outlives(&path) => fs::remove_dir_all(&path),
            _ => Ok(()),
        };
    }
}

/// Checks whether an agent records in this folder, or recorded recently if the folder is kept.
fn outlives(folder: &Path) -> bool {
    let records = folder.join(RECORDS);
    let files = fs::read_dir(&records).into_iter().flatten().flatten();
    let files: Vec<PathBuf> = files.map(|file| file.path()).collect();
    let is_kept = folder.join(KEPT).exists();
    let mut all = files.iter().chain([&records]);
    files.iter().any(|file| is_written(file)) || is_kept && all.any(|path| is_recent(path))
}

fn is_recent(path: &Path) -> bool {
    let changed = fs::metadata(path).and_then(|found| found.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age < KEPT_FOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_has_the_cause_and_no_path_of_a_temporary_file() {
        let tmp = tempfile::tempdir().unwrap();
        let missing = tmp.path().join("missing");
        for error in [
            folder(&missing).map(drop).unwrap_err(),
            file(&missing).map(drop).unwrap_err(),
        ] {
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
            assert_eq!(error.to_string(), "No such file or directory (os error 2)");
        }
    }

    #[test]
    fn only_leftovers_of_killed_commands_are_deleted() {
        let tmp = tempfile::tempdir().unwrap();
        let us = Maker::of(std::process::id()).unwrap();
        let ended = Maker { start: 1, ..us };
        let folder = |name: String| {
            fs::create_dir_all(tmp.path().join(&name).join(RECORDS)).unwrap();
            name
        };
        folder(format!("{PREFIX}{ended}-left"));
        if rustix::process::geteuid().is_root() {
            let given = folder(format!("{PREFIX}{ended}-given-to-the-user-of-a-jvm"));
            std::os::unix::fs::chown(tmp.path().join(given), Some(65_534), None).unwrap();
        }
        fs::write(tmp.path().join(format!("{PREFIX}{ended}-file")), "").unwrap();
        let elsewhere = Maker {
            namespace: 1,
            ..ended
        };
        let mut stay = vec![
            folder(format!("{PREFIX}{us}-runs")),
            folder(format!("{PREFIX}{elsewhere}-other-namespace")),
            folder(format!("{PREFIX}mine")),
            folder("classhook-of-somebody".to_owned()),
        ];
        let kept = folder(format!("{PREFIX}{ended}-kept"));
        fs::write(tmp.path().join(&kept).join(KEPT), "").unwrap();
        stay.push(kept);
        let old = folder(format!("{PREFIX}{ended}-kept-long-ago"));
        fs::write(tmp.path().join(&old).join(KEPT), "").unwrap();
        let records = fs::File::open(tmp.path().join(&old).join(RECORDS)).unwrap();
        records
            .set_modified(std::time::SystemTime::now() - 2 * KEPT_FOR)
            .unwrap();
        let used = folder(format!("{PREFIX}{ended}-used"));
        let file = format!("{RECORDS}/classhook-{}-1-1.hook", std::process::id());
        let _open = fs::File::create(tmp.path().join(&used).join(file)).unwrap();
        stay.push(used);
        let link = format!("{PREFIX}{ended}-link");
        std::os::unix::fs::symlink(&stay[0], tmp.path().join(&link)).unwrap();
        stay.push(link);
        let made = super::folder(tmp.path()).unwrap();
        stay.push(
            made.path()
                .file_name()
                .unwrap()
                .to_string_lossy()
                .into_owned(),
        );
        let left = fs::read_dir(tmp.path()).unwrap();
        let mut left: Vec<String> = left
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        left.sort();
        stay.sort();
        assert_eq!(left, stay);
    }
}
