//! `classhook verify`: verifies original or instrumented classes with independent readers.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use agent_launch::plugin_compiler::PluginCompiler;
use child_process::own_program;
use clap::Args;
use class_readers::opinion::Opinion;
use class_readers::{Guards, READERS};
use coverage_inputs::class_files::{self, Loader, LocatedClass, Unreadable};
use errors::{Error, Warning, Warnings, codes};
use host::{ClassRequest, Outcome, Pipeline};
use plugin_projects::configured;
use probes::ProbeTable;
use rayon::prelude::*;
use rewriter::ClassFile;
use standard_streams::show::{complain, show};

use crate::args::{PLUGIN, PLUGIN_CONFIG};

const AFTER_HELP: &str = "\
Classhook and two independent readers parse every class. The readers run in processes of their own, under limits.
With --plugin, they parse the instrumented class too. A reader that accepted the original must accept it.
Classes that a reader refuses, or crashes on, are counted. They are no failure, since the readers have own limits.
The exit code is 1 if a class is unreadable, if a reader reads it differently, or if instrumentation makes it worse.

Examples:
  classhook verify app.jar
  classhook verify build/classes jrt:java.sql --plugin coverage";

/// Verifies original or instrumented classes with independent readers.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Verify {
    /// Verify these folders, jars (nested jars and all versions too), class files or jrt:MODULE
    #[arg(required = true, value_name = "PATH")]
    pub places: Vec<String>,
    /// The plugin that instruments the classes.
    #[arg(long, value_name = "PLUGIN", help = PLUGIN)]
    pub plugin: Option<String>,
    /// Settings of the plugin.
    #[arg(long, value_name = "FILE", requires = "plugin", help = PLUGIN_CONFIG)]
    pub config: Option<PathBuf>,
}

/// Counts of outcomes, in the order of the table.
type Counts = BTreeMap<(usize, String), u64>;

/// Outcomes and warnings of one class.
#[derive(Default)]
struct Verdict {
    counts: Vec<(usize, String)>,
    warnings: Vec<Warning>,
}

impl Verify {
    /// Verifies the classes and returns 1 if there is a warning.
    ///
    /// # Errors
    /// If plugin, folders or jars cannot be read.
    pub fn run(&self) -> Result<u8, Error> {
        let pipeline = self.plugin.as_deref();
        let pipeline = pipeline
            .map(|plugin| {
                let component = plugin_projects::component_of(plugin)?;
                configured::pipeline(&component, self.config.as_deref(), &PluginCompiler)
            })
            .transpose()?;
        let guards = Guards::new(own_program::readers);
        let mut counts = Counts::new();
        let mut warnings = Warnings::default();
        for place in &self.places {
            let unreadable =
                class_files::read_intact(place, &Loader::every_version(), &mut |batch| {
                    let verdicts: Result<Vec<Verdict>, Error> = batch
                        .par_iter()
                        .map(|found| verdict(found, pipeline.as_ref(), &guards))
                        .collect();
                    for verdict in verdicts? {
                        for count in verdict.counts {
                            *counts.entry(count).or_default() += 1;
                        }
                        verdict
                            .warnings
                            .into_iter()
                            .for_each(|warning| warnings.add(warning));
                    }
                    Ok(())
                })?;
            for Unreadable { origin, problem } in unreadable {
                *counts.entry((1, "cannot be read".to_owned())).or_default() += 1;
                let warning = Warning::new(codes::H0632, format!("{origin} cannot be read"));
                warnings.add(warning.with("found", problem.summary()));
            }
        }
        complain(&warnings);
        show(&table(&counts))?;
        Ok(u8::from(!warnings.is_empty()))
    }
}

fn table(counts: &Counts) -> String {
    let mut text = String::new();
    for ((_, what), count) in counts {
        let _ = writeln!(text, "{count:>9}  {what}");
    }
    if counts.is_empty() {
        text.push_str("        0  classes\n");
    }
    text
}

impl Verdict {
    fn count(&mut self, order: usize, what: impl Into<String>) {
        self.counts.push((order, what.into()));
    }

    fn warn(&mut self, code: &'static str, message: String, found: &str) {
        self.warnings
            .push(Warning::new(code, message).with("found", found));
    }

    /// Counts the opinions of the readers about a class file.
    fn opinions(&mut self, origin: &str, opinions: &[Opinion]) {
        for (index, (reader, opinion)) in READERS.iter().zip(opinions).enumerate() {
            let word = match opinion {
                Opinion::Agrees => "agrees",
                Opinion::Differs(text) => {
                    self.warn(
                        codes::H0633,
                        format!("{reader} reads {origin} differently"),
                        text,
                    );
                    "reads differently"
                }
                Opinion::Refuses(_) => "refuses",
                Opinion::Breaks(_) => "breaks on",
            };
            self.count(10 + index, format!("{reader} {word}"));
        }
    }
}

fn verdict(
    found: &LocatedClass,
    pipeline: Option<&Pipeline>,
    guards: &Guards,
) -> Result<Verdict, Error> {
    let mut verdict = Verdict::default();
    verdict.count(0, "classes");
    let class = match whole(&found.bytes) {
        Ok(class) => class,
        Err(error) => {
            verdict.count(1, "cannot be read");
            verdict.warn(
                codes::H0632,
                format!("{} cannot be read", found.origin),
                &error,
            );
            return Ok(verdict);
        }
    };
    let before = guards.ask(&found.bytes)?;
    verdict.opinions(&found.origin, &before);
    if let Some(pipeline) = pipeline {
        spliced(found, &class, pipeline, guards, &before, &mut verdict)?;
    }
    Ok(verdict)
}

/// Parses a class to its last instruction.
fn whole(bytes: &[u8]) -> Result<ClassFile<'_>, String> {
    let class = ClassFile::read(bytes).map_err(|error| error.to_string())?;
    for method in class.methods() {
        let code = method.code().map_err(|error| error.to_string())?;
        let mut instructions = code.iter().flat_map(|code| code.instructions());
        instructions
            .try_for_each(|found| found.map(drop))
            .map_err(|error| format!("{}{}: {error}", method.name(), method.descriptor()))?;
    }
    Ok(class)
}

/// Instruments the class, and compares the opinions of the readers before and after.
fn spliced(
    found: &LocatedClass,
    class: &ClassFile<'_>,
    pipeline: &Pipeline,
    guards: &Guards,
    before: &[Opinion],
    verdict: &mut Verdict,
) -> Result<(), Error> {
    let table = ProbeTable::new();
    table.set_arrays(1);
    let mut out = Vec::new();
    let name = class.this_class();
    let request = ClassRequest::of_file(name.as_bytes(), class.bytes());
    let (outcome, explanation) = pipeline.explain(&request, &table, &mut out);
    for failure in outcome.failures() {
        verdict.count(21, "failed in the plugin or the rewriter");
        verdict.warn(
            codes::H0634,
            format!("{} cannot be instrumented", found.origin),
            &failure.cause,
        );
    }
    if outcome == Outcome::Unchanged {
        verdict.count(20, "left unchanged by the plugin");
    }
    if !outcome.is_changed() {
        return Ok(());
    }
    verdict.count(22, "changed, and passed the self-check");
    for _ in &explanation.skipped {
        verdict.count(23, "methods left unchanged in changed classes");
    }
    if let Err(error) = whole(&out) {
        verdict.warn(
            codes::H0635,
            format!("the instrumented {} cannot be read", found.origin),
            &error,
        );
    }
    let pairs = before.iter().zip(guards.ask(&out)?);
    for (index, (reader, (before, after))) in READERS.iter().zip(pairs).enumerate() {
        if *before != Opinion::Agrees {
            continue;
        }
        match after {
            Opinion::Agrees => verdict.count(30 + index, format!("{reader} agrees afterwards")),
            Opinion::Breaks(_) => verdict.count(30 + index, format!("{reader} breaks afterwards")),
            Opinion::Differs(text) | Opinion::Refuses(text) => {
                verdict.count(30 + index, format!("{reader} no longer agrees"));
                let message = format!(
                    "{reader} accepts {}, but not its instrumented form",
                    found.origin
                );
                verdict.warn(codes::H0635, message, &text);
            }
        }
    }
    Ok(())
}
