//! A copy of a file in the file system of a process with another root, removed afterwards.
//!
//! A process in a container may put links anywhere in its file system, and no link may lead outside. So this module
//! resolves paths as the process does (`openat2`, `RESOLVE_IN_ROOT`), and always creates files.

use crate::error::AttachError;
use crate::process::Process;
use rustix::fs::{AtFlags, Mode, OFlags, StatVfsMountFlags};
use rustix::io::Errno;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

/// Folders for temporary files, in the order of attempts.
const FOLDERS: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// A copy of a file in a private folder of the process's user, removed when dropped.
#[derive(Debug)]
pub struct PlacedFile {
    /// The folder that holds the private one.
    parent: OwnedFd,
    /// The private folder: its name in `parent`, and its descriptor.
    name: String,
    folder: OwnedFd,
    file: String,
    path: PathBuf,
}

impl PlacedFile {
    /// Copies `file` into a folder `name` in the file system of the process, or a folder whose name begins so. The
    /// process can execute the copy.
    ///
    /// # Errors
    ///
    /// [`AttachError::NoPlace`] with the reason for each folder that was tried.
    pub fn new(process: &Process, file: &Path, name: &str) -> Result<Self, AttachError> {
        let mut tried = Vec::new();
        for place in FOLDERS {
            match Self::in_folder(process, file, place, name) {
                Ok(placed) => return Ok(placed),
                Err(cause) => tried.push(format!("{place} ({cause})")),
            }
        }
        Err(AttachError::NoPlace {
            pid: process.pid(),
            tried: tried.join(", "),
        })
    }

    /// The path of the copy, in the file system of the process.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn in_folder(process: &Process, file: &Path, place: &str, name: &str) -> Result<Self, String> {
        let text = |error: Errno| std::io::Error::from(error).to_string();
        let parent = process
            .open_folder(place)
            .map_err(|error| error.to_string())?;
        let flags = rustix::fs::fstatvfs(&parent).map_err(text)?.f_flag;
        if flags.contains(StatVfsMountFlags::NOEXEC) {
            return Err("mounted noexec".to_owned());
        }
        let (name, folder) = private_folder(&parent, name, process).map_err(text)?;
        let file_name = file.file_name().unwrap_or_default().to_string_lossy();
        let placed = Self {
            path: Path::new(place).join(&name).join(&*file_name),
            file: file_name.into_owned(),
            parent,
            name,
            folder,
        };
        placed
            .fill(file, process)
            .map_err(|error| error.to_string())?;
        Ok(placed)
    }

    /// Copies the file, and gives the copy and its folder to the user of the process.
    fn fill(&self, file: &Path, process: &Process) -> std::io::Result<()> {
        let _ = rustix::fs::unlinkat(&self.folder, self.file.as_str(), AtFlags::empty()); // of a command that was killed
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::XUSR;
        let copy = rustix::fs::openat(&self.folder, self.file.as_str(), flags, mode)?;
        let mut copy = File::from(copy);
        std::io::copy(&mut File::open(file)?, &mut copy)?;
        let owner = process.effective_uid();
        if copy.metadata()?.uid() != owner {
            fchown(&copy, Some(owner), None)?;
            fchown(&self.folder, Some(owner), None)?;
        }
        Ok(())
    }
}

impl Drop for PlacedFile {
    fn drop(&mut self) {
        // If this fails, the file remains in a folder for temporary files.
        let _ = rustix::fs::unlinkat(&self.folder, self.file.as_str(), AtFlags::empty());
        let _ = rustix::fs::unlinkat(&self.parent, self.name.as_str(), AtFlags::REMOVEDIR);
    }
}

/// Creates or opens a folder that only the process's user can enter. It has this name, or a longer name if another user
/// has taken this one.
fn private_folder(
    parent: &OwnedFd,
    name: &str,
    process: &Process,
) -> rustix::io::Result<(String, OwnedFd)> {
    let own = format!("{name}-{}", std::process::id());
    for name in [name, &own] {
        let made = rustix::fs::mkdirat(parent, name, Mode::RWXU);
        if made.is_err_and(|error| error != Errno::EXIST) {
            made?;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(parent, name, flags, Mode::empty());
        if let Ok(folder) = folder
            && is_private(&folder, process)
        {
            return Ok((name.to_owned(), folder));
        }
    }
    Err(Errno::EXIST)
}

fn is_private(folder: &OwnedFd, process: &Process) -> bool {
    let ours = rustix::process::geteuid().as_raw();
    rustix::fs::fstat(folder).is_ok_and(|found| {
        [ours, process.effective_uid()].contains(&found.st_uid) && found.st_mode & 0o077 == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placed_file_is_private_and_removed_when_dropped() {
        let process = Process::read(std::process::id() as i32).expect("we exist");
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "text").expect("written");
        let name = format!(".attach-test-{}", std::process::id());
        let placed = PlacedFile::new(&process, file.path(), &name).expect("a place");
        let (path, folder) = (placed.path().to_owned(), placed.path().parent());
        let folder = folder.expect("a folder").to_owned();
        assert_eq!(std::fs::read_to_string(&path).expect("readable"), "text");
        let mode = std::fs::metadata(&folder).expect("there").mode();
        assert_eq!(mode & 0o777, 0o700);
        let second = PlacedFile::new(&process, file.path(), &name).expect("the same place");
        assert_eq!(second.path(), path);
        drop((placed, second));
        assert!(!folder.exists());
        // A file of another user is left alone.
        std::fs::write(&folder, "").expect("written");
        let placed = PlacedFile::new(&process, file.path(), &name).expect("another place");
        assert_ne!(placed.path(), path);
        std::fs::remove_file(&folder).expect("still a file");
    }
}
