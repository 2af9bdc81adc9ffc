//! The agent's socket: `/tmp/.classhook-UID/PID.sock`, in a folder that only its user may enter.
//!
//! If another user has taken that name, the folder is `/tmp/.classhook-UID-…` with an unpredictable suffix. Clients
//! then search the folders of the JVM's user.

use crate::error::ControlError;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, inotify};
use rustix::io::Errno;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The folder that every user may write to.
pub const TMP: &str = "/tmp";
/// Number of attempts to create a folder that another process removes at the same time.
const TRIES: usize = 8;

/// The socket of the process `pid` of the user `uid`, both in the namespaces of that process.
#[must_use]
pub fn socket_path(uid: u32, pid: i32) -> String {
    format!("{TMP}/{}/{}", folder_name(uid), socket_name(pid))
}

/// The possible paths of the socket of a process, the usual path first.
///
/// `tmp` is the process's [`TMP`] as this process sees it. `uid` and `pid` are in the namespaces of that process,
/// `owner` is its user in ours.
#[must_use]
pub fn candidates(tmp: &Path, uid: u32, pid: i32, owner: u32) -> Vec<PathBuf> {
    let mut found = vec![tmp.join(folder_name(uid)).join(socket_name(pid))];
    let start = format!("{}-", folder_name(uid));
    for entry in fs::read_dir(tmp).into_iter().flatten().flatten() {
        let is_ours = |entry: &fs::DirEntry| {
            let found = entry.path().symlink_metadata();
            found.is_ok_and(|found| found.is_dir() && found.uid() == owner)
        };
        if entry.file_name().to_string_lossy().starts_with(&start) && is_ours(&entry) {
            found.push(entry.path().join(socket_name(pid)));
        }
    }
    found
}

fn folder_name(uid: u32) -> String {
    format!(".classhook-{uid}")
}

fn socket_name(pid: i32) -> String {
    format!("{pid}.sock")
}

/// The socket of this process. It is removed when dropped, and its folder too if that is empty then.
#[derive(Debug)]
pub struct Socket {
    folder: OwnedFd,
    folder_path: PathBuf,
    name: String,
    /// Device and inode of the folder and of the socket.
    identity: [(u64, u64); 2],
    /// An inotify watch of the folder, readable after a removal or a rename; `None` if the system has no watch left.
    watch: Option<OwnedFd>,
}

impl Socket {
    /// Creates folder and socket below `tmp` and begins to listen.
    ///
    /// The folder is opened without following links, and its owner is checked afterwards. So a folder that another user
    /// has put there is not used; a folder with an unpredictable name replaces it. Sockets of processes that are gone
    /// are removed.
    ///
    /// # Errors
    ///
    /// [`ControlError::Socket`].
    pub fn listen(tmp: &Path) -> Result<(Self, UnixListener), ControlError> {
        let usual = folder_name(rustix::process::geteuid().as_raw());
        match Self::listen_in(&tmp.join(&usual)) {
            Err(ControlError::NotTrusted(_)) => {
                let number = RandomState::new().hash_one(rustix::process::getpid().as_raw_pid());
                Self::listen_in(&tmp.join(format!("{usual}-{number:016x}")))
            }
            outcome => outcome,
        }
    }

    fn listen_in(path: &Path) -> Result<(Self, UnixListener), ControlError> {
        let name = socket_name(rustix::process::getpid().as_raw_pid());
        let failed =
            |error: Errno| ControlError::socket(format!("making {}", path.display()))(error.into());
        for _ in 0..TRIES {
            let folder = match open_folder(path) {
                Err(Errno::NOENT) => continue,
                Err(Errno::LOOP | Errno::NOTDIR) => return Err(not_ours(path, "no folder")),
                Err(Errno::ACCESS) => return Err(not_ours(path, "closed to this user")),
                other => other.map_err(failed)?,
            };
            check_folder(&folder, path)?;
            remove_stale(&folder);
            match bind(&folder, &name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {} // removed by another JVM that ended
                outcome => {
                    let what = format!("making {}/{name}", path.display());
                    let listener = outcome.map_err(ControlError::socket(what))?;
                    let folder_path = path.to_path_buf();
                    let identity = identity(&folder_path, &name).map_err(failed)?;
                    let socket = Self {
                        folder,
                        folder_path,
                        name,
                        identity,
                        watch: watch(path).ok(),
                    };
                    return Ok((socket, listener));
                }
            }
        }
        Err(failed(Errno::NOENT))
    }

    /// The watch of the folder, readable once the socket may have been removed. Without one the caller must poll.
    #[must_use]
    pub fn watch(&self) -> Option<BorrowedFd<'_>> {
        self.watch.as_ref().map(AsFd::as_fd)
    }

    /// Discards the events of [`Socket::watch`].
    pub fn take_events(&self) {
        let mut buffer = [0; 4096];
        while self
            .watch
            .as_ref()
            .is_some_and(|watch| rustix::io::read(watch, &mut buffer).is_ok_and(|read| read > 0))
        {
        }
    }

    /// Checks whether this socket is still at its path: another process may have removed or replaced it.
    #[must_use]
    pub fn is_there(&self) -> bool {
        identity(&self.folder_path, &self.name).is_ok_and(|found| found == self.identity)
    }

    /// The path of the socket, for messages.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder_path.join(&self.name)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.is_there() {
            remove(&self.folder, &self.name); // only if it was not replaced meanwhile
        }
        let _ = fs::remove_dir(&self.folder_path); // fails while the folder holds sockets of other JVMs
    }
}

/// Creates a watch that reports removals and renames of the folder and of its entries.
fn watch(folder: &Path) -> Result<OwnedFd, Errno> {
    let watch = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?;
    let removed = inotify::WatchFlags::DELETE
        | inotify::WatchFlags::DELETE_SELF
        | inotify::WatchFlags::MOVED_FROM
        | inotify::WatchFlags::MOVE_SELF;
    inotify::add_watch(&watch, folder, removed)?;
    Ok(watch)
}

/// Device and inode of the folder and of the socket in it.
fn identity(folder: &Path, name: &str) -> Result<[(u64, u64); 2], Errno> {
    let found = |path: &Path| rustix::fs::lstat(path).map(|found| (found.st_dev, found.st_ino));
    Ok([found(folder)?, found(&folder.join(name))?])
}

/// Binds the socket in the folder that was checked, even if the path leads elsewhere by now.
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

/// Checks that the folder is ours, and then closes it to other users.
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

/// Removes sockets whose processes are gone and that refuse connections.
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
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn folder(tmp: &Path) -> PathBuf {
        tmp.join(folder_name(rustix::process::geteuid().as_raw()))
    }

    #[test]
    fn folder_is_private_and_removed_with_the_last_socket() {
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
    fn folder_of_another_user_is_not_used() {
        let tmp = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let (uid, pid) = (
            rustix::process::geteuid().as_raw(),
            std::process::id() as i32,
        );
        symlink(elsewhere.path(), folder(tmp.path())).unwrap();
        let check = || {
            let (socket, _listener) = Socket::listen(tmp.path()).unwrap();
            assert_ne!(socket.path().parent(), Some(folder(tmp.path()).as_path()));
            let found = candidates(tmp.path(), uid, pid, uid);
            assert!(found.contains(&socket.path()), "{found:?}");
            assert!(candidates(tmp.path(), uid, pid, uid + 1).len() == 1);
        };
        check();
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
        fs::remove_file(folder(tmp.path())).unwrap();
        fs::write(folder(tmp.path()), "").unwrap();
        check();
        assert_eq!(
            fs::read_dir(tmp.path()).unwrap().count(),
            1,
            "only the file is left"
        );
    }

    #[test]
    fn removed_or_replaced_socket_is_detected() {
        let tmp = tempfile::tempdir().unwrap();
        let (socket, _listener) = Socket::listen(tmp.path()).unwrap();
        assert!(socket.is_there());
        fs::remove_file(socket.path()).unwrap();
        assert!(!socket.is_there());
        let other = UnixListener::bind(socket.path()).unwrap();
        assert!(!socket.is_there());
        drop(socket);
        assert_eq!(
            fs::read_dir(folder(tmp.path())).unwrap().count(),
            1,
            "of somebody else"
        );
        drop(other);
    }

    #[test]
    fn sockets_without_listeners_are_replaced_and_removed() {
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
    fn socket_with_a_listener_is_not_replaced() {
        let tmp = tempfile::tempdir().unwrap();
        let (_place, _listener) = Socket::listen(tmp.path()).unwrap();
        assert!(matches!(
            Socket::listen(tmp.path()),
            Err(ControlError::Socket { .. })
        ));
    }
}
