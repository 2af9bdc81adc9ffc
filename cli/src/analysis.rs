//! Computes the counters of a whole program from files of runs and class files.

use std::collections::HashSet;

use coverage::analysis::{analyze, unmeasured};
use coverage::class::ClassDescription;
use coverage::model::{BundleBuilder, BundleCoverage, BundleError, ClassCoverage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::prelude::*;

use crate::describe::describe;
use crate::inputs::class_files::{self, Found};
use crate::inputs::execution_data::{ExecutionDataStore, MeasuredClass};
use crate::problem::Problem;
use crate::select::Filter;
use crate::show::name;
use crate::warnings::{Warning, Warnings};

/// From this many classes on, progress is shown.
const MANY: u64 = 500;

/// Analyses all recorded classes and those found in `places`.
///
/// A recorded class is read from the file of the run itself; where it is not kept there, from `places`.
/// Whatever goes wrong with one class is a warning, and the report is made without that class.
///
/// # Errors
/// If a place cannot be read.
pub fn bundle(
    name: &str,
    recorded: &ExecutionDataStore,
    places: &[String],
    filter: &Filter,
    warnings: &mut Warnings,
) -> Result<BundleCoverage, Problem> {
    let mut analysis = Analysis {
        recorded,
        filter,
        warnings,
        builder: BundleBuilder::default(),
        done: HashSet::new(),
        progress: progress(),
    };
    analysis.recorded_classes();
    for place in places {
        analysis.place(place)?;
    }
    analysis.warn_of_unknown();
    analysis.progress.finish_and_clear();
    Ok(analysis.builder.build(name))
}

struct Analysis<'r> {
    recorded: &'r ExecutionDataStore,
    filter: &'r Filter,
    warnings: &'r mut Warnings,
    builder: BundleBuilder,
    /// Ids of the classes analysed.
    done: HashSet<u64>,
    progress: ProgressBar,
}

/// What became of one class.
enum Outcome {
    /// Its counters, and what they leave out.
    Analysed(Box<ClassCoverage>, Option<Warning>),
    /// Not selected, or nothing to report.
    LeftOut,
    Failed(Warning),
    /// A class file of a class that was recorded from another file; with its counters if the recorded file is not at hand.
    NoMatch(Warning, Option<Box<ClassCoverage>>),
}

impl Analysis<'_> {
    fn recorded_classes(&mut self) {
        let (filter, progress) = (self.filter, &self.progress);
        let kept = self
            .recorded
            .classes
            .iter()
            .filter(|class| class.bytes.is_some());
        let kept: Vec<&MeasuredClass> = kept.collect();
        self.expect(kept.len());
        self.done.extend(kept.iter().map(|class| class.id));
        let analyse = |class: &&MeasuredClass| {
            progress.inc(1);
            analyse_recorded(class, filter)
        };
        let outcomes: Vec<Outcome> = kept.par_iter().map(analyse).collect();
        outcomes.into_iter().for_each(|outcome| self.take(outcome));
    }

    fn place(&mut self, place: &str) -> Result<(), Problem> {
        self.progress.set_message(name(place).into_owned());
        let loader = self.recorded.loader.clone();
        class_files::read(place, &loader, &mut |found| {
            self.found(found);
            Ok(())
        })
    }

    /// Takes a batch of class files; those seen before are passed over.
    fn found(&mut self, found: Vec<Found>) {
        let ids: Vec<u64> = found
            .par_iter()
            .map(|found| rewriter::fingerprint(&found.bytes))
            .collect();
        let fresh: Vec<(u64, Found)> = ids
            .into_iter()
            .zip(found)
            .filter(|(id, _)| self.done.insert(*id))
            .collect();
        self.expect(fresh.len());
        let (recorded, filter, progress) = (self.recorded, self.filter, &self.progress);
        let analyse = |(id, found): &(u64, Found)| {
            progress.inc(1);
            analyse_found(*id, found, recorded, filter)
        };
        let outcomes: Vec<Outcome> = fresh.par_iter().map(analyse).collect();
        outcomes.into_iter().for_each(|outcome| self.take(outcome));
    }

    /// More classes are to come; from many on, progress is shown if standard error is a terminal.
    fn expect(&self, more: usize) {
        self.progress.inc_length(more as u64);
        if self.progress.is_hidden() && self.progress.length() >= Some(MANY) {
            self.progress.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    fn take(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Analysed(class, warning) => {
                warning
                    .into_iter()
                    .for_each(|warning| self.warnings.add(warning));
                self.add(*class);
            }
            Outcome::LeftOut => (),
            Outcome::Failed(warning) => self.warnings.add(warning),
            Outcome::NoMatch(warning, class) => {
                self.warnings.add(warning);
                class.into_iter().for_each(|class| self.add(*class));
            }
        }
    }

    fn add(&mut self, class: ClassCoverage) {
        if let Err(BundleError::DifferentClass {
            name,
            first,
            second,
        }) = self.builder.add(class)
        {
            let message = format!("there are two versions of {name}; the report holds the first");
            let ids = format!("ids {first:016x} and {second:016x}");
            self.warnings
                .add(Warning::new("H0617", message).with("found", ids));
        }
    }

    /// ExecutionDataStore classes of which no class file was found: they are in no report.
    fn warn_of_unknown(&mut self) {
        let unknown: Vec<_> = self
            .recorded
            .classes
            .iter()
            .filter(|class| !self.done.contains(&class.id))
            .collect();
        let Some(first) = unknown.first() else { return };
        let message = format!(
            "{} recorded classes are not in the report: their class files are not at hand",
            unknown.len()
        );
        let warning = Warning::new("H0618", message).with(
            "found",
            format!("{} (id {:016x}), for example", first.name, first.id),
        );
        self.warnings.add(warning.with(
            "help",
            "name the folders and jars that the program ran from with --classes",
        ));
    }
}

fn analyse_recorded(class: &MeasuredClass, filter: &Filter) -> Outcome {
    let Some(bytes) = &class.bytes else {
        return Outcome::LeftOut;
    };
    match bytes.inflate() {
        Ok(bytes) => analyse(&class.name, &bytes, filter, |_| Ok(Some(&class.probes))),
        Err(error) => Outcome::Failed(not_reported(&class.name, &error)),
    }
}

fn analyse_found(
    id: u64,
    found: &Found,
    recorded: &ExecutionDataStore,
    filter: &Filter,
) -> Outcome {
    analyse(
        &found.origin,
        &found.bytes,
        filter,
        |class| match recorded.by_id(id) {
            Some(recorded) => Ok(Some(&recorded.probes)),
            None => match recorded.ids_of(&class.name) {
                [] => Ok(None),
                ids => Err(no_match(found, class, ids, recorded)),
            },
        },
    )
}

/// Analyses one class with the probes that `probes` finds for it.
fn analyse<'p>(
    origin: &str,
    bytes: &[u8],
    filter: &Filter,
    probes: impl FnOnce(&ClassDescription) -> Result<Option<&'p Vec<bool>>, (Warning, bool)>,
) -> Outcome {
    let class = match describe(bytes) {
        Ok(class) if filter.wants(&class) && !class.is_module_or_package() => class,
        Ok(_) => return Outcome::LeftOut,
        Err(error) => return Outcome::Failed(not_reported(origin, &error)),
    };
    match probes(&class) {
        Ok(probes) => match analyze(&class, probes.map(Vec::as_slice)) {
            Ok(coverage) => Outcome::Analysed(Box::new(coverage), without_probes(&class)),
            Err(error) => Outcome::Failed(not_reported(origin, &error)),
        },
        Err((warning, true)) => Outcome::NoMatch(warning, None),
        Err((warning, false)) => {
            let class = analyze(&class, None).ok().map(|class| {
                Box::new(ClassCoverage {
                    no_match: true,
                    ..class
                })
            });
            Outcome::NoMatch(warning, class)
        }
    }
}

/// Methods that have no probes are not in the report; a warning says so.
fn without_probes(class: &ClassDescription) -> Option<Warning> {
    let mut methods = unmeasured(class);
    let (first, _) = methods.next()?;
    let count = methods.count() + 1;
    let message = format!(
        "{} has {count} methods that cannot be measured and are left out",
        class.name
    );
    let warning =
        Warning::new("H0623", message).with("found", format!("{}{}", first.name, first.descriptor));
    Some(warning.with(
        "cause",
        "they contain subroutines (jsr, ret), which compilers before Java 6 made",
    ))
}

fn not_reported(origin: &str, cause: &dyn std::fmt::Display) -> Warning {
    Warning::new("H0619", format!("{origin} is left out of the report"))
        .with("cause", cause.to_string())
}

/// The warning about a class file that is not the one that ran, and whether that one is in the report already.
fn no_match(
    found: &Found,
    class: &ClassDescription,
    ids: &[u64],
    recorded: &ExecutionDataStore,
) -> (Warning, bool) {
    let reported = ids.iter().any(|id| {
        recorded
            .by_id(*id)
            .is_some_and(|class| class.bytes.is_some())
    });
    let listed: Vec<String> = ids.iter().map(|id| format!("{id:016x}")).collect();
    let note = if reported {
        "the report holds the class that ran"
    } else {
        "the report shows it as not executed"
    };
    let message = format!("no match for {}: another version of it ran", class.name);
    let warning = Warning::new("H0622", message)
        .with("expected", format!("id {}", listed.join(" or ")))
        .with("found", format!("id {:016x} in {}", class.id, found.origin))
        .with("note", note)
        .with(
            "help",
            "name the very class files that the program ran with",
        );
    (warning, reported)
}

/// A bar that stays hidden until there is much to do.
fn progress() -> ProgressBar {
    let style = ProgressStyle::with_template("analysing {bar:30} {pos}/{len} classes {wide_msg}");
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
