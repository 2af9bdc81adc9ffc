//! Where the socket lies: `/tmp/.classhook-UID/PID.sock`, in a folder that only its user may enter.

use crate::error::ControlError;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The folder that every user may write to.
pub const TMP: &str = "/tmp";
/// Attempts to make a folder that another process removes at the same time.
const TRIES: usize = 8;

/// The socket of the process `pid` of the user `uid`, both as that process itself counts them.
#[must_use]
pub fn socket_path(uid: u32, pid: i32) -> String {
    format!("{TMP}/{}/{}", folder_name(uid), socket_name(pid))
}

fn folder_name(uid: u32) -> String {
    format!(".classhook-{uid}")
}

fn socket_name(pid: i32) -> String {
    format!("{pid}.sock")
}

/// The socket of this process; removed when dropped, and the folder with it if it is empty then.
#[derive(Debug)]
pub struct Socket {
    folder: OwnedFd,
    folder_path: PathBuf,
    name: String,
}

impl Socket {
    /// Makes folder and socket below `tmp` and begins to listen.
    ///
    /// The folder is opened without following links and its owner checked afterwards, so the folder
    /// of another user is refused. Sockets of processes that are gone are removed.
    ///
    /// # Errors
    /// [`ControlError::NotTrusted`] or [`ControlError::Socket`].
    pub fn listen(tmp: &Path) -> Result<(Self, UnixListener), ControlError> {
        let path = tmp.join(folder_name(rustix::process::geteuid().as_raw()));
        let name = socket_name(rustix::process::getpid().as_raw_pid());
        let failed =
            |error: Errno| ControlError::socket(format!("making {}", path.display()))(error.into());
        for _ in 0..TRIES {
            let folder = match open_folder(&path) {
                Err(Errno::NOENT) => continue,
                Err(Errno::LOOP | Errno::NOTDIR) => return Err(not_ours(&path, "no folder")),
                other => other.map_err(failed)?,
            };
            check_folder(&folder, &path)?;
            remove_stale(&folder);
            match bind(&folder, &name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {} // removed by another JVM that ended
                outcome => {
                    let what = format!("making {}/{name}", path.display());
                    let listener = outcome.map_err(ControlError::socket(what))?;
                    let place = Self {
                        folder,
                        folder_path: path,
                        name,
                    };
                    return Ok((place, listener));
                }
            }
        }
        Err(failed(Errno::NOENT))
    }

    /// The socket, for messages.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder_path.join(&self.name)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        remove(&self.folder, &self.name);
        let _ = fs::remove_dir(&self.folder_path); // stays while sockets of other JVMs are in it
    }
}

/// Binds below the folder that was checked, whatever lies at its path by now.
fn bind(folder: &OwnedFd, name: &str) -> io::Result<UnixListener> {
    let path = through(folder, name);
    match UnixListener::bind(&path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse && !is_alive(&path) => {
            remove(folder, name); // of an earlier process with this id
            UnixListener::bind(&path)
        }
        outcome => outcome,
    }
}

fn remove(folder: &OwnedFd, name: &str) {
    let _ = rustix::fs::unlinkat(folder, name, AtFlags::empty());
}

/// A path of at most 108 bytes (`sun_path`) to a file in an open folder.
fn through(folder: &OwnedFd, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}/{name}", folder.as_raw_fd()))
}

fn is_alive(socket: &Path) -> bool {
    UnixStream::connect(socket).is_ok()
}

fn open_folder(path: &Path) -> Result<OwnedFd, Errno> {
    match rustix::fs::mkdir(path, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

/// The folder must be ours; then it is closed to everybody else.
fn check_folder(folder: &OwnedFd, path: &Path) -> Result<(), ControlError> {
    let failed =
        |error: Errno| ControlError::socket(format!("looking at {}", path.display()))(error.into());
    let found = rustix::fs::fstat(folder).map_err(failed)?;
    let ours = rustix::process::geteuid().as_raw();
    if found.st_uid != ours {
        let what = format!("a folder of user {}, not of user {ours}", found.st_uid);
        return Err(not_ours(path, &what));
    }
    if found.st_mode & 0o077 != 0 {
        rustix::fs::fchmod(folder, Mode::RWXU).map_err(failed)?;
    }
    Ok(())
}

fn not_ours(path: &Path, found: &str) -> ControlError {
    ControlError::NotTrusted(format!("{} is {found}", path.display()))
}

/// Removes the sockets of processes that are gone and at which no process listens.
fn remove_stale(folder: &OwnedFd) {
    let Ok(entries) = rustix::fs::Dir::read_from(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let pid = name
            .strip_suffix(".sock")
            .and_then(|pid| pid.parse::<u32>().ok());
        let gone = pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists());
        let socket = matches!(entry.file_type(), FileType::Socket | FileType::Unknown);
        if gone && socket && !is_alive(&through(folder, &name)) {
            remove(folder, &name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn folder(tmp: &Path) -> PathBuf {
        tmp.join(folder_name(rustix::process::geteuid().as_raw()))
    }

    #[test]
    fn folder_is_closed_to_others_and_gone_with_the_last_socket() {
        let tmp = tempfile::tempdir().unwrap();
        fs::create_dir(folder(tmp.path())).unwrap();
        fs::set_permissions(folder(tmp.path()), fs::Permissions::from_mode(0o777)).unwrap();
        let (place, _listener) = Socket::listen(tmp.path()).unwrap();
        assert_eq!(
            fs::metadata(folder(tmp.path())).unwrap().mode() & 0o777,
            0o700
        );
        assert!(place.path().exists());
        drop(place);
        assert!(!folder(tmp.path()).exists());
    }

    #[test]
    fn link_in_place_of_the_folder_is_refused() {
        let tmp = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        symlink(elsewhere.path(), folder(tmp.path())).unwrap();
        let error = Socket::listen(tmp.path()).unwrap_err();
        assert!(matches!(error, ControlError::NotTrusted(_)), "{error}");
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
        fs::remove_file(folder(tmp.path())).unwrap();
        fs::write(folder(tmp.path()), "").unwrap();
        let error = Socket::listen(tmp.path()).unwrap_err();
        assert!(matches!(error, ControlError::NotTrusted(_)), "{error}");
    }

    #[test]
    fn sockets_that_nobody_listens_at_are_replaced_and_removed() {
        let tmp = tempfile::tempdir().unwrap();
        fs::create_dir(folder(tmp.path())).unwrap();
        let own = folder(tmp.path()).join(socket_name(std::process::id() as i32));
        let gone = folder(tmp.path()).join(socket_name(i32::MAX));
        let other = folder(tmp.path()).join("notes.txt");
        drop(UnixListener::bind(&own).unwrap());
        drop(UnixListener::bind(&gone).unwrap());
        fs::write(&other, "").unwrap();
        let (place, _listener) = Socket::listen(tmp.path()).unwrap();
        assert!(UnixStream::connect(&own).is_ok());
        assert!(!gone.exists() && other.exists());
        drop(place);
        assert!(!own.exists() && other.exists());
    }

    #[test]
    fn socket_that_is_listened_at_is_left_alone() {
        let tmp = tempfile::tempdir().unwrap();
        let (_place, _listener) = Socket::listen(tmp.path()).unwrap();
        assert!(matches!(
            Socket::listen(tmp.path()),
            Err(ControlError::Socket { .. })
        ));
    }
}
