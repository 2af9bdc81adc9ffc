//! A folder that goes with the command, for what is recorded when nobody said where.

use std::fmt;
use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::agent::Agent;
use crate::args::Settings;
use crate::inputs::run_files::is_written;
use crate::jvm_tmp::JvmTmp;
use crate::problem::Problem;
use crate::show::{self, say};

/// What the names of these folders begin with; behind it the command is named.
const PREFIX: &str = "classhook-for-";
/// The folder within, for what is recorded.
const RECORDS: &str = "records";
/// A file of this name says that the folder outlives the command.
const KEPT: &str = "kept";

/// The folder; it is deleted when this is dropped, or by a later command of this user if this one is killed.
#[derive(Debug)]
pub struct PassingFolder {
    ours: TempDir,
    /// The path of the folder goes through it.
    _tmp: Option<JvmTmp>,
    /// Where those see it who record.
    theirs: PathBuf,
}

impl PassingFolder {
    /// In the `/tmp` that a JVM sees, with a folder within that is its user's; the settings then name that. None if
    /// somebody said where to record, or an agent is there already: it records where it always does.
    ///
    /// # Errors
    /// If there is no such process, or no folder can be made (`H0620`).
    pub fn in_jvm(pid: i32, settings: &mut Settings) -> Result<Option<Self>, Problem> {
        let Err(process) = Agent::find(pid)? else {
            return Ok(None);
        };
        if !is_anywhere(settings) {
            return Ok(None);
        }
        let tmp = JvmTmp::open(&process).map_err(no_folder)?;
        let ours = make(&tmp.path()).map_err(no_folder)?;
        tmp.give(&ours.path().join(RECORDS)).map_err(no_folder)?;
        let theirs = tmp.seen(ours.path()).join(RECORDS);
        settings.output = Some(theirs.clone());
        let _tmp = Some(tmp);
        Ok(Some(Self { ours, _tmp, theirs }))
    }

    /// For the JVMs of a command; the settings then name it. None if somebody said where to record.
    ///
    /// # Errors
    /// If no folder can be made (`H0620`).
    pub fn of_command(settings: &mut Settings) -> Result<Option<Self>, Problem> {
        if !is_anywhere(settings) {
            return Ok(None);
        }
        let ours = make(&std::env::temp_dir()).map_err(no_folder)?;
        let theirs = ours.path().join(RECORDS);
        settings.output = Some(theirs.clone());
        let _tmp = None;
        Ok(Some(Self { ours, _tmp, theirs }))
    }

    /// Leaves it, because an agent stays that records there.
    pub fn keep(self) {
        let _ = fs::write(self.ours.path().join(KEPT), "");
        let _ = self.ours.keep();
        let path = show::path(&self.theirs);
        say(format_args!("the agent goes on recording in {path}"));
    }
}

/// Makes the two folders, and deletes those of commands that were killed.
fn make(tmp: &Path) -> io::Result<TempDir> {
    let us = Maker::of(std::process::id())?;
    sweep(tmp, &us);
    let ours = TempDir::with_prefix_in(format!("{PREFIX}{us}-"), tmp)?;
    // Whoever records knows the name, and may be another user.
    fs::set_permissions(ours.path(), Permissions::from_mode(0o711))?;
    fs::create_dir(ours.path().join(RECORDS))?;
    Ok(ours)
}

/// The process that made a folder: no other process ever has these three.
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

    /// Of the name of a folder.
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
        let is_ours = |found: Metadata| found.is_dir() && found.uid() == uid;
        if is_left
            && fs::symlink_metadata(&path).is_ok_and(is_ours)
            && !path.join(KEPT).exists()
            && !is_in_use(&path.join(RECORDS))
        {
            let _ = fs::remove_dir_all(&path); // it is in nobody's way
        }
    }
}

/// Whether a JVM writes to a file in there.
fn is_in_use(records: &Path) -> bool {
    let files = fs::read_dir(records).into_iter().flatten().flatten();
    files.map(|file| file.path()).any(|path| is_written(&path))
}

/// Whether nobody said where to record.
fn is_anywhere(settings: &Settings) -> bool {
    settings.output.is_none() && settings.configuration().file.is_none()
}

/// There is no place for a temporary file or folder.
pub fn no_folder(error: io::Error) -> Problem {
    Problem::user("H0620", "there is no place for what is recorded")
        .with("found", error.to_string())
        .with("help", "name a folder with --output")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_commands_that_were_killed_are_deleted_and_no_others() {
        let tmp = tempfile::tempdir().unwrap();
        let us = Maker::of(std::process::id()).unwrap();
        let ended = Maker { start: 1, ..us };
        let folder = |name: String| {
            fs::create_dir_all(tmp.path().join(&name).join(RECORDS)).unwrap();
            name
        };
        folder(format!("{PREFIX}{ended}-left"));
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
        let used = folder(format!("{PREFIX}{ended}-used"));
        let file = format!("{RECORDS}/classhook-{}-1-1.hook", std::process::id());
        let _open = fs::File::create(tmp.path().join(&used).join(file)).unwrap();
        stay.push(used);
        let link = format!("{PREFIX}{ended}-link");
        std::os::unix::fs::symlink(&stay[0], tmp.path().join(&link)).unwrap();
        stay.push(link);
        let made = make(tmp.path()).unwrap();
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
