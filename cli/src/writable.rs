//! Where something will be written: that nothing can be is told before the program runs, not after it.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::problem::Problem;
use crate::special_file::is_special;
use crate::stdout::is_stdout;
use crate::temporary;

/// Whether files can be made in the folder, or in the nearest one above it that is there.
///
/// The folder itself is left to the agent, whose JVM may belong to another user.
///
/// # Errors
/// If nothing can be written there (`H0620`).
pub fn folder(folder: &Path) -> Result<(), Problem> {
    make_one_in(folder).map_err(|error| Problem::unwritable(folder, &error))
}

/// Writes a `.gitignore` that excludes everything in the folder.
///
/// A folder of another user stays as it is, and so does one that is gone.
pub fn keep_from_git(folder: &Path) {
    let _ = fs::write(folder.join(".gitignore"), "*\n");
}

/// Whether each of the files that are asked for can be made, or replaced.
///
/// # Errors
/// If it is a folder, or nothing can be written where it is to lie (`H0620`).
pub fn files<'p>(asked: impl IntoIterator<Item = &'p Option<PathBuf>>) -> Result<(), Problem> {
    let mut files = asked.into_iter().flatten();
    files.try_for_each(|path| file(path))
}

fn file(path: &Path) -> Result<(), Problem> {
    if is_stdout(path) || is_special(path) {
        return Ok(());
    }
    if path.is_dir() {
        let error = io::Error::from(ErrorKind::IsADirectory);
        return Err(Problem::unwritable(path, &error));
    }
    let file = behind_links(path);
    let made = make_one_in(file.parent().unwrap_or(&file));
    made.map_err(|error| Problem::unwritable(path, &error))
}

/// Makes a file in the folder, or in the nearest one above it that is there, and removes it.
fn make_one_in(folder: &Path) -> io::Result<()> {
    temporary::file(nearest(folder)?).map(drop)
}

/// The folder, or the nearest one above it that is there; without any, the current one.
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

/// The file that a link names, if it is there; else the path itself.
#[must_use]
pub fn behind_links(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
