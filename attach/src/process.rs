//! What `/proc` says of a process: namespaces, owner, signals, mapped libraries.

use crate::error::AttachError;
use rustix::fs::{Gid, Mode, OFlags, ResolveFlags, Uid};
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// Bit of SIGQUIT (signal 3) in the masks of `/proc/PID/status`.
const SIGQUIT_BIT: u64 = 1 << 2;

/// A process as seen from our own pid namespace.
#[derive(Debug, Clone)]
pub struct Process {
    pid: i32,
    status: Status,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Status {
    effective_uid: u32,
    effective_gid: u32,
    namespace_pid: i32,
    caught_signals: u64,
    /// It has ended, and its parent has not waited for it.
    ended: bool,
    /// It was stopped by a signal or a debugger.
    stopped: bool,
}

impl Process {
    /// Reads `/proc/PID/status`.
    ///
    /// # Errors
    /// [`AttachError::NoProcess`] if there is no such process.
    pub fn read(pid: i32) -> Result<Process, AttachError> {
        let text = fs::read_to_string(format!("/proc/{pid}/status"))
            .map_err(|_| AttachError::NoProcess(pid))?;
        Ok(Process {
            pid,
            status: Status::parse(&text, pid),
        })
    }

    /// Whether it runs; false for one that has ended while its parent has not asked how.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        !self.status.ended
    }

    /// Whether it was stopped, by SIGSTOP, Ctrl-Z or a debugger, and so answers nothing.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.status.stopped
    }

    /// Fails if the process cannot answer now: it is gone, or stopped.
    ///
    /// # Errors
    /// [`AttachError::NoProcess`] or [`AttachError::Stopped`].
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

    /// The pid in the process's own, innermost namespace: what it calls itself.
    #[must_use]
    pub fn namespace_pid(&self) -> i32 {
        self.status.namespace_pid
    }

    /// The effective user id.
    #[must_use]
    pub fn effective_uid(&self) -> u32 {
        self.status.effective_uid
    }

    /// The effective user id in the process's own user namespace: what it calls its user.
    #[must_use]
    pub fn namespace_uid(&self) -> u32 {
        let map = fs::read_to_string(format!("/proc/{}/uid_map", self.pid)).unwrap_or_default();
        inner_uid(&map, self.status.effective_uid).unwrap_or(self.status.effective_uid)
    }

    /// Whether a handler for SIGQUIT is installed: without one, SIGQUIT would end the process.
    #[must_use]
    pub fn catches_sigquit(&self) -> bool {
        self.status.caught_signals & SIGQUIT_BIT != 0
    }

    /// A path of the process's own file system, seen from ours; a relative one is relative to its working directory.
    #[must_use]
    pub fn path_in_root(&self, path: &str) -> PathBuf {
        let place = if path.starts_with('/') {
            "root"
        } else {
            "cwd/"
        };
        PathBuf::from(format!("/proc/{}/{place}{path}", self.pid))
    }

    /// The process's working directory, seen from ours.
    #[must_use]
    pub fn working_directory(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/cwd", self.pid))
    }

    /// Makes sure that we may talk to the process: its user's, or root.
    ///
    /// # Errors
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

    /// Whether a file of ours is the same file at the same path for the process.
    #[must_use]
    pub fn sees(&self, path: &Path) -> bool {
        let identity = |path: &Path| fs::metadata(path).map(|m| (m.dev(), m.ino())).ok();
        let theirs = path.to_str().map(|path| self.path_in_root(path));
        let theirs = theirs.and_then(|path| identity(&path));
        theirs.is_some() && theirs == identity(path)
    }

    /// Whether a file of this name (the last part of its path) is mapped.
    #[must_use]
    pub fn maps(&self, library: &str) -> bool {
        fs::read_to_string(format!("/proc/{}/maps", self.pid))
            .is_ok_and(|maps| maps_name(&maps, library))
    }

    /// Makes sure that its C library is glibc, which a library of ours needs.
    ///
    /// # Errors
    /// [`AttachError::Musl`].
    pub fn check_libc(&self) -> Result<(), AttachError> {
        let maps = fs::read_to_string(format!("/proc/{}/maps", self.pid)).unwrap_or_default();
        if maps_musl(&maps) {
            return Err(AttachError::Musl(self.pid));
        }
        Ok(())
    }

    /// A folder of the process's file system, opened; links on the way are followed as the process would.
    ///
    /// # Errors
    /// Those of `openat2`.
    pub fn open_folder(&self, path: &str) -> std::io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = format!("/proc/{}/root", self.pid);
        let root = rustix::fs::open(root, flags, Mode::empty())?;
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        Ok(rustix::fs::openat2(
            &root,
            path,
            flags,
            Mode::empty(),
            resolve,
        )?)
    }

    /// Connects to a socket that the process listens at.
    ///
    /// It takes requests from its own user and from root, as its user namespace names them. Where that knows no root of
    /// ours, root connects as the user of the process.
    ///
    /// # Errors
    /// Those of `connect`.
    pub fn connect(&self, socket: &Path) -> std::io::Result<UnixStream> {
        let ours = rustix::process::geteuid();
        let map = fs::read_to_string(format!("/proc/{}/uid_map", self.pid)).unwrap_or_default();
        if !ours.is_root() || inner_uid(&map, 0).is_some() {
            return UnixStream::connect(socket);
        }
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(socket, flags, Mode::empty())?;
        let (uid, gid) = (self.status.effective_uid, self.status.effective_gid);
        std::thread::scope(|scope| {
            let connected = scope.spawn(|| {
                become_user(uid, gid)?;
                UnixStream::connect(format!("/proc/self/fd/{}", opened.as_raw_fd()))
            });
            connected
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Whether a thread of this name runs in it; the system keeps 15 bytes of a name.
    #[must_use]
    pub fn has_thread(&self, name: &str) -> bool {
        let threads = fs::read_dir(format!("/proc/{}/task", self.pid));
        let mut threads = threads.into_iter().flatten().flatten();
        threads.any(|thread| {
            let found = fs::read_to_string(thread.path().join("comm"));
            found.is_ok_and(|found| found.trim_end() == name)
        })
    }

    /// The command line, one string per argument.
    #[must_use]
    pub fn command_line(&self) -> Vec<String> {
        self.texts("cmdline")
    }

    /// The value that a variable had when the process began; none if it was not set, or its environment may not be read.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<String> {
        let mut variables = self.texts("environ").into_iter();
        variables.find_map(|variable| {
            let (found, value) = variable.split_once('=')?;
            (found == name).then(|| value.to_owned())
        })
    }

    /// The texts, each ended by a zero byte, of a file in `/proc/PID`.
    fn texts(&self, file: &str) -> Vec<String> {
        let bytes = fs::read(format!("/proc/{}/{file}", self.pid)).unwrap_or_default();
        bytes
            .split(|byte| *byte == 0)
            .filter(|text| !text.is_empty())
            .map(|text| String::from_utf8_lossy(text).into_owned())
            .collect()
    }
}

/// Whether a line of `/proc/PID/maps` ends in a path with this file name.
fn maps_name(maps: &str, library: &str) -> bool {
    maps.lines().any(|line| {
        let path = line.trim_end_matches(" (deleted)");
        path.rsplit_once('/')
            .is_some_and(|(_, name)| name == library)
    })
}

/// Gives this thread alone the rights of a user.
fn become_user(uid: u32, gid: u32) -> std::io::Result<()> {
    let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
    rustix::thread::set_thread_res_gid(gid, gid, gid)?;
    rustix::thread::set_thread_res_uid(uid, uid, uid)?;
    Ok(())
}

/// Whether the loader of musl is mapped: `/lib/ld-musl-x86_64.so.1`.
fn maps_musl(maps: &str) -> bool {
    maps.lines().any(|line| {
        let path = line.rsplit_once('/');
        path.is_some_and(|(_, name)| name.starts_with("ld-musl-"))
    })
}

/// `uid` as it is called within a user namespace, by the lines `inside outside length` of its
/// `uid_map`; none if no line has it.
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

/// The pids that `/proc` lists.
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

    const STATUS: &str = "Name:\tjava\nPid:\t4711\nUid:\t1000\t1001\t1000\t1000\n\
                          NSpid:\t4711\t17\nSigCgt:\t2000000181005ccf\n";

    #[test]
    fn paths_of_a_process_lead_to_its_files() {
        let own = Process::read(std::process::id().cast_signed()).unwrap();
        let here = std::env::current_dir().unwrap();
        let seen = |path: &str| own.path_in_root(path).canonicalize().unwrap();
        assert_eq!(seen("src"), here.join("src"));
        assert_eq!(seen(here.to_str().unwrap()), here);
    }

    #[test]
    fn innermost_namespace_pid_and_effective_user_are_read() {
        let status = Status::parse(STATUS, 4711);
        assert_eq!((status.namespace_pid, status.effective_uid), (17, 1001));
        assert_ne!(status.caught_signals & SIGQUIT_BIT, 0);
        assert!(!status.ended && Status::parse("State:\tZ (zombie)\n", 1).ended);
        assert!(!status.stopped && Status::parse("State:\tT (stopped)\n", 1).stopped);
        assert!(Status::parse("State:\tt (tracing stop)\n", 1).stopped);
    }

    #[test]
    fn user_is_called_as_its_own_namespace_does() {
        let all = "         0          0 4294967295\n";
        assert_eq!(inner_uid(all, 1000), Some(1000));
        assert_eq!(inner_uid("0 1000 1\n1 100000 65536\n", 1000), Some(0));
        assert_eq!(inner_uid("0 1000 1\n1 100000 65536\n", 100_041), Some(42));
        assert_eq!(inner_uid("0 1000 1\n", 7), None);
        assert_eq!(inner_uid("garbage", 7), None);
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
    fn our_own_process_is_read() {
        let process = Process::read(std::process::id() as i32).expect("we exist");
        assert!(process.sees(&std::env::current_exe().expect("a program")));
        assert!(!process.sees(Path::new("/no/such/file")));
        assert!(!process.command_line().is_empty());
        assert!(process.check_answers().is_ok() && !process.has_thread("no such thread"));
        assert!(matches!(
            Process::read(i32::MAX),
            Err(AttachError::NoProcess(_))
        ));
    }
}
