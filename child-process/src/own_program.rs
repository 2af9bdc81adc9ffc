//! Child processes of this program: `classhook child-process TASK …`, which this program serves itself.

use std::path::PathBuf;
use std::process::Command;

use crate::ARGUMENT;

/// Reads class files with other readers.
pub const READERS: &str = "readers";
/// Computes the objects that retain a heap.
pub const RETAINERS: &str = "retainers";
/// Sends recordings.
pub const SEND: &str = "send";

/// Returns the command line of a child process for a task.
#[must_use]
pub fn command(task: &str) -> Command {
    let mut command = Command::new(program());
    command.args([ARGUMENT, task]);
    command
}

/// Returns the command line of a child process that runs other readers of class files.
#[must_use]
pub fn readers() -> Command {
    command(READERS)
}

/// The file of this program. The kernel's link to it serves if the file was replaced meanwhile.
#[must_use]
pub fn program() -> PathBuf {
    let file = std::env::current_exe().ok().filter(|file| file.is_file());
    file.unwrap_or_else(|| PathBuf::from("/proc/self/exe"))
}
