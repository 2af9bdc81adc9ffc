//! `classhook check`: checks coverage against rules.

use clap::Args;
use class_selection::filter::Filter;
use coverage_inputs::damaged_files::DamagedFiles;
use coverage_inputs::runs::{self, RunSelection};
use errors::{Error, Warnings, codes};

use super::report::{self, ReportJob};
use crate::args::{Outputs, Recorded};
use crate::project_classes;
use crate::rule_options::RuleOptions;

const AFTER_HELP: &str = "\
A rule is a counter (instruction, branch, line, complexity, method or class) and its least covered percentage.
It holds for the whole report, or for each matching package or class. The default counter is line.
An element without code counts as covered.
Rules in a file limit any counter of the report, of packages, classes, source files or methods (docs/how-to/thresholds.md).
JaCoCo's <rules> may be a file of their own, or the configuration of JaCoCo's plugin in a pom.xml.

In a folder with several runs, the last run is checked; --all-runs selects all.

With --diff, rules apply to changed lines only, and complexity is not available.

If a rule is violated, its shortfall is printed and the exit code is 4.

Examples:
  classhook check classhook --fail-under line=80,branch=70
  classhook check out jacoco.exec --classes target/classes --fail-under 'class:com.acme.core.**=95'
  classhook check out --fail-under 'package:com.acme.**:branch=60,line=75.5'
  classhook check out --classes target/classes --rules pom.xml
  classhook check out --classes target/classes --diff origin/main --fail-under line=80";

/// Checks recorded coverage against rules.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Check {
    /// Name the report [default: Code coverage]
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// The recorded coverage.
    #[command(flatten)]
    pub recorded: Recorded,
    /// The rules.
    #[command(flatten)]
    pub rules: RuleOptions,
}

impl Check {
    /// Checks the rules and prints the violations.
    ///
    /// # Errors
    /// If a file cannot be read, no rule is given, or a rule is violated.
    pub fn run(&self) -> Result<u8, Error> {
        let requirements = self.rules.read()?;
        if requirements.count() == 0 {
            return Err(Error::mistake(codes::H0673, "no rule to check").with(
                "expected",
                "--fail-under and rules, such as line=80,branch=70, or --rules and a file",
            ));
        }
        let Recorded {
            files,
            select,
            inputs,
            carry_over,
            per_loader,
            all_runs,
        } = &project_classes::recorded(&self.recorded)?;
        let outputs = Outputs {
            name: self.name.clone(),
            ..Outputs::default()
        };
        let RunSelection { files, notes } = &runs::find(files, *all_runs)?;
        let job = ReportJob {
            files,
            filter: &Filter::of_report(select, inputs.has_classes())?
                .excluding(&inputs.exclude_annotation)?,
            carry_over: *carry_over,
            per_loader: *per_loader,
            inputs,
            unloaded: None,
            runs: notes,
            outputs: &outputs,
            requirements: &requirements,
            summary: inputs.diff.is_some(),
            beside: false,
        };
        let mut damaged = DamagedFiles::new(inputs.strict_inputs);
        let outcome = report::make(&job, &mut damaged, &mut Warnings::default())?;
        outcome.end(false)
    }
}
