//! The log of changes: one JSON object per line, in `patches.jsonl`.
//!
//! Its folder is fixed for a JVM and lasts. It is the agent's output folder. If that folder goes with the command for
//! which the agent was loaded, it is the folder that the first request names.
//!
//! A change has two lines with the same number: `asked`, on disk before the JVM is called, and `done`, with the
//! outcome. A line `asked` without a line `done` means that the JVM ended in between.

use crate::agent::Agent;
use control::patch::ClassOutcome;
use serde::Serialize;
use std::fs::{File, OpenOptions, create_dir_all};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The name of the file.
const FILE: &str = "patches.jsonl";

/// One line.
#[derive(Debug, Serialize)]
pub(crate) struct LogEntry<'a> {
    /// Milliseconds since 1970.
    pub time_ms: u64,
    /// The process id of the JVM.
    pub pid: u32,
    /// `patch` or `rollback`.
    pub action: &'static str,
    /// `asked` or `done`.
    pub stage: &'static str,
    /// The ids of the patches that are applied or rolled back.
    pub ids: &'a [u32],
    /// The user id of the requester, from the operating system.
    pub uid: u32,
    /// The user's note.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub note: &'a str,
    /// `applied`, `partly applied`, `refused`; only when done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<&'static str>,
    /// Each class with its digests and outcome.
    pub classes: &'a [ClassOutcome],
}

/// Appends a line and waits until it is on disk.
///
/// # Errors
///
/// Those of the file system.
pub(crate) fn append(folder: &Path, entry: &LogEntry<'_>) -> io::Result<()> {
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    let mut file = open(folder)?;
    // One write, so that lines of several JVMs with the same output folder do not mix.
    file.write_all(&line)?;
    file.sync_data()
}

fn open(folder: &Path) -> io::Result<File> {
    create_dir_all(folder)?;
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(file(folder))
}

/// The folder of the log before the first change; `None` if a request names it.
pub(crate) fn own_folder(agent: &Agent) -> Option<&Path> {
    let settings = &agent.settings;
    settings
        .visit
        .is_none()
        .then_some(settings.output.as_path())
}

/// The path of the log in a folder.
pub(crate) fn file(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let elapsed = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}
