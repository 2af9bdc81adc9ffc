//! `classhook check`: whether enough is covered.

use clap::Args;

use super::report::{self, Job};
use crate::args::{Outputs, Recorded};
use crate::inputs::damaged_files::DamagedFiles;
use crate::inputs::runs::{self, Found};
use crate::problem::Problem;
use crate::project_classes;
use crate::requirements::Rules;
use crate::select::Filter;
use crate::warnings::Warnings;

const AFTER_HELP: &str = "\
A rule is a counter (instruction, branch, line, complexity, method or class) and the least percentage of it that is
covered: of everything, or of each package or class whose name matches. Without a counter, lines are meant.
What has nothing to cover is covered.
Rules in a file limit any counter of everything, of packages, classes, source files or methods (docs/coverage.md).
JaCoCo's <rules> may be in a file of their own, or in the configuration of its plugin in a pom.xml.

Of a folder with several runs the last is checked; --all-runs takes all.

With --diff, rules are about the changed lines alone; complexity cannot be asked for then.

Exits with 4, and prints what falls short, if a rule does not hold.

Examples:
  classhook check classhook --fail-under line=80,branch=70
  classhook check out jacoco.exec --classes target/classes --fail-under 'class:com.acme.core.**=95'
  classhook check out --fail-under 'package:com.acme.**:branch=60,line=75.5'
  classhook check out --classes target/classes --rules pom.xml
  classhook check out --classes target/classes --diff origin/main --fail-under line=80";

/// Checks whether enough of what was recorded is covered.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Check {
    /// What is checked.
    #[command(flatten)]
    pub recorded: Recorded,
    /// The rules.
    #[command(flatten)]
    pub rules: Rules,
    /// Name of everything together, which rules over a bundle may name [default: Code coverage]
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
}

impl Check {
    /// Reads, checks and prints.
    ///
    /// # Errors
    /// If something cannot be read, there is no rule, or a rule does not hold.
    pub fn run(&self) -> Result<u8, Problem> {
        let requirements = self.rules.read()?;
        if requirements.count() == 0 {
            return Err(Problem::user("H0673", "there is no rule to check").with(
                "expected",
                "--fail-under and rules, such as line=80,branch=70, or --rules and a file",
            ));
        }
        let Recorded {
            files,
            select,
            material,
            carry_over,
            per_loader,
            all_runs,
        } = &project_classes::recorded(&self.recorded)?;
        let outputs = Outputs {
            name: self.name.clone(),
            ..Outputs::default()
        };
        let Found { files, notes } = &runs::find(files, *all_runs)?;
        let job = Job {
            files,
            filter: &Filter::of_report(select, material.has_classes())?
                .excluding(&material.exclude_annotation)?,
            carry_over: *carry_over,
            per_loader: *per_loader,
            material,
            unloaded: None,
            runs: notes,
            outputs: &outputs,
            requirements: &requirements,
            summary: material.diff.is_some(),
            beside: false,
        };
        let mut damaged = DamagedFiles::new(material.strict_inputs);
        let made = report::make(&job, &mut damaged, &mut Warnings::default())?;
        made.end(false)
    }
}
