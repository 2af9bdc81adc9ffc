//! Where a measurement has its files.

use crate::workspace::Workspace;
use anyhow::Result;
use e2e_tests::jdks::Jdk;
use std::path::{Path, PathBuf};

/// The folder of a measurement on a JDK, without what an earlier one has left.
pub fn emptied(workspace: &Workspace, name: &str, jdk: &Jdk) -> Result<PathBuf> {
    let name = format!("{name}-{}", jdk.feature);
    let folder = workspace.target("bench").join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(folder)
}

/// A new folder within that of a measurement, for what a run writes. None is removed before the measurement ends: a file
/// system has more to do for new files after many were removed (ext4 looks for inodes that were not in use a moment ago).
pub fn another(folder: &Path) -> Result<PathBuf> {
    let mut number = 0;
    while folder.join(format!("run-{number}")).exists() {
        number += 1;
    }
    let another = folder.join(format!("run-{number}"));
    std::fs::create_dir_all(&another)?;
    Ok(another)
}
