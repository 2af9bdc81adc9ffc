//! Devices, pipes and sockets.

use std::fs;
use std::path::Path;

/// Checks for a device, a pipe or a socket, which no output may replace, and which cannot be read
/// twice.
#[must_use]
pub fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// Describes the file system object at a path that should be a file.
#[must_use]
pub fn describe(path: &Path) -> &'static str {
    match (is_special(path), path.is_symlink()) {
        (true, _) => "a pipe, a socket or a device",
        (false, true) => "a link to a file that does not exist",
        (false, false) => "nothing that can be read",
    }
}
