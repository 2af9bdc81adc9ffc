//! `cargo xtask bench <what>`: measurements, one file each.

pub mod attach;
pub mod change;
pub mod coverage;
pub mod figures;
mod folder;
pub mod instrument;
pub mod maven;
pub mod plugins;
pub mod profile;
pub mod report;
pub mod rewriter;
pub mod startup;
mod three_ways;
pub mod trace;
mod usage;

use crate::workspace::Workspace;
use anyhow::Result;
use clap::{Args, Parser};
use figures::Figure;

/// Options of a measurement.
#[derive(Args)]
pub struct Options {
    #[command(subcommand)]
    measurement: Measurement,
}

#[derive(clap::Subcommand)]
enum Measurement {
    /// Everything that a peer does as well, as one table of ratios
    All(All),
    /// The last figures of each measurement beside a peer, as one table
    Table(Table),
    /// CPU time of a whole run: no agent, Classhook with and without its cache, JaCoCo
    Startup(startup::Options),
    /// The rewriter against ASM, JaCoCo's instrumenter and the JDK's class-file API, warm and cold
    Rewriter(rewriter::Options),
    /// The cost of plugins for a class, asked or known from the plan cache, and of loading them
    Plugins(plugins::Options),
    /// Files instrumented before they run: all classes of a JDK and a large jar; beside JaCoCo
    Instrument(instrument::Options),
    /// The report of all classes of a JDK: CPU time, time and memory, beside JaCoCo
    Report(report::Options),
    /// A visit to a running JVM: attach, instrument, leave, and the pauses meanwhile; beside Arthas
    Attach(attach::Options),
    /// The cost for a program while 1, 100 or 1,000 of its classes are changed: pauses, and the time until its code is
    /// compiled anew
    Change(change::Options),
    /// Whole runs, and programs in their first seconds and later: no agent, JaCoCo, Classhook
    Coverage(coverage::Options),
    /// The tests of libraries under Maven and their reports: no agent, JaCoCo's plugin, Classhook's; every counter compared
    Maven(maven::Options),
    /// A server that is profiled: no agent, Classhook, the JVM's own recorder, async-profiler
    Profile(profile::Options),
    /// A recorded call: Classhook's counts, sums and events against a ByteBuddy advice and the JVM's own recorder
    Trace(trace::Options),
}

/// Every measurement beside a peer.
#[derive(Args)]
struct All {
    /// Fewer rounds: half an hour instead of three hours
    #[arg(long)]
    brief: bool,
}

/// The last figures.
#[derive(Args)]
struct Table {
    /// Write the figures to docs/performance.json and the table of docs/performance.md
    #[arg(long)]
    docs: bool,
}

/// Runs one measurement, or all, and keeps the figures.
pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let keep = |figures: Vec<Figure>| figures::keep(workspace, &figures);
    match &options.measurement {
        Measurement::All(options) => all(workspace, options.brief),
        Measurement::Table(options) => figures::show(workspace, options.docs),
        Measurement::Startup(options) => keep(startup::run(workspace, options)?),
        Measurement::Rewriter(options) => keep(rewriter::run(workspace, options)?),
        Measurement::Plugins(options) => plugins::run(workspace, options),
        Measurement::Instrument(options) => keep(instrument::run(workspace, options)?),
        Measurement::Report(options) => keep(report::run(workspace, options)?),
        Measurement::Attach(options) => keep(attach::run(workspace, options)?),
        Measurement::Change(options) => change::run(workspace, options),
        Measurement::Coverage(options) => keep(coverage::run(workspace, options)?),
        Measurement::Maven(options) => keep(maven::run(workspace, options)?),
        Measurement::Profile(options) => keep(profile::run(workspace, options)?),
        Measurement::Trace(options) => keep(trace::run(workspace, options)?),
    }
}

fn all(workspace: &Workspace, brief: bool) -> Result<()> {
    let keep = |figures: Vec<Figure>| figures::keep(workspace, &figures);
    let few = |words: &'static [&'static str]| if brief { words } else { &[] };
    let rewriter = few(&["--rounds=3", "--cold-rounds=3"]);
    let coverage = few(&["--processes=1", "--late=20", "--rounds=40"]);
    keep(startup::run(workspace, &parsed(few(&["--rounds=5"]))?)?)?;
    keep(rewriter::run(workspace, &parsed(rewriter)?)?)?;
    // Runs before the next one, which removes folders. For minutes after that, ext4 creates files several times more
    // slowly.
    keep(report::run(workspace, &parsed(few(&["--rounds=1"]))?)?)?;
    keep(instrument::run(workspace, &parsed(few(&["--rounds=3"]))?)?)?;
    keep(attach::run(workspace, &parsed(few(&["--rounds=3"]))?)?)?;
    keep(coverage::run(workspace, &parsed(coverage)?)?)?;
    keep(maven::run(
        workspace,
        &parsed(few(&["--rounds=1", "--library=commons-cli"]))?,
    )?)?;
    keep(trace::run(workspace, &parsed(few(&["--processes=1"]))?)?)?;
    let profile = few(&["--rounds=15", "--warm-up=10"]);
    keep(profile::run(workspace, &parsed(profile)?)?)?;
    figures::show(workspace, false)
}

/// Parses options from these words; missing ones have their defaults.
fn parsed<T: Args>(words: &[&str]) -> Result<T> {
    #[derive(Parser)]
    #[command(no_binary_name = true)]
    struct Alone<T: Args> {
        #[command(flatten)]
        options: T,
    }
    Ok(Alone::try_parse_from(words)?.options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Args)]
    struct Rounds {
        #[arg(long, default_value_t = 15)]
        rounds: u32,
    }

    #[test]
    fn measurement_has_its_default_rounds_without_options() {
        let rounds = |words: &[&str]| parsed::<Rounds>(words).map(|it| it.rounds);
        let found = [rounds(&["--rounds=5"]), rounds(&[])];
        assert!(matches!(found, [Ok(5), Ok(15)]));
        assert!(rounds(&["--no-such-option"]).is_err());
    }
}
