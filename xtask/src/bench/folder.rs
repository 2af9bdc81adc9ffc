//! Where a measurement has its files.

use crate::workspace::Workspace;
use anyhow::Result;
use e2e_tests::jdks::Jdk;
use std::path::PathBuf;

/// The folder of a measurement on a JDK, without what an earlier one has left.
pub fn emptied(workspace: &Workspace, name: &str, jdk: &Jdk) -> Result<PathBuf> {
    let name = format!("{name}-{}", jdk.feature);
    let folder = workspace.target("bench").join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(folder)
}
