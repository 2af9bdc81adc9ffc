//! A process as `/proc` describes it: namespaces, owner, signals, mapped libraries.

use crate::error::AttachError;
use crate::rights;
use rustix::fs::{Access, AtFlags, Mode, OFlags, ResolveFlags};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// The library of HotSpot.
const LIBJVM: &str = "libjvm.so";
/// The thread of HotSpot that executes safepoints.
const VM_THREAD: &str = "VM Thread";

/// The bit of SIGQUIT (signal 3) in the masks of `/proc/PID/status`.
const SIGQUIT_BIT: u64 = 1 << 2;

/// Largest number of file descriptors that blocked calls of a process may hold without an entry in `/proc`.
const HIDDEN_DESCRIPTORS: u64 = 16;

/// A process, in our pid namespace.
#[derive(Debug, Clone)]
pub struct Process {
    pid: i32,
    status: Status,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Status {
    effective_uid: u32,
    effective_gid: u32,
    /// The supplementary groups.
    groups: Vec<u32>,
    namespace_pid: i32,
    /// The process of a thread; the pid itself if it is no thread.
    process: i32,
    caught_signals: u64,
    /// True for a zombie: the process has ended, and its parent has not waited for it.
    ended: bool,
    /// True if a signal or a debugger has stopped the process.
    stopped: bool,
}

impl Process {
    /// Reads `/proc/PID/status`.
    ///
    /// # Errors
    ///
    /// [`AttachError::NoProcess`] if no process has this pid, [`AttachError::Thread`] if a thread has it.
    pub fn read(pid: i32) -> Result<Process, AttachError> {
        let text = fs::read_to_string(format!("/proc/{pid}/status"))
            .map_err(|_| AttachError::NoProcess(pid))?;
        let status = Status::parse(&text, pid);
        // `/proc` opens the folders of threads, but does not list them.
        match status.process {
            process if process == pid => Ok(Process { pid, status }),
            process => Err(AttachError::Thread {
                thread: pid,
                process,
            }),
        }
    }

    /// Checks whether the process runs; false for a zombie.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        !self.status.ended
    }

    /// Checks whether SIGSTOP, Ctrl-Z or a debugger has stopped the process. Then it does not answer.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.status.stopped
    }

    /// Checks that the process can answer now.
    ///
    /// # Errors
    ///
    /// [`AttachError::NoProcess`] if it has ended, [`AttachError::Stopped`] if it is stopped.
    pub fn check_answers(&self) -> Result<(), AttachError> {
        let now = Process::read(self.pid)?;
        if !now.is_alive() {
            return Err(AttachError::NoProcess(self.pid));
        }
        if now.is_stopped() {
            return Err(AttachError::Stopped(self.pid));
        }
        Ok(())
    }

    /// The pid in our namespace.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// The pid in the process's own, innermost namespace.
    #[must_use]
    pub fn namespace_pid(&self) -> i32 {
        self.status.namespace_pid
    }

    /// The effective user id.
    #[must_use]
    pub fn effective_uid(&self) -> u32 {
        self.status.effective_uid
    }

    /// The effective group id.
    #[must_use]
    pub fn effective_gid(&self) -> u32 {
        self.status.effective_gid
    }

    /// The effective user id in the process's own user namespace.
    #[must_use]
    pub fn namespace_uid(&self) -> u32 {
        let map = fs::read_to_string(format!("/proc/{}/uid_map", self.pid)).unwrap_or_default();
        inner_uid(&map, self.status.effective_uid).unwrap_or(self.status.effective_uid)
    }

    /// Checks whether a handler for SIGQUIT is installed. Without one, SIGQUIT would end the process.
    #[must_use]
    pub fn catches_sigquit(&self) -> bool {
        self.status.caught_signals & SIGQUIT_BIT != 0
    }

    /// Checks whether the process is a JVM: it has mapped `libjvm.so`.
    ///
    /// The system hides the mapped files of a process that has more capabilities than this one. If that process has our
    /// user, a thread of the name `VM Thread` decides.
    #[must_use]
    pub fn is_jvm(&self) -> bool {
        match self.mapped() {
            Ok(maps) => maps_name(&maps, LIBJVM),
            Err(error) => {
                let is_hidden = error.kind() == io::ErrorKind::PermissionDenied;
                is_hidden && self.check_permission().is_ok() && self.has_thread(VM_THREAD)
            }
        }
    }

    /// Checks whether `/proc/PID` hides the files of the process, because it has a capability that this process lacks.
    #[must_use]
    pub fn hides_files(&self) -> bool {
        let root = fs::read_link(self.proc("root"));
        root.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
    }

    /// Checks whether the process has the same root folder and mounts as this process.
    #[must_use]
    pub fn shares_mounts(&self) -> bool {
        let mounts = |of: &str| fs::read(format!("/proc/{of}/mountinfo")).ok();
        let theirs = mounts(&self.pid.to_string());
        theirs.is_some() && theirs == mounts("self")
    }

    /// Checks that the files of the process are accessible.
    ///
    /// # Errors
    ///
    /// [`AttachError::Hidden`].
    pub fn check_files(&self) -> Result<(), AttachError> {
        if self.hides_files() && !self.shares_mounts() {
            return Err(AttachError::Hidden(self.pid));
        }
        Ok(())
    }

    /// The root folder of the process, seen from our mounts. It is our own root if the process hides its root and
    /// shares our mounts.
    fn root(&self) -> PathBuf {
        match self.hides_files() && self.shares_mounts() {
            true => PathBuf::from("/"),
            false => self.proc("root"),
        }
    }

    fn proc(&self, file: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{file}", self.pid))
    }

    /// A path of the process's file system, seen from our mounts. A relative path starts at its working directory.
    #[must_use]
    pub fn path_in_root(&self, path: &str) -> PathBuf {
        match path.strip_prefix('/') {
            Some(path) => self.root().join(path.trim_start_matches('/')),
            None => self.working_directory().join(path),
        }
    }

    /// The process's working directory, seen from our mounts.
    #[must_use]
    pub fn working_directory(&self) -> PathBuf {
        self.proc("cwd")
    }

    /// Checks that this process may attach: it must run as root or as the process's user.
    ///
    /// # Errors
    ///
    /// [`AttachError::OtherUser`].
    pub fn check_permission(&self) -> Result<(), AttachError> {
        let ours = rustix::process::geteuid().as_raw();
        let owner = self.effective_uid();
        if ours == 0 || ours == owner {
            return Ok(());
        }
        Err(AttachError::OtherUser {
            pid: self.pid,
            owner,
            ours,
        })
    }

    /// Checks whether our file is the same file at the same path for the process.
    #[must_use]
    pub fn sees(&self, path: &Path) -> bool {
        let identity = |path: &Path| fs::metadata(path).map(|m| (m.dev(), m.ino())).ok();
        let theirs = path.to_str().map(|path| self.path_in_root(path));
        let theirs = theirs.and_then(|path| identity(&path));
        theirs.is_some() && theirs == identity(path)
    }

    /// Checks whether the process maps a file of this name (the last part of its path). Returns `None` if `/proc`
    /// hides the maps.
    #[must_use]
    pub fn maps(&self, library: &str) -> Option<bool> {
        self.mapped().ok().map(|maps| maps_name(&maps, library))
    }

    fn mapped(&self) -> io::Result<String> {
        fs::read_to_string(self.proc("maps"))
    }

    /// Returns the name of the process's C library, and checks that an agent of this build runs with it: one for musl
    /// runs with glibc too, one for glibc alone does not run with musl.
    ///
    /// # Errors
    ///
    /// [`AttachError::Musl`].
    pub fn check_libc(&self) -> Result<&'static str, AttachError> {
        let is_portable = cfg!(target_env = "musl");
        match self.mapped().is_ok_and(|maps| maps_musl(&maps)) {
            true if is_portable => Ok("musl"),
            true => Err(AttachError::Musl(self.pid)),
            false => Ok("glibc"),
        }
    }

    /// Opens a folder of the process's file system, and follows links as the process would.
    ///
    /// # Errors
    ///
    /// Those of `openat2`.
    pub fn open_folder(&self, path: &str) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        self.open_in_root(&self.open_root()?, path, flags)
    }

    /// Opens a file of the process's file system for reading, and follows links as the process would.
    ///
    /// # Errors
    ///
    /// Those of `openat2`.
    pub fn open_file(&self, path: &Path) -> io::Result<fs::File> {
        let path = path.to_str().ok_or(io::ErrorKind::InvalidInput)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = self.open_in_root(&self.open_root()?, path, flags);
        opened.map(fs::File::from)
    }

    fn open_root(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(rustix::fs::open(self.root(), flags, Mode::empty())?)
    }

    fn open_in_root(&self, root: &OwnedFd, path: &str, flags: OFlags) -> io::Result<OwnedFd> {
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        let opened = rustix::fs::openat2(root, path, flags, Mode::empty(), resolve);
        Ok(opened?)
    }

    /// Runs `work` with the user, the group and the supplementary groups of the process.
    ///
    /// The ids change only if this process is root and the process has another user or group. The work then runs on a
    /// separate thread.
    ///
    /// # Errors
    ///
    /// Those of `work`, or of `setresuid`.
    pub fn as_its_user<T: Send>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send,
    ) -> io::Result<T> {
        let Status {
            effective_uid,
            effective_gid,
            groups,
            ..
        } = &self.status;
        rights::with(*effective_uid, *effective_gid, groups, work)
    }

    /// Checks that the user of the process has this access to a file or folder of its file system.
    ///
    /// # Errors
    ///
    /// Those of `openat2` and `faccessat`: `PermissionDenied`, `NotFound`, `ReadOnlyFilesystem`.
    pub fn check_access(&self, path: &Path, access: Access) -> io::Result<()> {
        let path = path.to_str().ok_or(io::ErrorKind::InvalidInput)?;
        let root = self.open_root()?;
        self.as_its_user(|| {
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            let opened = self.open_in_root(&root, path, flags)?;
            let opened = format!("/proc/self/fd/{}", opened.as_raw_fd());
            let checked = rustix::fs::accessat(rustix::fs::CWD, opened, access, AtFlags::EACCESS);
            Ok(checked?)
        })
    }

    /// Connects to a socket of the process, as this process's user.
    ///
    /// Root connects as the user of the process if the process's user namespace does not map root.
    ///
    /// # Errors
    ///
    /// Those of `connect`.
    pub fn connect(&self, socket: &Path) -> io::Result<UnixStream> {
        let ours = rustix::process::geteuid();
        let map = fs::read_to_string(self.proc("uid_map")).unwrap_or_default();
        if !ours.is_root() || inner_uid(&map, 0).is_some() {
            return UnixStream::connect(socket);
        }
        self.connect_as_its_user(socket)
    }

    /// Connects to a socket as the user and group of the process. HotSpot of JDK 8 accepts no other connection, not
    /// even one of root.
    ///
    /// # Errors
    ///
    /// Those of `connect`.
    pub fn connect_as_its_user(&self, socket: &Path) -> io::Result<UnixStream> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(socket, flags, Mode::empty())?;
        self.as_its_user(|| UnixStream::connect(format!("/proc/self/fd/{}", opened.as_raw_fd())))
    }

    /// Returns the number of open file descriptors and its soft limit. Returns `None` if `/proc` hides either.
    #[must_use]
    pub fn descriptors(&self) -> Option<(u64, u64)> {
        let open = fs::read_dir(self.proc("fd")).ok()?.count() as u64;
        let limits = fs::read_to_string(self.proc("limits")).ok()?;
        Some((open, descriptor_limit(&limits)?))
    }

    /// As [`Process::check_descriptors`], for a process that has not answered for some seconds.
    ///
    /// Blocked calls may hold descriptors that `/proc` does not show: on some kernels `accept` reserves one before a
    /// client connects.
    ///
    /// # Errors
    ///
    /// [`AttachError::NoDescriptors`].
    pub fn check_descriptors_of_silent(&self) -> Result<(), AttachError> {
        self.check_descriptors(HIDDEN_DESCRIPTORS)
    }

    /// Checks that the process can open `needed` more files.
    ///
    /// # Errors
    ///
    /// [`AttachError::NoDescriptors`].
    pub fn check_descriptors(&self, needed: u64) -> Result<(), AttachError> {
        match self.descriptors() {
            Some((open, limit)) if open.saturating_add(needed) > limit => {
                let pid = self.pid;
                Err(AttachError::NoDescriptors {
                    pid,
                    open,
                    limit,
                    needed,
                })
            }
            _ => Ok(()),
        }
    }

    /// Checks whether the process has a thread of this name. The system keeps 15 bytes of a name.
    #[must_use]
    pub fn has_thread(&self, name: &str) -> bool {
        let threads = fs::read_dir(self.proc("task"));
        let mut threads = threads.into_iter().flatten().flatten();
        threads.any(|thread| {
            let found = fs::read_to_string(thread.path().join("comm"));
            found.is_ok_and(|found| found.trim_end() == name)
        })
    }

    /// The command line, one string for each argument.
    #[must_use]
    pub fn command_line(&self) -> Vec<String> {
        self.texts("cmdline")
    }

    /// Returns the value of an environment variable at the start of the process. Returns `None` for a variable that is
    /// unset, or that this user may not read.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<String> {
        let mut variables = self.texts("environ").into_iter();
        variables.find_map(|variable| {
            let (found, value) = variable.split_once('=')?;
            (found == name).then(|| value.to_owned())
        })
    }

    /// The strings of a file in `/proc/PID`, each terminated by a zero byte.
    fn texts(&self, file: &str) -> Vec<String> {
        let bytes = fs::read(self.proc(file)).unwrap_or_default();
        bytes
            .split(|byte| *byte == 0)
            .filter(|text| !text.is_empty())
            .map(|text| String::from_utf8_lossy(text).into_owned())
            .collect()
    }
}

/// Checks whether a line of `/proc/PID/maps` ends in a path with this file name.
fn maps_name(maps: &str, library: &str) -> bool {
    maps.lines().any(|line| {
        let path = line.trim_end_matches(" (deleted)");
        path.rsplit_once('/')
            .is_some_and(|(_, name)| name == library)
    })
}

/// The soft limit in the line `Max open files` of `/proc/PID/limits`.
fn descriptor_limit(limits: &str) -> Option<u64> {
    let mut lines = limits.lines();
    let line = lines.find_map(|line| line.strip_prefix("Max open files"))?;
    match line.split_whitespace().next()? {
        "unlimited" => Some(u64::MAX),
        number => number.parse().ok(),
    }
}

/// Checks whether the dynamic linker of musl is mapped: `/lib/ld-musl-x86_64.so.1`.
fn maps_musl(maps: &str) -> bool {
    maps.lines().any(|line| {
        let path = line.rsplit_once('/');
        path.is_some_and(|(_, name)| name.starts_with("ld-musl-"))
    })
}

/// Translates `uid` into a user namespace, by the lines `inside outside length` of the namespace's `uid_map`. Returns
/// `None` for a user outside these lines.
fn inner_uid(map: &str, uid: u32) -> Option<u32> {
    let inner = |line: &str| {
        let mut numbers = line.split_whitespace().map(str::parse::<u32>);
        let (inside, outside, length) = (
            numbers.next()?.ok()?,
            numbers.next()?.ok()?,
            numbers.next()?.ok()?,
        );
        let offset = uid.checked_sub(outside)?;
        (offset < length).then(|| inside.checked_add(offset))?
    };
    map.lines().find_map(inner)
}

impl Status {
    fn parse(text: &str, pid: i32) -> Status {
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
        // real, effective, saved, file system
        let effective = |name| {
            field(name)
                .and_then(|ids| ids.split_whitespace().nth(1)?.parse().ok())
                .unwrap_or(u32::MAX)
        };
        Status {
            effective_uid: effective("Uid:"),
            effective_gid: effective("Gid:"),
            groups: field("Groups:")
                .unwrap_or_default()
                .split_whitespace()
                .filter_map(|group| group.parse().ok())
                .collect(),
            process: field("Tgid:")
                .and_then(|process| process.trim().parse().ok())
                .unwrap_or(pid),
            // outermost first
            namespace_pid: field("NSpid:")
                .and_then(|pids| pids.split_whitespace().next_back()?.parse().ok())
                .unwrap_or(pid),
            stopped: field("State:").is_some_and(|state| state.trim().starts_with(['T', 't'])),
            ended: field("State:").is_some_and(|state| state.trim().starts_with(['Z', 'X'])),
            caught_signals: field("SigCgt:")
                .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
                .unwrap_or(0),
        }
    }
}

/// The pids that `/proc` lists, in ascending order.
#[must_use]
pub fn pids() -> Vec<i32> {
    let Ok(entries) = fs::read_dir(Path::new("/proc")) else {
        return Vec::new();
    };
    let mut pids: Vec<i32> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    pids.sort_unstable();
    pids
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const STATUS: &str = "Name:\tjava\nPid:\t4711\nUid:\t1000\t1001\t1000\t1000\nGid:\t1000\t1002\t1000\t1000\nGroups:\t4 27 \n\
                          NSpid:\t4711\t17\nSigCgt:\t2000000181005ccf\n";

    #[test]
    fn paths_of_a_process_resolve_to_its_files() {
        let own = Process::read(std::process::id().cast_signed()).unwrap();
        let here = std::env::current_dir().unwrap();
        let seen = |path: &str| own.path_in_root(path).canonicalize().unwrap();
        assert_eq!(seen("src"), here.join("src"));
        assert_eq!(seen(here.to_str().unwrap()), here);
    }

    #[test]
    fn thread_id_is_refused_with_its_process() {
        let own = std::process::id().cast_signed();
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        let refused = std::thread::spawn(|| {
            let thread = rustix::thread::gettid().as_raw_nonzero().get();
            (Process::read(thread).unwrap_err(), thread)
        });
        let (error, other) = refused.join().unwrap();
        assert_ne!(other, thread);
        assert_eq!(
            error.to_string(),
            format!("{other} is a thread of the process {own}")
        );
        assert!(Process::read(own).is_ok());
    }

    #[test]
    fn innermost_namespace_pid_and_effective_user_are_read() {
        let status = Status::parse(STATUS, 4711);
        assert_eq!((status.namespace_pid, status.effective_uid), (17, 1001));
        assert_eq!(
            (status.effective_gid, status.groups.as_slice()),
            (1002, &[4, 27][..])
        );
        assert_ne!(status.caught_signals & SIGQUIT_BIT, 0);
        assert!(!status.ended && Status::parse("State:\tZ (zombie)\n", 1).ended);
        assert!(!status.stopped && Status::parse("State:\tT (stopped)\n", 1).stopped);
        assert!(Status::parse("State:\tt (tracing stop)\n", 1).stopped);
    }

    #[test]
    fn user_id_is_translated_into_its_namespace() {
        let all = "         0          0 4294967295\n";
        assert_eq!(inner_uid(all, 1000), Some(1000));
        assert_eq!(inner_uid("0 1000 1\n1 100000 65536\n", 1000), Some(0));
        assert_eq!(inner_uid("0 1000 1\n1 100000 65536\n", 100_041), Some(42));
        assert_eq!(inner_uid("0 1000 1\n", 7), None);
        assert_eq!(inner_uid("garbage", 7), None);
    }

    #[test]
    fn limit_of_open_files_is_the_soft_limit() {
        let limits =
            "Limit   Soft Limit  Hard Limit  Units\nMax open files    1024    524288    files\n";
        assert_eq!(descriptor_limit(limits), Some(1024));
        assert_eq!(
            descriptor_limit("Max open files  unlimited unlimited files"),
            Some(u64::MAX)
        );
        assert_eq!(descriptor_limit("Max processes 1 2"), None);
    }

    #[test]
    fn access_is_checked_for_the_user_of_the_process() {
        let own = Process::read(std::process::id().cast_signed()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        own.check_access(folder.path(), Access::WRITE_OK).unwrap();
        let missing = own.check_access(&folder.path().join("x"), Access::READ_OK);
        assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
        if !rustix::process::geteuid().is_root() {
            return; // only root can take the rights of another user
        }
        let mut other = own.clone();
        other.status.effective_uid = 65_534;
        other.status.effective_gid = 65_534;
        other.status.groups = vec![];
        let open = |mode| {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        };
        open(0o700);
        let refused = other.check_access(folder.path(), Access::EXEC_OK);
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        other.status.groups = vec![0];
        open(0o770);
        other.check_access(folder.path(), Access::WRITE_OK).unwrap();
        let ours = rustix::process::geteuid();
        assert!(ours.is_root(), "this thread keeps its user");
    }

    #[test]
    fn missing_fields_leave_safe_values() {
        let status = Status::parse("Name:\tx\n", 5);
        assert_eq!(
            (
                status.namespace_pid,
                status.effective_uid,
                status.caught_signals
            ),
            (5, u32::MAX, 0)
        );
    }

    #[test]
    fn library_is_recognised_by_its_file_name_only() {
        let maps = "7f00-7f01 r-xp 0 00:00 1 /usr/lib/jvm/lib/server/libjvm.so\n7f02-7f03 rw-p 0 00:00 0 \n";
        assert!(maps_name(maps, "libjvm.so"));
        assert!(maps_name(
            "7f00 r-xp 0 0 1 /x/libjvm.so (deleted)",
            "libjvm.so"
        ));
        assert!(!maps_name(maps, "jvm.so"));
    }

    #[test]
    fn musl_is_recognised_by_its_loader() {
        assert!(maps_musl("7f00 r-xp 0 0 1 /lib/ld-musl-x86_64.so.1\n"));
        assert!(!maps_musl("7f00 r-xp 0 0 1 /lib64/ld-linux-x86-64.so.2\n"));
    }

    #[test]
    fn own_process_is_read() {
        let process = Process::read(std::process::id() as i32).expect("we exist");
        assert!(process.sees(&std::env::current_exe().expect("a program")));
        assert!(!process.sees(Path::new("/no/such/file")));
        assert!(!process.command_line().is_empty());
        assert!(process.check_answers().is_ok() && !process.has_thread("no such thread"));
        assert!(process.shares_mounts() && !process.hides_files() && !process.is_jvm());
        let (open, limit) = process.descriptors().expect("our own");
        assert!(3 <= open && open <= limit, "{open} of {limit}");
        assert!(process.check_descriptors(0).is_ok());
        assert!(process.check_descriptors_of_silent().is_ok());
        assert!(process.check_descriptors(u64::MAX).is_err());
        assert!(matches!(
            Process::read(i32::MAX),
            Err(AttachError::NoProcess(_))
        ));
    }
}
