//! The default folder for recordings of a build. The build tool's `clean` removes it.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use agent_launch::settings::Settings;
use errors::Error;
use java_builds::Build;
use local_files::absolute_path::absolute;

/// Returns the agent's settings with selectors that exclude the tool's own classes. Those of a
/// configuration file stay.
#[must_use]
pub fn without_tool_classes(build: &Build, settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    let configuration = &mut settings.change.configuration;
    if configuration.file.is_none() {
        configuration.plugins.select.extend(build.exclusions());
    }
    settings
}

/// The folder for recordings, and a folder beside it in which JVMs record until the build has
/// ended.
///
/// `mvn clean test` removes `target` while Maven's own JVM records, so `target` must hold no
/// recording before the end.
#[derive(Debug)]
pub struct BuildOutput {
    folder: PathBuf,
    staging: PathBuf,
}

impl BuildOutput {
    /// Sets the folder for recordings of a build. Returns nothing if an option or a configuration names a
    /// folder, or the tool has no default.
    ///
    /// # Errors
    /// If this process's working folder was removed (`H0612`).
    pub fn set(
        build: Option<&Build>,
        run: &str,
        settings: &mut Settings,
    ) -> Result<Option<Self>, Error> {
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
    /// If a file cannot be moved (`H0620`); it remains in its old folder.
    pub fn settle(self) -> Result<PathBuf, Error> {
        let unwritable = |error| Error::unwritable(&self.folder, &error);
        move_content(&self.staging, &self.folder).map_err(unwritable)?;
        Ok(self.folder)
    }
}

/// Moves files one by one: a JVM that is still running writes to the file that it has open.
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
    fn recordings_are_added_to_an_existing_folder() {
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
