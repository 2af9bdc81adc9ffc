//! Options of the commands on tests.

use std::path::PathBuf;

use clap::Args;
use coverage_analysis::test_coverage::TestCoverage;
use coverage_inputs::runs::{self, RunSelection};
use errors::{Error, Warnings};
use standard_streams::show::say;

/// Snapshots and output format of the commands on tests.
#[derive(Debug, Clone, Args)]
pub struct Snapshots {
    /// Read these snapshots (.hook), or folders with them, recorded with the test listener (docs/how-to/tests.md)
    #[arg(required = true, value_name = "SNAPSHOT|DIR")]
    pub files: Vec<PathBuf>,
    /// Read all runs of a folder [default: the last run]
    #[arg(long)]
    pub all_runs: bool,
    /// Fail if an input file is damaged [default: leave it out, and exit with 3]
    #[arg(long)]
    pub strict_inputs: bool,
    /// Print the answer as JSON
    #[arg(long)]
    pub json: bool,
}

impl Snapshots {
    /// Reads the snapshots. Missing data becomes a warning.
    ///
    /// # Errors
    /// As [`runs::find`] and [`TestCoverage::read`].
    pub fn read(&self, warnings: &mut Warnings) -> Result<TestCoverage, Error> {
        let RunSelection { files, notes } = runs::find(&self.files, self.all_runs)?;
        notes.iter().for_each(say);
        TestCoverage::read(&files, self.strict_inputs, warnings)
    }
}
