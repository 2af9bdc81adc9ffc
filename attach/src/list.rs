//! The JVMs of this machine.

use crate::perfdata;
use crate::process::{Process, pids};
use std::fs;

/// A JVM of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jvm {
    /// The process id in our namespace.
    pub pid: i32,
    /// The effective user id.
    pub uid: u32,
    /// `java.version`, for example `25.0.3`; empty if the JVM keeps no performance data.
    pub version: String,
    /// Main class or jar with its arguments; the command line if the JVM keeps no performance data.
    pub main: String,
    /// True if a library of the requested name is mapped in the JVM; `None` if `/proc` hides its maps.
    pub has_library: Option<bool>,
}

/// Lists every JVM of this machine that this user may inspect, ordered by pid. `library` is the name of the file
/// (`libclasshook.so`) for [`Jvm::has_library`].
#[must_use]
pub fn jvms(library: &str) -> Vec<Jvm> {
    pids()
        .into_iter()
        .filter_map(|pid| Process::read(pid).ok())
        .filter(|process| process.is_jvm())
        .map(|process| describe(&process, library))
        .collect()
}

fn describe(process: &Process, library: &str) -> Jvm {
    let entries = performance_strings(process);
    let entry = |name: &str| {
        entries
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.clone())
    };
    Jvm {
        pid: process.pid(),
        uid: process.effective_uid(),
        version: entry("java.property.java.version").unwrap_or_default(),
        main: entry("sun.rt.javaCommand")
            .filter(|command| !command.is_empty())
            .unwrap_or_else(|| process.command_line().join(" ")),
        has_library: process.maps(library),
    }
}

fn performance_strings(process: &Process) -> Vec<(String, String)> {
    let Ok(folders) = fs::read_dir(process.path_in_root("/tmp")) else {
        return Vec::new();
    };
    folders
        .flatten()
        .filter(|folder| {
            folder
                .file_name()
                .to_string_lossy()
                .starts_with("hsperfdata_")
        })
        .find_map(|folder| fs::read(folder.path().join(process.namespace_pid().to_string())).ok())
        .and_then(|bytes| perfdata::strings(&bytes))
        .unwrap_or_default()
}
