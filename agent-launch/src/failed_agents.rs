//! JVMs of a run in which the agent could not start, so that they recorded nothing.
//!
//! A JVM of another user may lack write access to the folder for recordings, and a full disk
//! refuses every write. Such an agent leaves a file in a folder that every user may write to.
//! Without it, a report would be silently incomplete.

use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use coverage_inputs::command_line::program_of;
use errors::{Warning, Warnings, codes};
use local_files::temporary;
use tempfile::TempDir;

/// Maximum number of bytes read per file; a command line may be long.
const LONGEST: u64 = 1 << 16;

/// The folder in which agents that cannot start leave files. Dropping the value removes it.
#[derive(Debug)]
pub struct FailedAgents {
    folder: TempDir,
}

impl FailedAgents {
    /// Creates the folder with write access for every user.
    ///
    /// # Errors
    /// Those of the system.
    pub fn expect() -> io::Result<Self> {
        let folder = temporary::folder(&std::env::temp_dir())?;
        fs::set_permissions(folder.path(), Permissions::from_mode(0o1733))?;
        Ok(Self { folder })
    }

    /// Returns the folder's path.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns one warning for each JVM whose agent could not start.
    #[must_use]
    pub fn warnings(&self) -> Warnings {
        let mut warnings = Warnings::default();
        let entries = fs::read_dir(self.folder()).into_iter().flatten().flatten();
        let mut files: Vec<_> = entries
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
            .map(|entry| entry.path())
            .collect();
        files.sort();
        warnings.extend(files.iter().map(|file| warning(file)));
        warnings
    }
}

/// Formats the warning about a JVM from the file that its agent left.
fn warning(file: &Path) -> Warning {
    let pid = file.file_name().unwrap_or_default().to_string_lossy();
    let mut text = String::new();
    let read = File::open(file).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
    let mut lines = text.lines();
    let command = read.ok().and(lines.next()).unwrap_or_default();
    let program = program_of(command).unwrap_or_else(|| "a program".to_owned());
    let message = format!("the JVM {pid} ({program}) recorded nothing: its agent could not start");
    let warning = Warning::new(codes::H0629, message).of_missing();
    match lines.next() {
        Some(cause) => warning.with("cause", cause.to_owned()),
        None => warning.with(
            "cause",
            "not even the cause could be written: the disk is full",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_that_failed_to_start_is_reported() {
        let agents = FailedAgents::expect().unwrap();
        assert!(agents.warnings().is_empty());
        let text =
            "/jdk/bin/java -cp a com.acme.Main x\nno snapshot can be written to /o: denied\n";
        fs::write(agents.folder().join("4711"), text).unwrap();
        fs::write(agents.folder().join("4712"), "").unwrap();
        let told = agents.warnings().to_string();
        for part in ["4711 (com.acme.Main)", "/o: denied", "4712", "disk is full"] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
}
