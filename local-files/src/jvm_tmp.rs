//! Our files and folders in the `/tmp` of a JVM, whose user and file system may be others.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{fchown, lchown};
use std::path::{Path, PathBuf};

use attach::Process;
use rustix::fs::{Mode, OFlags};
use rustix::process::geteuid;

/// Folder for temporary files, as the JVM sees it.
const TMP: &str = "/tmp";

/// The `/tmp` of a JVM, held open, so that no link in the JVM's file system leads out of it.
#[derive(Debug)]
pub struct JvmTmp {
    folder: OwnedFd,
    user: u32,
}

impl JvmTmp {
    /// Opens the folder.
    ///
    /// # Errors
    /// If the JVM has none.
    pub fn open(process: &Process) -> io::Result<Self> {
        Ok(Self {
            folder: process.open_folder(TMP)?,
            user: process.effective_uid(),
        })
    }

    /// Returns the path for this process and its children, valid as long as this value lives.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        let (pid, folder) = (std::process::id(), self.folder.as_raw_fd());
        PathBuf::from(format!("/proc/{pid}/fd/{folder}"))
    }

    /// Returns the JVM's path of a file in the folder.
    #[must_use]
    pub fn seen(&self, ours: &Path) -> PathBuf {
        Path::new(TMP).join(ours.file_name().unwrap_or_default())
    }

    /// Changes the owner of a file, or of a folder with its files, to the JVM's user.
    ///
    /// # Errors
    /// If this user lacks the permission, or another user has replaced the file.
    pub fn give(&self, path: &Path) -> io::Result<()> {
        if geteuid().as_raw() == self.user {
            return Ok(());
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
        if file.metadata()?.is_dir() {
            for entry in fs::read_dir(format!("/proc/self/fd/{}", file.as_raw_fd()))? {
                lchown(entry?.path(), Some(self.user), None)?;
            }
        }
        fchown(&file, Some(self.user), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn of_another_user() -> JvmTmp {
        let process = Process::read(std::process::id().cast_signed()).unwrap();
        let user = process.effective_uid() + 1;
        let tmp = JvmTmp::open(&process).unwrap();
        JvmTmp { user, ..tmp }
    }

    #[test]
    fn files_are_visible_to_both_processes() {
        let process = Process::read(std::process::id().cast_signed()).unwrap();
        let tmp = JvmTmp::open(&process).unwrap();
        let folder = TempDir::new_in(tmp.path()).unwrap();
        fs::write(folder.path().join("x"), "text").unwrap();
        let seen = tmp.seen(folder.path()).join("x");
        assert_eq!(fs::read_to_string(seen).unwrap(), "text");
        tmp.give(folder.path()).unwrap();
    }

    #[test]
    fn link_in_place_of_a_file_is_not_followed() {
        let tmp = of_another_user();
        let folder = TempDir::new_in(tmp.path()).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/etc/hostname", &link).unwrap();
        tmp.give(&link).unwrap_err();
    }
}
