//! Child processes that handle untrusted input: readers of class files, and the compiler of plugins.
//!
//! The child sets its limits itself, before it reads a byte.
//! Its parent learns from its exit status which limit ended it.

mod limits;
pub mod own_program;

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

pub use limits::limit;
pub use rustix::process::Resource;

/// The first argument of a `classhook` that runs one task for its parent process; the next is the task.
pub const ARGUMENT: &str = "child-process";

/// The limit that ended a child process which set limits for itself, if one did.
#[must_use]
pub fn cause_of_end(status: &io::Result<ExitStatus>) -> Option<&'static str> {
    match status.as_ref().map(ExitStatus::signal) {
        Ok(Some(6)) => Some("it ran out of memory or aborted"),
        Ok(Some(11 | 7)) => Some("it overflowed its stack or crashed"),
        Ok(Some(9 | 24)) => Some("it exceeded the limit of CPU time"),
        _ => None,
    }
}
