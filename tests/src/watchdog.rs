//! Ends a program that a test started and that outlives its time, so that no test waits for ever.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::path::Path;
use std::process::{Child, Command};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What a JVM needs to print its threads.
const DUMP: Duration = Duration::from_secs(2);

/// Watches a process from a thread of its own: after `limit`, prints its threads if it is a JVM, and kills it.
///
/// The thread's value tells whether it killed the process; whoever reads the process's output finds its end.
///
/// # Panics
/// If the process is not there, which cannot be as long as nobody waited for it.
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
