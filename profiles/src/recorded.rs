//! Files of recordings.

use std::fs;
use std::path::Path;

use coverage_inputs::run_files;
use errors::{Error, codes};
use jvm_events::Recorded;
use jvm_events::recorded::EXTENSION;
use local_files::special_file::is_special;

/// Reads a recording.
///
/// # Errors
/// If the file is missing, a pipe or a device (`H0612`), or damaged or of another version (`H0611`).
pub fn read(path: &Path) -> Result<Recorded, Error> {
    if is_special(path) {
        return Err(run_files::no_file(path));
    }
    let content = fs::read(path).map_err(|error| Error::unreadable(path, &error))?;
    Recorded::parse(&content).map_err(|cause| {
        Error::mistake(
            codes::H0611,
            format!("{} is not a complete recording", path.display()),
        )
        .with("found", cause)
    })
}

/// Reads a recording, or all recordings of a folder.
///
/// # Errors
/// As [`read`]. If a folder has no recording (`H0610`).
pub fn read_all(path: &Path) -> Result<Vec<Recorded>, Error> {
    if !path.is_dir() {
        return Ok(vec![read(path)?]);
    }
    let files = fs::read_dir(path).map_err(|error| Error::unreadable(path, &error))?;
    let mut files: Vec<_> = files.flatten().map(|file| file.path()).collect();
    files.retain(|path| path.extension().is_some_and(|found| found == EXTENSION));
    files.sort();
    if files.is_empty() {
        let message = format!("no recording in {}", path.display());
        return Err(
            Error::mistake(codes::H0610, message).with("expected", "files that end in .jvm-events")
        );
    }
    files.iter().map(|path| read(path)).collect()
}

/// Reads the recordings of the JVMs of a run.
///
/// # Errors
/// If the folder or a recording cannot be read, or the run has no recording (`H0610`).
pub fn of_run(run: &str, folder: &Path) -> Result<Vec<Recorded>, Error> {
    let mut recordings = Vec::new();
    let files = match fs::read_dir(folder) {
        Ok(files) => files.flatten().collect(),
        Err(_) => Vec::new(), // no JVM has made it
    };
    for file in files {
        let path = file.path();
        if path.extension().is_some_and(|found| found == EXTENSION) {
            recordings.extend(Some(read(&path)?).filter(|found| found.jvm.run == run));
        }
    }
    if recordings.is_empty() {
        return Err(Error::mistake(codes::H0610, "nothing was recorded")
            .with(
                "expected",
                format!("at least one recording of this run in {}", folder.display()),
            )
            .with("help", "check that the command starts a JVM, and the agent's messages above; a JVM that is killed within 5 seconds, or ends before --after, has no recording"));
    }
    recordings.sort_by_key(|one| (one.start_ms, one.jvm.pid));
    Ok(recordings)
}
