//! Run files: Classhook's snapshots and event files, and JaCoCo's `.exec` files, alone or in
//! folders.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use errors::{Error, Warning, Warnings, codes};
use jvm_events::tables;
use local_files::recording_jvm::is_written;
use local_files::special_file::is_special;
use probes::coverage_plugins::COUNTS;
use probes::events::{self, EventFile, Trace};
use probes::format::MAGIC;
use probes::{Meta, Snapshot, SnapshotError};
use trace::recording::{Recording, Scratch};

/// The kind of a run file, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunFileKind {
    /// The agent's snapshot.
    Snapshot,
    /// The agent's event file, with traced calls.
    Events,
    /// Tables that a plugin made of events of the JVM.
    Tables,
    /// JaCoCo's file.
    Exec,
}

/// The extensions of these files.
const EXTENSIONS: [&str; 4] = ["hook", "events", tables::EXTENSION, "exec"];

/// Returns the files that the user named. A folder stands for its files with the extensions
/// `.hook`, `.events`, `.tables` and `.exec`.
///
/// # Errors
/// If a path cannot be read, or a folder holds no run file (`H0610`).
pub fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut all = Vec::new();
    for path in paths {
        if path.is_dir() {
            let inside = in_folder(path)?;
            if inside.is_empty() {
                return Err(Error::mistake(
                    codes::H0610,
                    format!(
                        "there is no snapshot, event file or .exec file in {}",
                        path.display()
                    ),
                )
                .with("expected", "files that end in .hook, .events or .exec")
                .with("help", "run the program first: classhook run -- java …"));
            }
            all.extend(inside);
        } else {
            all.push(path.clone());
        }
    }
    Ok(all)
}

/// Returns the run files in a folder, and in its sub-folders that are named like one
/// (`target/jacoco.exec` of the Maven plugin), sorted by name.
///
/// # Errors
/// If a folder cannot be read.
pub fn in_folder(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let (folders, mut files) = called_as_runs(folder)?;
    for folder in &folders {
        files.extend(called_as_runs(folder)?.1);
    }
    files.sort();
    Ok(files)
}

/// Returns the folders and files in a folder that are named like run files.
fn called_as_runs(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Error> {
    let unreadable = |error| Error::unreadable(folder, &error);
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let mut paths = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<Vec<_>>>()
        .map_err(unreadable)?;
    paths.retain(|path| is_called_as_one(path));
    Ok(paths.into_iter().partition(|path| path.is_dir()))
}

/// Checks whether a path is named like a run file.
#[must_use]
pub fn is_called_as_one(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known))
}

/// Returns the snapshots in a folder that JVMs of this run wrote, and their event files with
/// counts; empty without such a folder.
///
/// # Errors
/// If the folder cannot be read.
pub fn snapshots_of(run: &str, folder: &Path) -> Result<Vec<PathBuf>, Error> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut paths = in_folder(folder)?;
    paths.retain(|path| Meta::of_file(path).is_ok_and(|meta| meta.run == run));
    let (mut snapshots, others): (Vec<_>, Vec<_>) = paths
        .into_iter()
        .partition(|path| kind(path).is_ok_and(|kind| kind == RunFileKind::Snapshot));
    if !snapshots.is_empty() {
        snapshots.extend(with_counts(others));
    }
    Ok(snapshots)
}

/// Filters the event files with execution counts of lines.
pub fn with_counts(paths: impl IntoIterator<Item = PathBuf>) -> impl Iterator<Item = PathBuf> {
    paths.into_iter().filter(|path| {
        let counts = |plugin: &String| plugin.split('@').next() == Some(COUNTS);
        kind(path).is_ok_and(|kind| kind == RunFileKind::Events)
            && Meta::of_file(path).is_ok_and(|meta| meta.plugins.iter().any(counts))
    })
}

/// Returns the error for a run file that is a pipe or a device. These files are read several times,
/// a pipe only once, and a pipe without a writer would block.
pub fn no_file(path: &Path) -> Error {
    Error::mistake(codes::H0612, format!("cannot read {}", path.display()))
        .with("expected", "a file")
        .with("found", "a pipe, a device or a socket")
        .with("help", "write its content to a file first")
}

fn unknown(path: &Path, start: &[u8]) -> Error {
    let message = format!(
        "{} is no snapshot, event file or .exec file",
        path.display()
    );
    let problem = Error::mistake(codes::H0611, message)
        .with(
            "expected",
            "a Classhook snapshot (.hook) or event file (.events), or a JaCoCo file (.exec)",
        )
        .with("found", format!("a file that begins with {start:02x?}"));
    match path
        .extension()
        .is_some_and(|it| it == jvm_events::recorded::EXTENSION)
    {
        true => problem.with(
            "help",
            format!("`classhook profile {}` shows it", path.display()),
        ),
        false => problem,
    }
}

/// Returns the kind of a run file.
///
/// # Errors
/// If the file cannot be read, is a pipe or a device (`H0612`), or is of no known kind (`H0611`).
pub fn kind(path: &Path) -> Result<RunFileKind, Error> {
    if is_special(path) {
        return Err(no_file(path));
    }
    let mut start = Vec::new();
    let file = fs::File::open(path).map_err(|error| Error::unreadable(path, &error))?;
    file.take(8)
        .read_to_end(&mut start)
        .map_err(|error| Error::unreadable(path, &error))?;
    match start.as_slice() {
        [0x01, 0xC0, 0xC0, ..] => Ok(RunFileKind::Exec),
        start if MAGIC.starts_with(start) => Ok(RunFileKind::Snapshot), // also an empty one
        start if events::MAGIC.starts_with(start) => Ok(RunFileKind::Events),
        start if tables::MAGIC.starts_with(start) => Ok(RunFileKind::Tables),
        start => Err(unknown(path, start)),
    }
}

/// Reads a snapshot. An empty one is left out with a warning.
///
/// # Errors
/// If the file is damaged or of a newer version (`H0611`).
pub fn read_snapshot(path: &Path, warnings: &mut Warnings) -> Result<Option<Snapshot>, Error> {
    let snapshot = unless_empty(path, Snapshot::read(path), warnings)?;
    // A snapshot that names its own gap is reported with the report made of it.
    if let Some(read) = snapshot.as_ref().filter(|read| read.incomplete.is_none()) {
        warnings.extend(unfinished(path, read.complete, read.truncated));
    }
    Ok(snapshot)
}

/// Reads an event file. Its single calls are sorted in `scratch` on demand. An empty file is left
/// out with a warning.
///
/// # Errors
/// If the file is damaged or of a newer version (`H0611`).
pub fn read_recording(
    path: &Path,
    scratch: &Scratch,
    warnings: &mut Warnings,
) -> Result<Option<Recording>, Error> {
    let recording = unless_empty(path, Recording::read(path, scratch), warnings)?;
    if let Some(recording) = &recording {
        warn_of_end(path, &recording.trace, warnings);
    }
    Ok(recording)
}

/// Reads the sums of an event file. An empty file is left out with a warning.
///
/// # Errors
/// As [`read_recording`].
pub fn read_sums(path: &Path, warnings: &mut Warnings) -> Result<Option<Trace>, Error> {
    let read = EventFile::read(path).map(|(_, trace)| trace);
    let trace = unless_empty(path, read, warnings)?;
    if let Some(trace) = &trace {
        warn_of_end(path, trace, warnings);
    }
    Ok(trace)
}

/// Warns of an event file without an end. A file that names its own gap is reported with the output
/// made of it.
fn warn_of_end(path: &Path, trace: &Trace, warnings: &mut Warnings) {
    if trace.incomplete.is_none() {
        warnings.extend(unfinished(path, trace.complete, trace.truncated));
    }
}

/// Returns the content of a file, or nothing and a warning if it is still empty.
fn unless_empty<T>(
    path: &Path,
    read: Result<T, SnapshotError>,
    warnings: &mut Warnings,
) -> Result<Option<T>, Error> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error @ SnapshotError::Empty { .. }) => {
            let warning = Warning::new(codes::H0615, format!("{} is left out", path.display()));
            let warning = warning.with("cause", error.to_string());
            warnings.add(unless_running(path, warning));
            Ok(None)
        }
        Err(error) => Err(unreadable(path, &error)),
    }
}

/// Returns the error for an unreadable run file.
#[must_use]
pub fn unreadable(path: &Path, error: &SnapshotError) -> Error {
    match error {
        SnapshotError::Io { source, .. } => Error::unreadable(path, source),
        error => Error::mistake(codes::H0611, format!("cannot read {}", path.display()))
            .with("found", error.to_string()),
    }
}

/// Checks whether the JVM of a snapshot did not end in good order and no longer writes it, as far
/// as this process can see. A snapshot that names its own gap does not count.
#[must_use]
pub fn was_killed(path: &Path, snapshot: &Snapshot) -> bool {
    let has_ended = snapshot.complete || snapshot.incomplete.is_some();
    !has_ended && (snapshot.truncated || !is_written(path))
}

/// Returns the warning about a file whose JVM did not end in good order. Data is missing unless the
/// JVM still runs.
fn unfinished(path: &Path, complete: bool, truncated: bool) -> Option<Warning> {
    let warn = |what: &str| Warning::new(codes::H0615, format!("{} {what}", path.display()));
    if truncated {
        let warning = warn("ends in the middle of a record");
        let warning = warning.with("cause", "its JVM was killed while writing");
        let warning = warning.with("note", "all records before that are in the report");
        return Some(warning.of_missing());
    }
    if complete {
        return None;
    }
    let warning = warn("was not finished");
    Some(match is_written(path) {
        true => warning
            .with("cause", "its JVM is still running")
            .with("note", "later records are missing"),
        false => warning
            .with("cause", "its JVM was killed, or is still running elsewhere")
            .with(
                "note",
                "hits after the snapshot's time may be missing, and counts of the second before that",
            )
            .of_missing(),
    })
}

/// Marks a warning as a loss, unless the file's JVM may still write it.
fn unless_running(path: &Path, warning: Warning) -> Warning {
    match is_written(path) {
        true => warning,
        false => warning.of_missing(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_determine_the_kind_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            path
        };
        assert_eq!(kind(&write("a", &MAGIC)).unwrap(), RunFileKind::Snapshot);
        assert_eq!(kind(&write("empty", b"")).unwrap(), RunFileKind::Snapshot);
        assert_eq!(
            kind(&write("e", &events::MAGIC)).unwrap(),
            RunFileKind::Events
        );
        assert_eq!(
            kind(&write("b", b"\x01\xC0\xC0\x10\x07")).unwrap(),
            RunFileKind::Exec
        );
        let error = kind(&write("c.hook", b"PK\x03\x04")).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("c.hook is no snapshot, event file or .exec file"),
            "{error}"
        );
    }

    #[test]
    fn pipe_is_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.hook");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let refused = kind(&path).unwrap_err();
        assert_eq!(refused.code(), "H0612");
        assert!(refused.to_string().contains("a pipe"), "{refused}");
    }

    #[test]
    fn run_files_of_a_build_are_in_a_folder_named_like_a_file() {
        let target = tempfile::tempdir().unwrap();
        let folder = target.path().join("jacoco.exec");
        fs::create_dir_all(folder.join("deeper.exec")).unwrap();
        let files = [folder.join("a.hook"), target.path().join("merged.exec")];
        for file in &files {
            fs::write(file, "").unwrap();
        }
        assert_eq!(find(&[target.path().to_owned()]).unwrap(), files);
    }

    #[test]
    fn folder_without_snapshots_is_an_error_with_help() {
        let folder = tempfile::tempdir().unwrap();
        let error = find(&[folder.path().to_owned()]).unwrap_err();
        assert!(error.to_string().contains("classhook run"), "{error}");
        fs::write(folder.path().join("b.hook"), "").unwrap();
        fs::write(folder.path().join("a.exec"), "").unwrap();
        fs::write(folder.path().join("c.events"), "").unwrap();
        fs::write(folder.path().join("notes.txt"), "").unwrap();
        let found = find(&[folder.path().to_owned()]).unwrap();
        assert_eq!(
            found,
            ["a.exec", "b.hook", "c.events"].map(|name| folder.path().join(name))
        );
    }
}
