//! `cargo xtask nightly`: every test, with another part of the programs and corpora each day.
//!
//! A push runs a fixed part, so that a failure is the fault of the change. This task finds faults in the other parts. It
//! also builds the packages for crates.io as a stranger would, each from its own files.

use crate::workspace::{Workspace, say, step};
use crate::{ci, metadata, test};
use anyhow::{Context, Result};
use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS_OF_A_DAY: u64 = 86_400;

/// Options of the nightly run.
#[derive(clap::Args)]
pub struct Options {
    /// Take the part with this number, such as that of an earlier run, instead of the part of today
    #[arg(long, value_name = "NUMBER")]
    part: Option<u64>,
}

/// Sets up and runs every test.
pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let part = match options.part {
        Some(part) => part,
        None => today()?,
    };
    say(format!(
        "nightly: part {part}; repeat it with `cargo xtask nightly --part {part}`"
    ));
    ci::set_up(workspace)?;
    build_packages(workspace)?;
    let tests = test::Options {
        offline: true,
        part: Some(part),
        ..test::Options::default()
    };
    test::run(workspace, &tests)
}

/// Packs the crates for crates.io, and builds each package.
fn build_packages(workspace: &Workspace) -> Result<()> {
    let packages = metadata::packages(workspace)?;
    let mut command = workspace.cargo(["package", "--quiet", "--locked", "--allow-dirty"]);
    for package in packages.iter().filter(|package| package.is_published()) {
        command.args(["-p", &package.name]);
    }
    step("building the packages for crates.io", &mut command)
}

/// Days since 1970, by the clock of this machine in UTC.
fn today() -> Result<u64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    Ok(now.context("expected a clock after 1970")?.as_secs() / SECONDS_OF_A_DAY)
}
