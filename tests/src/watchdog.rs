//! Ends a test's program that exceeds its time limit, so that no test waits for ever.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::path::Path;
use std::process::{Child, Command};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Time for a JVM to print its threads.
const DUMP: Duration = Duration::from_secs(2);

/// Watches a process from a thread of its own. After `limit` it prints the threads, if the process is a JVM, and kills
/// it.
///
/// The thread returns whether it killed the process. A reader of the process's output then sees its end.
///
/// # Panics
/// If the process does not exist, which cannot be as long as nobody waited for it.
pub fn watch(child: &Child, program: &Path, limit: Duration) -> JoinHandle<bool> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let process = pidfd_open(pid.expect("a pid"), PidfdFlags::empty()).expect("our own child");
    let jstack = program.with_file_name("jstack");
    let pid = child.id().to_string();
    thread::spawn(move || {
        let ended = |limit: Duration| {
            let limit = Timespec::try_from(limit).expect("a time");
            let mut wait = [PollFd::new(&process, PollFlags::IN)];
            poll(&mut wait, Some(&limit)).is_ok_and(|ready| ready > 0)
        };
        if ended(limit) {
            return false;
        }
        eprintln!("process {pid} did not end within {limit:?}");
        if jstack.is_file() {
            let threads = Command::new("timeout")
                .arg("10")
                .arg(jstack)
                .arg(&pid)
                .output();
            let threads = threads.map(|output| output.stdout).unwrap_or_default();
            eprintln!("{}", String::from_utf8_lossy(&threads));
        }
        let _ = pidfd_send_signal(&process, Signal::QUIT); // it may have ended
        if !ended(DUMP) {
            let _ = pidfd_send_signal(&process, Signal::KILL); // the same
        }
        true
    })
}
