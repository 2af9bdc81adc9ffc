//! The folder for what a build records when nobody names one: a part of what the build tool's `clean` removes.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::args::Settings;
use crate::build_tools::Build;
use crate::checked_options::absolute;
use crate::problem::Problem;

/// The folder, and one beside it in which JVMs record until the build has ended.
///
/// `mvn clean test` removes `target` while Maven's own JVM records, so nothing may lie there before the end.
#[derive(Debug)]
pub struct BuildOutput {
    folder: PathBuf,
    staging: PathBuf,
}

impl BuildOutput {
    /// Sets the folder for recordings of a build; none if an option or a configuration names one, or the tool has none.
    ///
    /// # Errors
    /// If this process has no folder any more (`H0612`).
    pub fn set(
        build: Option<&Build>,
        run: &str,
        settings: &mut Settings,
    ) -> Result<Option<Self>, Problem> {
        let is_named = settings.output.is_some() || settings.configuration().file.is_some();
        let Some(build) = build.filter(|_| !is_named) else {
            return Ok(None);
        };
        let Some(folder) = build.output_folder() else {
            return Ok(None);
        };
        let staging = absolute(&build.folder().join(format!(".classhook-{run}")))?;
        settings.output = Some(staging.clone());
        let folder = absolute(&folder)?;
        Ok(Some(Self { folder, staging }))
    }

    /// Moves the recordings to the folder, and returns it.
    ///
    /// # Errors
    /// If something cannot be moved (`H0620`); it stays where it is.
    pub fn settle(self) -> Result<PathBuf, Problem> {
        let unwritable = |error| Problem::unwritable(&self.folder, &error);
        move_content(&self.staging, &self.folder).map_err(unwritable)?;
        Ok(self.folder)
    }
}

/// Moves files one by one: a JVM that goes on writes to the file that it has open.
fn move_content(from: &Path, to: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(from) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    fs::create_dir_all(to)?;
    for entry in entries {
        let entry = entry?;
        fs::rename(entry.path(), to.join(entry.file_name()))?;
    }
    fs::remove_dir(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_recorded_joins_what_is_there() {
        let root = tempfile::tempdir().unwrap();
        let output = BuildOutput {
            folder: root.path().join("target/classhook"),
            staging: root.path().join(".classhook-1"),
        };
        fs::create_dir_all(&output.folder).unwrap();
        fs::create_dir_all(&output.staging).unwrap();
        fs::write(output.folder.join("old.hook"), "old").unwrap();
        fs::write(output.staging.join("new.hook"), "new").unwrap();
        let staging = output.staging.clone();
        let folder = output.settle().unwrap();
        assert!(folder.join("old.hook").exists() && folder.join("new.hook").exists());
        assert!(!staging.exists());
    }
}
