//! Tools that read our reports: genhtml of Debian's `lcov`, unpacked without being installed, and pycobertura from
//! PyPI.

use super::apt::Apt;
use crate::workspace::{Workspace, output_of, say};
use anyhow::{Context, Result};
use std::process::Command;

/// The suite of the release that the tests were written with, 1.16. It needs only Perl.
const SUITE: &str = "bookworm";
const LCOV: &str = "lcov";
const PYCOBERTURA: &str = "pycobertura==4.1.0";

/// Provides the programs in `target/lcov` and `target/pycobertura`.
pub fn report_readers(workspace: &Workspace) -> Result<()> {
    let lcov = workspace.target(LCOV);
    if !lcov.join("usr/bin/genhtml").is_file() {
        say("fetching genhtml from Debian's packages");
        let scratch = tempfile::tempdir()?;
        let apt = Apt::of(&[SUITE], scratch.path())?;
        let trouble = apt.update();
        let unpacked = apt.unpack(LCOV, &lcov);
        unpacked.with_context(|| format!("expected the package {LCOV}{trouble}"))?;
    }
    let home = workspace.target("pycobertura");
    if !home.join("bin/pycobertura").is_file() {
        say(format!("fetching {PYCOBERTURA}"));
        output_of(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
        let mut pip = Command::new(home.join("bin/pip"));
        output_of(pip.args(["install", "--quiet", PYCOBERTURA]))
            .with_context(|| format!("could not fetch it: pip install {PYCOBERTURA}"))?;
    }
    Ok(())
}
