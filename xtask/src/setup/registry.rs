//! `docker-registry`, from which the tests fetch plugins: Debian's package, unpacked without being installed.

use super::apt::Apt;
use crate::workspace::{Workspace, say};
use anyhow::{Context, Result};

/// The suite of the release that the tests were written with, 2.8.2.
const SUITE: &str = "bookworm";
const PACKAGE: &str = "docker-registry";

/// Provides the program in `target/docker-registry`.
pub fn docker_registry(workspace: &Workspace) -> Result<()> {
    let home = workspace.target(PACKAGE);
    if home.join("usr/bin/docker-registry").is_file() {
        return Ok(());
    }
    say("fetching docker-registry from Debian's packages");
    let scratch = tempfile::tempdir()?;
    let apt = Apt::of(&[SUITE], scratch.path())?;
    let trouble = apt.update();
    let unpacked = apt.unpack(PACKAGE, &home);
    unpacked.with_context(|| format!("expected the package {PACKAGE}{trouble}"))
}
