//! Absolute paths.

use std::path::{Path, PathBuf};

use errors::Error;

/// Returns a path relative to this process's folder as absolute; the JVM's folder may be another.
///
/// # Errors
/// If this process's working folder was removed (`H0612`).
pub fn absolute(path: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(path).map_err(|error| Error::unreadable(path, &error))
}
