//! Computes the counters of a whole program from files of runs and class files.

use std::collections::HashSet;

use coverage::analysis::{analyze, unmeasured};
use coverage::class::ClassDescription;
use coverage::model::{BundleBuilder, BundleCoverage, BundleError, ClassCoverage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jvms::names::binary;
use rayon::prelude::*;
use trace::numbers::counted;

use crate::args::Part;
use crate::describe::describe;
use crate::inputs::class_files::{self, Found};
use crate::inputs::execution_data::{ExecutionDataStore, MeasuredClass};
use crate::problem::Problem;
use crate::select::Filter;
use crate::show::name;
use crate::unmatched;
use crate::warnings::{Warning, Warnings};

/// From this many classes on, progress is shown.
const MANY: u64 = 500;

/// The counters, and what they are not about.
#[derive(Debug)]
pub struct Analysed {
    /// The counters of each part.
    pub bundles: Vec<BundleCoverage>,
    /// How many recorded classes are in none of the places.
    pub elsewhere: usize,
}

/// Analyses the classes of each part, found in its places; without any place, all recorded classes, which are read from
/// the file of the run itself.
///
/// Of a class that ran in another version than the one found, the one found is analysed, as not executed: as with JaCoCo,
/// what an earlier build recorded says nothing of this one. Whatever goes wrong with one class is a warning, and the
/// report is made without that class.
///
/// # Errors
/// If a place cannot be read, or the filter selects none of the classes (`H0671`).
pub fn analyse_all(
    parts: &[Part],
    recorded: &ExecutionDataStore,
    filter: &Filter,
    warnings: &mut Warnings,
) -> Result<Analysed, Problem> {
    let mut analysis = Analysis {
        recorded,
        filter,
        warnings,
        builder: BundleBuilder::default(),
        any: false,
        unselected: Vec::new(),
        done: HashSet::new(),
        known: HashSet::new(),
        other_versions: HashSet::new(),
        progress: progress(),
    };
    let mut bundles = Vec::new();
    for part in parts {
        if part.classes.is_empty() {
            analysis.recorded_classes();
            analysis.warn_of_unknown();
        }
        for place in &part.classes {
            analysis.place(place)?;
        }
        bundles.push(analysis.bundle(&part.name));
    }
    analysis.progress.finish_and_clear();
    if !analysis.any && !filter.is_everything() {
        let mut seen = std::mem::take(&mut analysis.unselected);
        seen.extend(recorded.unselected.classes.iter().cloned());
        seen.sort_unstable();
        seen.dedup();
        return Err(unmatched::selection(
            filter,
            &seen,
            &recorded.unselected.loaders,
        ));
    }
    Ok(Analysed {
        elsewhere: analysis.unknown().count(),
        bundles,
    })
}

struct Analysis<'r> {
    recorded: &'r ExecutionDataStore,
    filter: &'r Filter,
    warnings: &'r mut Warnings,
    builder: BundleBuilder,
    /// Whether any class is analysed.
    any: bool,
    /// Names of classes that are not selected, with dots.
    unselected: Vec<String>,
    /// Ids of the classes of this part that are analysed.
    done: HashSet<u64>,
    /// Those of the parts before.
    known: HashSet<u64>,
    /// Those of which another version was found.
    other_versions: HashSet<u64>,
    progress: ProgressBar,
}

/// What became of one class.
enum Outcome {
    /// Its counters, and what they leave out.
    Analysed(Box<ClassCoverage>, Option<Warning>),
    /// Not selected: its name.
    NotSelected(String),
    /// Nothing to report.
    LeftOut,
    Failed(Warning),
    /// A class file of a class that was recorded from other files: its counters, and the ids of those.
    NoMatch(Warning, Option<Box<ClassCoverage>>, Vec<u64>),
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

    /// The counters of a part; the next one begins.
    fn bundle(&mut self, name: &str) -> BundleCoverage {
        self.known.extend(self.done.drain());
        std::mem::take(&mut self.builder).build(name)
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
            Outcome::NotSelected(name) => self.unselected.push(name),
            Outcome::LeftOut => (),
            Outcome::Failed(warning) => self.warnings.add(warning),
            Outcome::NoMatch(warning, class, ran) => {
                self.warnings.add(warning);
                self.other_versions.extend(ran);
                class.into_iter().for_each(|class| self.add(*class));
            }
        }
    }

    fn add(&mut self, class: ClassCoverage) {
        self.any = true;
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

    /// Recorded classes of which no class file was found.
    fn unknown(&self) -> impl Iterator<Item = &MeasuredClass> {
        let classes = self.recorded.classes.iter();
        let places = [&self.done, &self.known, &self.other_versions];
        classes.filter(move |class| !places.iter().any(|known| known.contains(&class.id)))
    }

    /// Recorded classes of which no class file was found are in no report.
    fn warn_of_unknown(&mut self) {
        let unknown: Vec<_> = self.unknown().collect();
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
        Ok(bytes) => analyse(&class.name, &bytes, filter, None, |_| {
            Ok(Some(&class.probes))
        }),
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
        Some(&found.origin),
        |class| match recorded.by_id(id) {
            Some(recorded) => Ok(Some(&recorded.probes)),
            None => match recorded.ids_of(&class.name) {
                [] => Ok(None),
                ids => Err(NoMatch {
                    warning: no_match(found, class, ids),
                    ran: ids.to_vec(),
                }),
            },
        },
    )
}

/// Analyses one class with the probes that `probes` finds for it.
fn analyse<'p>(
    origin: &str,
    bytes: &[u8],
    filter: &Filter,
    place: Option<&str>,
    probes: impl FnOnce(&ClassDescription) -> Result<Option<&'p Vec<bool>>, NoMatch>,
) -> Outcome {
    let class = match describe(bytes) {
        Ok(class) if class.is_module_or_package() => return Outcome::LeftOut,
        Ok(class) if filter.wants(&class, place) => class,
        Ok(class) => return Outcome::NotSelected(binary(&class.name)),
        Err(error) => return Outcome::Failed(not_reported(origin, &error)),
    };
    match probes(&class) {
        Ok(probes) => match analyze(&class, probes.map(Vec::as_slice)) {
            Ok(coverage) => Outcome::Analysed(Box::new(coverage), without_probes(&class)),
            Err(error) => Outcome::Failed(not_reported(origin, &error)),
        },
        Err(NoMatch { warning, ran }) => {
            let class = analyze(&class, None).ok().map(|mut class| {
                class.no_match = true;
                Box::new(class)
            });
            Outcome::NoMatch(warning, class, ran)
        }
    }
}

/// Methods that have no probes are not in the report; a warning says so.
fn without_probes(class: &ClassDescription) -> Option<Warning> {
    let mut methods = unmeasured(class);
    let (first, _) = methods.next()?;
    let count = methods.count() + 1;
    let message = format!(
        "{} has {} left out that cannot be measured",
        class.name,
        counted(count, "method")
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

/// A class file that is not the one that ran.
struct NoMatch {
    warning: Warning,
    /// Ids of those that ran.
    ran: Vec<u64>,
}

fn no_match(found: &Found, class: &ClassDescription, ids: &[u64]) -> Warning {
    let listed: Vec<String> = ids.iter().map(|id| format!("{id:016x}")).collect();
    let message = format!("no match for {}: another version of it ran", class.name);
    Warning::new("H0622", message)
        .with("expected", format!("id {}", listed.join(" or ")))
        .with("found", format!("id {:016x} in {}", class.id, found.origin))
        .with("note", "the report shows it as not executed")
        .with(
            "help",
            "name the very class files that the program ran with, or record anew; without --classes the report holds \
             what ran",
        )
}

/// A bar that stays hidden until there is much to do.
fn progress() -> ProgressBar {
    let style = ProgressStyle::with_template("analysing {bar:30} {pos}/{len} classes {wide_msg}");
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
