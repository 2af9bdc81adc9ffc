//! `classhook check`: whether enough is covered.

use std::path::PathBuf;

use clap::Args;

use super::report::{self, Job};
use crate::args::{Material, Outputs};
use crate::inputs::damaged_files::DamagedFiles;
use crate::inputs::run_files;
use crate::minimums::FailUnder;
use crate::problem::Problem;
use crate::select::Filter;
use crate::warnings::Warnings;

const AFTER_HELP: &str = "\
A rule is a counter (instruction, branch, line, complexity, method or class) and the least percentage of it that is
covered: of everything, or of each package or class whose name matches. Without a counter, lines are meant.
What has nothing to cover is covered.

Exits with 4, and prints a table of what falls short, if a rule does not hold.

Examples:
  classhook check classhook --fail-under line=80,branch=70
  classhook check out jacoco.exec --classes target/classes --fail-under 'class:com.acme.core.**=95'
  classhook check out --fail-under 'package:com.acme.**:branch=60,line=75.5'";

/// Checks whether enough of what was recorded is covered.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Check {
    /// Snapshots (.hook) and JaCoCo's files (.exec), or folders that hold them
    #[arg(required = true, value_name = "SNAPSHOT|DIR")]
    pub files: Vec<PathBuf>,
    /// Only these classes: com.acme.**, @annotation, <:supertype; `!` in front excludes; may be repeated
    #[arg(long, value_name = "SELECTOR")]
    pub select: Vec<String>,
    /// Where classes are.
    #[command(flatten)]
    pub material: Material,
    /// The rules.
    #[command(flatten)]
    pub rules: FailUnder,
}

impl Check {
    /// Reads, checks and prints.
    ///
    /// # Errors
    /// If something cannot be read, there is no rule, or a rule does not hold.
    pub fn run(&self) -> Result<u8, Problem> {
        if self.rules.fail_under.is_empty() {
            return Err(Problem::user("H0673", "there is no rule to check").with(
                "expected",
                "--fail-under and rules, such as line=80,branch=70",
            ));
        }
        let files = run_files::find(&self.files)?;
        let job = Job {
            files: &files,
            filter: &Filter::of_report(&self.select, !self.material.classes.is_empty())?,
            material: &self.material,
            outputs: &Outputs::default(),
            fail_under: &self.rules.fail_under,
            summary: false,
        };
        let mut damaged = DamagedFiles::new(self.material.strict_inputs);
        let made = report::make(&job, &mut damaged, &mut Warnings::default())?;
        made.end(false)
    }
}
