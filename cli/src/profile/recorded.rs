//! The files of recordings.

use std::fs;
use std::path::Path;

use observations::Recorded;
use observations::recorded::EXTENSION;

use crate::inputs::run_files;
use crate::problem::Problem;
use crate::special_file::is_special;

/// Reads a recording.
///
/// # Errors
/// If there is none, or it is a pipe or a device (`H0612`), or it is damaged or of another version (`H0611`).
pub fn read(path: &Path) -> Result<Recorded, Problem> {
    if is_special(path) {
        return Err(run_files::no_file(path));
    }
    let content = fs::read(path).map_err(|error| Problem::unreadable(path, &error))?;
    Recorded::parse(&content).map_err(|cause| {
        Problem::user("H0611", format!("{} is no whole recording", path.display()))
            .with("found", cause)
    })
}

/// Reads a recording, or all of a folder.
///
/// # Errors
/// As [`read`]; and if a folder holds none (`H0610`).
pub fn read_all(path: &Path) -> Result<Vec<Recorded>, Problem> {
    if !path.is_dir() {
        return Ok(vec![read(path)?]);
    }
    let files = fs::read_dir(path).map_err(|error| Problem::unreadable(path, &error))?;
    let mut files: Vec<_> = files.flatten().map(|file| file.path()).collect();
    files.retain(|path| path.extension().is_some_and(|found| found == EXTENSION));
    files.sort();
    if files.is_empty() {
        let message = format!("there is no recording in {}", path.display());
        return Err(Problem::user("H0610", message).with("expected", "files that end in .observed"));
    }
    files.iter().map(|path| read(path)).collect()
}

/// The recordings of the JVMs of one run.
///
/// # Errors
/// If the folder or a recording cannot be read, or there is none (`H0610`).
pub fn of_run(run: &str, folder: &Path) -> Result<Vec<Recorded>, Problem> {
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
        return Err(Problem::user("H0610", "nothing was recorded")
            .with(
                "expected",
                format!("at least one recording of this run in {}", folder.display()),
            )
            .with("help", "does the command start a JVM, and does what the agent said above explain it? a JVM that is killed within 5 seconds leaves none, nor does one that ends before --after"));
    }
    recordings.sort_by_key(|one| (one.start_ms, one.jvm.pid));
    Ok(recordings)
}
