//! Checks a folder by writing a file of some size: its disk may be full, or mounted read-only.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use local_files::temporary;

/// Size of the file in bytes; a full disk may still hold smaller ones.
const SIZE: usize = 1 << 20;

/// Creates a file in the folder, and deletes it again.
///
/// # Errors
/// Those of the system.
pub fn check(folder: &Path) -> io::Result<()> {
    let mut file = temporary::file(folder)?;
    file.write_all(&vec![0; SIZE])?;
    file.as_file().sync_all() // some file systems allocate late
}

/// Advice for a failure of [`check`].
#[must_use]
pub fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "make room there: the agent needs some megabytes"
        }
        ErrorKind::ReadOnlyFilesystem => {
            "mount a writable folder there (in a container, an emptyDir or tmpfs)"
        }
        _ => "let this user write there, or name another folder with the command's option",
    }
}
