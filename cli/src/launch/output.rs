//! The folder for what is recorded: that it cannot be written is told before the program runs, not after it.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::problem::Problem;
use crate::temporary;

/// Whether files can be made in the folder, or in the nearest one above it that is there.
///
/// The folder itself is left to the agent, whose JVM may belong to another user.
///
/// # Errors
/// If nothing can be written there (`H0620`).
pub fn check(folder: &Path) -> Result<(), Problem> {
    let there = nearest(folder).and_then(|there| temporary::file(there).map(drop));
    there.map_err(|error| Problem::unwritable(folder, &error))
}

/// The folder, or the nearest one above it that is there.
fn nearest(folder: &Path) -> io::Result<&Path> {
    for above in folder.ancestors() {
        match fs::metadata(above) {
            Err(error) if error.kind() == ErrorKind::NotFound => (),
            Err(error) => return Err(error),
            Ok(_) => return Ok(above),
        }
    }
    Ok(folder)
}
