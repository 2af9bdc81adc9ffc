//! Finds files that running processes have open.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use attach::Process;
use attach::process::pids;

/// Checks whether a process with the id `own_pid` in its own pid namespace has this file open.
/// Returns false if this user may not see that.
#[must_use]
pub fn has_open(own_pid: i32, file: &Path) -> bool {
    let Ok(wanted) = fs::metadata(file) else {
        return false;
    };
    let wanted = (wanted.dev(), wanted.ino());
    let calls_itself_so =
        |pid: &i32| Process::read(*pid).is_ok_and(|process| process.namespace_pid() == own_pid);
    pids().into_iter().filter(calls_itself_so).any(|pid| {
        let files = fs::read_dir(format!("/proc/{pid}/fd"));
        let files = files.into_iter().flatten().flatten();
        files
            .filter_map(|file| fs::metadata(file.path()).ok())
            .any(|open| (open.dev(), open.ino()) == wanted)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::NamedTempFile;

    #[test]
    fn file_is_open_as_long_as_a_process_holds_it() {
        let own = Process::read(std::process::id().cast_signed()).unwrap();
        let file = NamedTempFile::new().unwrap();
        assert!(has_open(own.namespace_pid(), file.path()));
        assert!(!has_open(i32::MAX, file.path()));
        let path = file.into_temp_path();
        assert!(!has_open(own.namespace_pid(), &path));
    }
}
