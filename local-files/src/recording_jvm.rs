//! The JVM that wrote a run file: its process, and whether it still runs.

use std::path::Path;

use probes::Meta;

use crate::open_files;

/// A JVM that wrote run files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Jvm {
    /// Process id in the JVM's own namespace.
    pub pid: u32,
    /// Start of its recording: milliseconds since 1970.
    pub start_ms: u64,
}

impl Jvm {
    /// Returns the JVM of a snapshot or an event file.
    #[must_use]
    pub fn of(meta: &Meta) -> Self {
        Self {
            pid: meta.pid,
            start_ms: meta.start_ms,
        }
    }
}

/// Returns the JVM that wrote a snapshot or an event file, from the name `classhook-PID-START-…`,
/// or else from the content.
#[must_use]
pub fn jvm_of(path: &Path) -> Option<Jvm> {
    jvm_by_name(path).or_else(|| {
        let meta = Meta::of_file(path).ok()?;
        Some(Jvm::of(&meta))
    })
}

fn jvm_by_name(path: &Path) -> Option<Jvm> {
    let name = path.file_stem()?.to_str()?.strip_prefix("classhook-")?;
    let mut numbers = name.splitn(3, '-');
    Some(Jvm {
        pid: numbers.next()?.parse().ok()?,
        start_ms: numbers.next()?.parse().ok()?,
    })
}

/// Checks whether the JVM that wrote the file runs and has it open.
#[must_use]
pub fn is_written(path: &Path) -> bool {
    let pid = jvm_of(path).and_then(|jvm| i32::try_from(jvm.pid).ok());
    pid.is_some_and(|pid| open_files::has_open(pid, path))
}
