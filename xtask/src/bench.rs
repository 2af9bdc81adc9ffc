//! `cargo xtask bench <what>`: measurements, one file each.

pub mod attach;
pub mod change;
pub mod coverage;
mod folder;
mod quantile;
pub mod rewriter;
pub mod startup;
pub mod trace;

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
    /// The rewriter against ASM, JaCoCo's instrumenter and the JDK's class-file API, warm and cold
    Rewriter(rewriter::Options),
    /// Looking into a running JVM: attach, instrument, leave, and the pauses meanwhile; beside Arthas
    Attach(attach::Options),
    /// What a program pays while 1, 100 or 1,000 of its classes are changed: pauses, and until its code is compiled anew
    Change(change::Options),
    /// Programs that have been running for a while: no agent, JaCoCo, Classhook with its probes and without those of hot code
    Coverage(coverage::Options),
    /// A recorded call: Classhook's counts, sums and events against a ByteBuddy advice and the JVM's own recorder
    Trace(trace::Options),
}

/// Runs one measurement.
pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    match &options.what {
        What::Startup(options) => startup::run(workspace, options),
        What::Rewriter(options) => rewriter::run(workspace, options),
        What::Attach(options) => attach::run(workspace, options),
        What::Change(options) => change::run(workspace, options),
        What::Coverage(options) => coverage::run(workspace, options),
        What::Trace(options) => trace::run(workspace, options),
    }
}
