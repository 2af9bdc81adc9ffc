//! `classhook plugin test`: tests a project and its component on classes.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agent_launch::plugin_compiler::PluginCompiler;
use clap::Args;
use coverage_inputs::class_files::{self, Loader, LocatedClass};
use errors::{Error, Warning, Warnings, codes};
use host::{ClassRequest, Explanation, Pipeline};
use plugin_projects::configured;
use plugin_projects::language::Language;
use plugin_projects::{PluginSource, build, plans};
use probes::ProbeTable;
use rewriter::ClassFile;
use standard_streams::show::{self, complain, say, show};

use super::build::summary;
use crate::args::PLUGIN_CONFIG;

const AFTER_HELP: &str = "\
In a Rust project, `cargo test --release` runs first, and its failure ends the command.
In any language, the component then plans edits for the class files in the folder `tests`. The plan is compared with the
output of `classhook explain` in the .explained file of the same name, which --bless writes. Put settings into
tests/classhook.toml.
With --classes, the component plans edits for each class, as in the agent, and the self-check verifies the result.
`classhook explain FILE.wasm CLASS` shows the edits of one class.
The exit code is 1 if the plugin fails on a class, or a class is unreadable.

Examples:
  classhook plugin test
  classhook plugin test --bless
  classhook plugin test call-counter --classes app.jar --classes jrt:java.sql --config classhook.toml";

/// Tests a project and its component on classes.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Test {
    /// Test the project in this folder
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Select the classes in this folder, jar or jrt:MODULE; or a class file; repeatable
    #[arg(long, value_name = "PATH")]
    pub classes: Vec<String>,
    /// Settings of the plugin.
    #[arg(long, value_name = "FILE", requires = "classes", help = PLUGIN_CONFIG)]
    pub config: Option<PathBuf>,
    /// Write the present plans for the classes in `tests` as expected ones
    #[arg(long)]
    pub bless: bool,
}

/// Counts of classes by outcome.
#[derive(Debug, Default)]
struct Tally {
    classes: u64,
    unreadable: u64,
    not_selected: u64,
    unchanged: u64,
    changed: u64,
    failed: u64,
    edits: usize,
    skipped: usize,
    time: Duration,
    slowest: Option<(Duration, String)>,
    warnings: Warnings,
}

impl Test {
    /// Runs the tests and returns 1 if the plugin fails on a class.
    ///
    /// # Errors
    /// As [`build::test`], [`build::build`] and [`plans::check`], and if classes or configuration cannot be read.
    pub fn run(&self) -> Result<u8, Error> {
        if let Some(told) = first_run(&self.folder) {
            say(format_args!("{told}"));
        }
        build::test(&self.folder)?;
        let component = build::build(&self.folder)?;
        let description = PluginSource::Built(component.clone()).describe(&PluginCompiler)?;
        show(&summary(&component, &description))?;
        let compared = plans::check(&self.folder, &component, self.bless, &PluginCompiler)?;
        show(&compared)?;
        if self.classes.is_empty() && compared.is_empty() {
            show("the component was loaded, without classes: name some with --classes PATH\n")?;
        }
        if self.classes.is_empty() {
            return Ok(0);
        }
        let pipeline = configured::pipeline(
            &component.to_string_lossy(),
            self.config.as_deref(),
            &PluginCompiler,
        )?;
        let mut tally = Tally::default();
        for place in &self.classes {
            class_files::read(place, &Loader::every_version(), &mut |batch| {
                batch.iter().for_each(|found| tally.add(found, &pipeline));
                Ok(())
            })?;
        }
        complain(&tally.warnings);
        show(&tally.text())?;
        Ok(u8::from(tally.failed + tally.unreadable > 0))
    }
}

/// Returns a notice about the duration of the first build.
fn first_run(folder: &Path) -> Option<&'static str> {
    if folder.join("target").exists() {
        return None;
    }
    Some(match Language::of(folder).ok()? {
        Language::Rust => {
            "the first run compiles the SDK and the test kit, for this machine and for WebAssembly: some minutes; later runs compile only changes"
        }
        Language::Python | Language::Js => {
            "the first run builds a component with an interpreter of the language, and compiles it: about a minute; later runs do so after changes"
        }
        Language::C => return None,
    })
}

impl Tally {
    fn add(&mut self, found: &LocatedClass, pipeline: &Pipeline) {
        self.classes += 1;
        let class = match ClassFile::read(&found.bytes) {
            Ok(class) => class,
            Err(error) => {
                self.unreadable += 1;
                let warning =
                    Warning::new(codes::H0632, format!("{} cannot be read", found.origin));
                return self.warnings.add(warning.with("found", error.to_string()));
            }
        };
        let table = ProbeTable::new();
        table.set_arrays(1);
        let mut out = Vec::new();
        let request = ClassRequest::of_file(class.this_class().as_bytes(), class.bytes());
        let begun = Instant::now();
        let (outcome, explanation) = pipeline.explain(&request, &table, &mut out);
        self.took(begun.elapsed(), found);
        for failure in outcome.failures() {
            let warning = Warning::new(
                codes::H0634,
                format!("{} cannot be instrumented", found.origin),
            );
            self.warnings.add(warning.with("found", &failure.cause));
        }
        self.count(&outcome, &explanation);
    }

    fn took(&mut self, time: Duration, found: &LocatedClass) {
        self.time += time;
        if self.slowest.as_ref().is_none_or(|(most, _)| time > *most) {
            self.slowest = Some((time, found.origin.clone()));
        }
    }

    fn count(&mut self, outcome: &host::Outcome, explanation: &Explanation) {
        let edits = explanation.remarks.iter();
        let edits = edits.filter(|remark| matches!(remark, host::Explained::Edit { .. }));
        self.skipped += explanation.skipped.len();
        if !outcome.failures().is_empty() {
            self.failed += 1;
        } else if outcome.is_changed() {
            self.changed += 1;
            let replaced = usize::from(explanation.replaced.is_some());
            self.edits += edits.count() + explanation.class_edits.len() + replaced;
        } else if explanation.asked.is_empty() {
            self.not_selected += 1;
        } else {
            self.unchanged += 1;
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut line = |count: u64, what: &str| {
            let _ = writeln!(text, "{count:>9}  {what}"); // a string takes everything
        };
        line(self.classes, "classes");
        line(self.changed, "changed, and passed the self-check");
        line(self.edits as u64, "edits in them");
        line(self.unchanged, "left unchanged by the plugin");
        line(self.not_selected, "not selected by the plugin");
        line(self.failed, "failed in the plugin or the rewriter");
        line(self.unreadable, "cannot be read");
        line(
            self.skipped as u64,
            "methods left unchanged in changed classes",
        );
        if let Some((most, origin)) = &self.slowest {
            let micros = |time: Duration| time.as_secs_f64() * 1e6;
            let mean = micros(self.time) / self.classes.max(1) as f64;
            let _ = writeln!(
                text,
                "{mean:>9.1}  µs for a class on average, {:.1} for the slowest: {}",
                micros(*most),
                show::name(origin)
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_run_has_a_notice_about_its_duration_and_later_runs_have_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(first_run(folder.path()), None);
        std::fs::write(folder.path().join("Cargo.toml"), "").unwrap();
        let told = first_run(folder.path()).unwrap();
        assert!(told.contains("some minutes"), "{told}");
        std::fs::create_dir(folder.path().join("target")).unwrap();
        assert_eq!(first_run(folder.path()), None);
    }
}
