//! Folders of measurements.

use crate::workspace::Workspace;
use anyhow::Result;
use e2e_tests::jdks::Jdk;
use std::path::{Path, PathBuf};

/// Returns the folder of a measurement on a JDK, emptied of earlier files.
pub fn emptied(workspace: &Workspace, name: &str, jdk: &Jdk) -> Result<PathBuf> {
    let name = format!("{name}-{}", jdk.feature);
    let folder = workspace.target("bench").join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(folder)
}

/// Creates a new folder within that of a measurement, for the output of one run. None is removed before the measurement
/// ends: creating files is slower after many were removed (ext4 looks for inodes that were not in use a moment ago).
pub fn another(folder: &Path) -> Result<PathBuf> {
    let mut number = 0;
    while folder.join(format!("run-{number}")).exists() {
        number += 1;
    }
    let another = folder.join(format!("run-{number}"));
    std::fs::create_dir_all(&another)?;
    Ok(another)
}
