//! The plugins that were added to the project in this folder, and the state of their components.

use std::path::{Path, PathBuf};
use std::{fs, io};

use errors::Error;
use host::config::lock::{Lock, LockedPlugin};
use host::plugin_file::PluginFile;

/// State of the component of a locked plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComponentState {
    /// The component that was added.
    AsLocked,
    /// No file.
    Missing,
    /// Another file: its digest, or the reason why it cannot be read.
    Other(String),
}

/// Returns the component of a plugin that was added to the project in this folder.
///
/// # Errors
/// If the project's lock cannot be read (`H0118`).
pub fn find(name: &str) -> Result<Option<PathBuf>, Error> {
    let here = Path::new("");
    let lock = Lock::load(here)?;
    Ok(lock.find(name).map(|plugin| plugin.file(here)))
}

/// Returns the state of a locked plugin's component.
#[must_use]
pub fn component_state(project: &Path, plugin: &LockedPlugin) -> ComponentState {
    let path = plugin.file(project);
    if fs::symlink_metadata(&path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return ComponentState::Missing;
    }
    match PluginFile::open(&plugin.name, &path) {
        Ok(file) if file.digest == plugin.digest => ComponentState::AsLocked,
        Ok(file) => ComponentState::Other(format!("sha256:{}", file.digest)),
        Err(error) => ComponentState::Other(error.summary()),
    }
}
