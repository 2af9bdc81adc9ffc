//! The log of who changed what: one JSON object per line, `patches.jsonl` in a folder that lasts. It has one place in a
//! JVM: the agent's output folder, or if that goes with a command that the agent came for, the one that the first
//! request names.
//!
//! A change has two lines with the same number: `asked`, on disk before the JVM is asked, and `done`, with
//! what came of it. A line `asked` without its `done` means that the JVM ended in between.

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
pub(crate) struct Entry<'a> {
    /// Milliseconds since 1970.
    pub time_ms: u64,
    /// The process that was changed.
    pub pid: u32,
    /// `patch` or `rollback`.
    pub action: &'static str,
    /// `asked` or `done`.
    pub stage: &'static str,
    /// The patches that come or go.
    pub ids: &'a [u32],
    /// The user that asked, as the operating system names it.
    pub uid: u32,
    /// The user's note.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub note: &'a str,
    /// `applied`, `partly applied`, `refused`; only when done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<&'static str>,
    /// Each class with its digests, and what came of it.
    pub classes: &'a [ClassOutcome],
}

/// Appends a line and waits until it is on disk.
///
/// # Errors
///
/// Of the file system.
pub(crate) fn append(folder: &Path, entry: &Entry<'_>) -> io::Result<()> {
    let mut line = serde_json::to_vec(entry)?;
    line.push(b'\n');
    let mut file = open(folder)?;
    // One write, so that lines of several JVMs with one output folder do not mix.
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

/// The place of the log before the first change; none if a request decides.
pub(crate) fn own_folder(agent: &Agent) -> Option<&Path> {
    let settings = &agent.settings;
    settings
        .visit
        .is_none()
        .then_some(settings.output.as_path())
}

/// The file in a folder.
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
