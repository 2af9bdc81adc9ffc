//! Files and folders that go with the command; of one that was killed, a later one of the same user deletes them.

use std::fmt;
use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use tempfile::{Builder, NamedTempFile, TempDir};

use crate::inputs::run_files::is_written;
use crate::problem::Problem;

/// What their names begin with; behind it the process is named that made them.
const PREFIX: &str = "classhook-for-";
/// A folder within one of them, for what is recorded.
pub const RECORDS: &str = "records";
/// A file of this name in a folder says that the folder outlives the command, by a day after the last change of its records.
pub const KEPT: &str = "kept";
/// The time after the last change of its records after which a kept folder is deleted.
const KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// A folder where temporary ones belong, this user's alone.
///
/// # Errors
/// If none can be made (`H0620`).
pub fn usual_folder() -> Result<TempDir, Problem> {
    let parent = std::env::temp_dir();
    folder(&parent).map_err(|error| Problem::unwritable(&parent, &error))
}

/// A folder in another one, this user's alone.
///
/// # Errors
/// Those of the system.
pub fn folder(parent: &Path) -> io::Result<TempDir> {
    let prefix = prefix_in(parent)?;
    let mut builder = Builder::new();
    let builder = builder.prefix(&prefix);
    builder
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(parent)
}

/// A file in a folder, this user's alone.
///
/// # Errors
/// Those of the system.
pub fn file(parent: &Path) -> io::Result<NamedTempFile> {
    NamedTempFile::with_prefix_in(prefix_in(parent)?, parent)
}

/// The large folders of this command.
static LARGE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn large() -> MutexGuard<'static, Vec<PathBuf>> {
    LARGE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder for a large file that a JVM writes, this user's alone. It goes at once if a signal ends the command.
#[derive(Debug)]
pub struct LargeFolder {
    folder: TempDir,
    signals: Handle,
}

impl LargeFolder {
    /// Makes one in another folder. From now on Ctrl-C, SIGTERM and SIGHUP delete it, and then end this command.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new(parent: &Path) -> io::Result<Self> {
        // First, so that a signal which comes meanwhile waits for the folder.
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

    /// Its place.
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

/// What new names begin with; what commands left there that were killed is deleted.
fn prefix_in(parent: &Path) -> io::Result<String> {
    let us = Maker::of(std::process::id())?;
    sweep(parent, &us);
    Ok(format!("{PREFIX}{us}-"))
}

/// The process that made something: no other process ever has these three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Maker {
    /// The inode of the namespace in which it has its process id.
    namespace: u64,
    pid: u32,
    /// When it began, in ticks since the system did.
    start: u64,
}

impl Maker {
    /// The process that has this id in our namespace.
    fn of(pid: u32) -> io::Result<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        // The second field is a name in parentheses, which may hold anything; the start is the 22nd.
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let start = fields.split_whitespace().nth(19);
        let start = start.and_then(|start| start.parse().ok());
        Ok(Self {
            namespace: fs::metadata("/proc/self/ns/pid")?.ino(),
            pid,
            start: start.ok_or(io::ErrorKind::InvalidData)?,
        })
    }

    /// Of the name of what it made.
    fn read(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix(PREFIX)?.split('-');
        Some(Self {
            namespace: parts.next()?.parse().ok()?,
            pid: parts.next()?.parse().ok()?,
            start: parts.next()?.parse().ok()?,
        })
    }

    /// Whether it has ended, as seen from a process of the namespace `ours`.
    fn has_ended(&self, ours: u64) -> bool {
        self.namespace == ours && Self::of(self.pid).map_or(true, |there| there != *self)
    }
}

impl fmt::Display for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.namespace, self.pid, self.start)
    }
}

/// Deletes what commands of this user left that were killed, unless an agent still records there.
fn sweep(tmp: &Path, us: &Maker) {
    let uid = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(tmp).into_iter().flatten().flatten() {
        let maker = entry.file_name().to_str().and_then(Maker::read);
        let is_left = maker.is_some_and(|maker| maker.has_ended(us.namespace));
        let path = entry.path();
        // Root has made some for the users of JVMs.
        let is_ours = |found: &Metadata| found.uid() == uid || uid == 0;
        let found = fs::symlink_metadata(&path).ok().filter(is_ours);
        // What cannot be deleted is in nobody's way.
        let _ = match found.filter(|_| is_left) {
            Some(found) if found.is_file() => fs::remove_file(&path),
            Some(found) if found.is_dir() && !outlives(&path) => fs::remove_dir_all(&path),
            _ => Ok(()),
        };
    }
}

/// Checks whether an agent records in this folder, or did so not long ago if the folder is kept.
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
    fn what_killed_commands_left_is_deleted_and_nothing_else() {
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
