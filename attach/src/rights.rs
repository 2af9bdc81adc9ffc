//! The user and group ids of another user, for one task.

use rustix::fs::{Gid, Uid};
use rustix::io::Errno;
use std::io;

/// Runs `work` with the ids of a user, on a separate thread, so the other threads of this process keep their ids.
///
/// The calling thread does the work if this process is not root, or has the same ids.
///
/// # Errors
///
/// Those of `work` and of `setresuid`.
pub(crate) fn with<T: Send>(
    uid: u32,
    gid: u32,
    groups: &[u32],
    work: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    let (ours, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let is_same = ours.as_raw() == uid && group.as_raw() == gid;
    if is_same || !ours.is_root() {
        return work();
    }
    std::thread::scope(|scope| {
        let done = scope.spawn(|| {
            take(uid, gid, groups)?;
            work()
        });
        done.join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Sets the ids of the calling thread alone.
fn take(uid: u32, gid: u32, groups: &[u32]) -> io::Result<()> {
    let groups: Vec<Gid> = groups.iter().copied().map(Gid::from_raw).collect();
    match rustix::thread::set_thread_groups(&groups) {
        // A user namespace may forbid it; then the thread keeps its groups.
        Ok(()) | Err(Errno::PERM | Errno::INVAL) => {}
        Err(error) => return Err(error.into()),
    }
    let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
    rustix::thread::set_thread_res_gid(gid, gid, gid)?;
    rustix::thread::set_thread_res_uid(uid, uid, uid)?;
    Ok(())
}
