//! Options of commands that check coverage rules.

use std::path::PathBuf;

use clap::Args;
use coverage_rules::minimums::Minimum;
use coverage_rules::requirements::Requirements;
use errors::Error;

use crate::heading;

/// The rules of a command, as given.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::RULES)]
pub struct RuleOptions {
    /// Require this coverage in percent, else exit with 4: line=80,branch=70,package:com.acme.**=75,class:com.acme.core.**:branch=95; repeatable
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    pub fail_under: Vec<Minimum>,
    /// Require the rules of this file, else exit with 4: TOML (docs/how-to/thresholds.md), JaCoCo's rules in XML, or a pom.xml with them; repeatable
    #[arg(long, value_name = "FILE")]
    pub rules: Vec<PathBuf>,
}

impl RuleOptions {
    /// Reads the files.
    ///
    /// # Errors
    /// As [`Requirements::read`].
    pub fn read(&self) -> Result<Requirements, Error> {
        Requirements::read(&self.fail_under, &self.rules)
    }
}
