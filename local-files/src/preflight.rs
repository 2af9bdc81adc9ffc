//! Checks before the program runs that its outputs can be written.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use errors::Error;

use crate::special_file::is_special;
use crate::stdout::is_stdout;
use crate::temporary;

/// Checks whether files can be created in the folder, or in its nearest existing parent.
///
/// The agent creates the folder itself, because its JVM may belong to another user.
///
/// # Errors
/// If no file can be created there (`H0620`).
pub fn folder(folder: &Path) -> Result<(), Error> {
    make_one_in(folder).map_err(|error| Error::unwritable(folder, &error))
}

/// Writes a `.gitignore` that excludes everything in the folder.
///
/// A missing folder, or one of another user, stays unchanged.
pub fn keep_from_git(folder: &Path) {
    let _ = fs::write(folder.join(".gitignore"), "*\n");
}

/// Checks whether each requested file can be created or replaced.
///
/// # Errors
/// If a path is a folder, or no file can be created at its location (`H0620`).
pub fn files<'p>(asked: impl IntoIterator<Item = &'p Option<PathBuf>>) -> Result<(), Error> {
    let mut files = asked.into_iter().flatten();
    files.try_for_each(|path| file(path))
}

fn file(path: &Path) -> Result<(), Error> {
    if is_stdout(path) || is_special(path) {
        return Ok(());
    }
    if path.is_dir() {
        let error = io::Error::from(ErrorKind::IsADirectory);
        return Err(Error::unwritable(path, &error));
    }
    let file = behind_links(path);
    let made = make_one_in(file.parent().unwrap_or(&file));
    made.map_err(|error| Error::unwritable(path, &error))
}

/// Creates a file in the folder, or in its nearest existing parent, and removes it.
fn make_one_in(folder: &Path) -> io::Result<()> {
    temporary::file(nearest(folder)?).map(drop)
}

/// Returns the folder or its nearest existing parent; the current folder without any.
fn nearest(folder: &Path) -> io::Result<&Path> {
    for above in folder.ancestors() {
        match fs::metadata(above) {
            Err(_) if above.as_os_str().is_empty() => (),
            Err(error) if error.kind() == ErrorKind::NotFound => (),
            Err(error) => return Err(error),
            Ok(_) => return Ok(above),
        }
    }
    Ok(Path::new("."))
}

/// Resolves links if the file exists; returns the path itself otherwise.
#[must_use]
pub fn behind_links(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
