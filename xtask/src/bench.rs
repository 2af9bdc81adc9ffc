//! `cargo xtask bench <what>`: measurements, one file each.

pub mod startup;

use crate::workspace::Workspace;
use anyhow::Result;

/// What to measure.
#[derive(clap::Args)]
pub struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// CPU time of a whole run: no agent, Classhook with and without its cache, JaCoCo
    Startup(startup::Options),
}

/// Runs one measurement.
pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    match &options.what {
        What::Startup(options) => startup::run(workspace, options),
    }
}
