//! `classhook coverage`: a run, then its reports.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use probes::Meta;

use super::report;
use super::run::Plan;
use crate::args::{Material, OnError, Outputs, Start};
use crate::inputs::recordings;
use crate::inputs::sources::Sources;
use crate::launch;
use crate::problem::Problem;
use crate::select::Filter;
use crate::warnings::Warnings;

/// The exit code of a strict run in which something failed.
const STRICT: u8 = 3;

const AFTER_HELP: &str = "\
All JVMs below the command are measured and united: the forks of a build as well.
Prints a table and writes HTML to the folder `html` in the output folder, unless other reports are asked for.
The exit code is the command's own, 128 + signal if it was killed.

Examples:
  classhook coverage -- java -jar app.jar
  classhook coverage --sources src/main/java --classes target/classes -- mvn test
  classhook coverage --select 'com.acme.**' --xml coverage.xml --lcov lcov.info -- ./gradlew test --no-daemon";

/// Starts a command, measures its code coverage, and reports it.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Coverage {
    /// What starting a command needs.
    #[command(flatten)]
    pub start: Start,
    /// Where classes and sources are.
    #[command(flatten)]
    pub material: Material,
    /// Which reports to write.
    #[command(flatten)]
    pub outputs: Outputs,
}

impl Coverage {
    /// Runs the command and reports; the result is the command's exit code.
    ///
    /// # Errors
    /// If options, configuration, agent or command are wrong, or no report can be made of a run that went well.
    pub fn run(&self) -> Result<u8, Problem> {
        self.check_material()?;
        let run = run_id();
        let plugins = if self.start.settings.config.is_some() {
            vec![]
        } else {
            vec!["coverage".into()]
        };
        let plan = Plan::new(&self.start.settings, &plugins, Some(run.clone()))?;
        let code = launch::run(&self.start.command, &plan.options)?;
        match self.report(&run, &plan.output) {
            Ok(failed)
                if failed && code == 0 && self.start.settings.on_error == Some(OnError::Strict) =>
            {
                Ok(STRICT)
            }
            Ok(_) => Ok(code),
            Err(problem) if code == 0 => Err(problem),
            Err(problem) => {
                eprintln!("{problem}");
                Ok(code)
            }
        }
    }

    /// Mistakes in what the report needs are told before a long run, not after it.
    fn check_material(&self) -> Result<(), Problem> {
        Filter::new(&self.start.settings.select)?;
        Sources::open(&self.material.sources).map(drop)
    }

    /// Reports on the snapshots of this run; whether a class failed in it.
    fn report(&self, run: &str, output: &Path) -> Result<bool, Problem> {
        let recordings = of_run(run, output)?;
        if recordings.is_empty() {
            return Err(Problem::user("H0610", "nothing was recorded")
                .with("expected", format!("at least one snapshot of this run in {}", output.display()))
                .with("help", "does the command start a JVM? a daemon that was running before (Gradle, sbt) does not get the agent: start it anew"));
        }
        let mut outputs = self.outputs.clone();
        if !outputs.any() {
            outputs.html = Some(output.join("html"));
        }
        let mut warnings = Warnings::default();
        let recorded = report::make(
            &recordings,
            &self.start.settings.select,
            &self.material,
            &outputs,
            true,
            &mut warnings,
        )?;
        Ok(!recorded.failures.is_empty())
    }
}

/// The snapshots in `folder` that belong to the run.
fn of_run(run: &str, folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut paths = recordings::in_folder(folder)?;
    paths.retain(|path| Meta::read(path).is_ok_and(|meta| meta.run == run));
    Ok(paths)
}

/// An id that no other run has.
pub(super) fn run_id() -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    format!("{}-{}", std::process::id(), now.as_millis())
}
