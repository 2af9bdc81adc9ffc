//! Computes the counters of a whole program from execution data and class files.
//!
//! | module | holds |
//! |---|---|
//! | this one | the counters of modules and of loaders |
//! | [`unmeasured`] | classes and methods without probes |
//! | [`inlining`] | lines of other classes that a compiler has copied into a class |
//! | [`test_coverage`] | recorded data per test |
//! | [`per_test`] | the lines of a report that each test executes |
//!
//! Each fails with a coded [`errors::Error`], and adds remarks to [`errors::Warnings`].
//!
//! ```
//! use class_selection::filter::Filter;
//! use coverage_analysis::{AnalysisOptions, ReportModule, Unobserved, analyse_all};
//! use coverage_inputs::execution_data::ExecutionDataStore;
//! use coverage_inputs::sources::Sources;
//! use errors::Warnings;
//!
//! let module = ReportModule {
//!     name: "shop".to_owned(),
//!     ..ReportModule::default()
//! };
//! let result = analyse_all(
//!     &[module],
//!     &[Sources::open(&[])?],
//!     &ExecutionDataStore::default(),
//!     &Filter::new(&[])?,
//!     AnalysisOptions::default(),
//!     &mut Warnings::default(),
//!     &Unobserved,
//! )?;
//! assert_eq!(result.bundles[0].name, "shop");
//! assert!(!result.any_class_file);
//! # Ok::<(), errors::Error>(())
//! ```
#![forbid(unsafe_code)]

mod generated;
pub mod inlining;
pub mod per_test;
pub mod test_coverage;
pub mod unmeasured;
mod versions;

use std::collections::HashSet;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;

use class_description::{Arena, describe_as};
use class_selection::filter::Filter;
use class_selection::nearest;
use coverage::analysis::analyze_as;
use coverage::class::ClassDescription;
use coverage::filter::Counting;
use coverage::model::{BundleBuilder, BundleCoverage, BundleError, CarriedOver, ClassCoverage};
use coverage_inputs::class_files::{self, LocatedClass, Unreadable};
use coverage_inputs::damaged_files::left_out;
use coverage_inputs::execution_data::{ExecutionDataStore, MeasuredClass, holds_jacoco};
use coverage_inputs::sources::Sources;
use errors::{Error, Warning, Warnings, codes};
use generated::is_generated;
use host::class_array;
use jvms::names::binary;
use rayon::prelude::*;
use rewriter::{ClassFile, PoolIndex};
use trace::numbers::counted;
use unmeasured::Unmeasured;
use versions::{CarriedHits, CarriedTotal};

/// The classes and sources of one module of a report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportModule {
    /// The name.
    pub name: String,
    /// Folders, jars and modules of the JDK with the classes. An empty list selects the recorded classes.
    pub classes: Vec<String>,
    /// Folders and archives with the sources.
    pub sources: Vec<PathBuf>,
}

/// Observes the progress of an analysis, from any thread.
pub trait Progress: Sync {
    /// This many more classes will be analysed.
    fn expect(&self, more: usize);

    /// The classes of this location are read.
    fn begin(&self, place: &str);

    /// One class is analysed.
    fn advance(&self);

    /// The analysis of a module or a loader is over.
    fn finish(&self);
}

/// Observes nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unobserved;

impl Progress for Unobserved {
    fn expect(&self, _more: usize) {}

    fn begin(&self, _place: &str) {}

    fn advance(&self) {}

    fn finish(&self) {}
}

/// Counters of a program, and the classes that they leave out.
#[derive(Debug)]
pub struct AnalysisResult {
    /// The counters of each module.
    pub bundles: Vec<BundleCoverage>,
    /// The number of recorded classes without a class file in the given locations.
    pub elsewhere: usize,
    /// The number of recorded classes that a library generated at run time; no report holds them.
    pub generated: usize,
    /// The number of classes that an annotation excludes, inner classes included.
    pub excluded: usize,
    /// The number of classes that the filter does not select.
    pub unselected: usize,
    /// Totals that were carried over from other versions of classes.
    pub carried: CarriedTotal,
    /// Causes for incomplete counters: a sentence for each class file that cannot be read or
    /// analysed.
    pub missing: Vec<String>,
    /// The classes and methods without probes that the counters leave out.
    pub unmeasured: HashSet<probes::Failure>,
    /// True if any class file was found, with code or without.
    pub any_class_file: bool,
}

/// Options of an analysis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AnalysisOptions {
    /// Carries over hits from other versions of a class, for methods whose code is the same.
    pub carry_over: bool,
    /// Ends the command at a class file that cannot be read or analysed.
    pub strict_inputs: bool,
    /// The subject of counters.
    pub counting: Counting,
}

/// Analyses the classes of each module, read from its locations. A module without locations covers all
/// recorded classes, whose class files are in the snapshot itself. `sources` holds one entry per
/// module.
///
/// If another version of a class ran than the class file found, the class counts as not executed,
/// as with JaCoCo: a recording of an earlier build says nothing about this one. With `carry_over`,
/// hits count for methods whose code is the same. A class that cannot be analysed gets a warning,
/// and the report omits it. With `strict_inputs` it ends the command.
///
/// # Errors
/// If a location cannot be read, or the filter selects no class (`H0671`).
pub fn analyse_all(
    modules: &[ReportModule],
    sources: &[Sources],
    recorded: &ExecutionDataStore,
    filter: &Filter,
    options: AnalysisOptions,
    warnings: &mut Warnings,
    progress: &dyn Progress,
) -> Result<AnalysisResult, Error> {
    let mut analysis = Analysis {
        options,
        inlining: inlining::classes(recorded, options.counting),
        ..Analysis::new(recorded, filter, warnings, progress)
    };
    let mut bundles = Vec::new();
    for (module, sources) in modules.iter().zip(sources) {
        bundles.push(analysis.module(module, sources)?);
    }
    analysis.progress.finish();
    if !analysis.any {
        expect_selected(recorded, filter, std::mem::take(&mut analysis.unselected))?;
    }
    Ok(AnalysisResult {
        elsewhere: analysis.unknown().count(),
        generated: analysis.generated.len(),
        excluded: analysis.excluded.len(),
        unselected: distinct(&analysis.unselected),
        any_class_file: !analysis.known.is_empty(),
        carried: analysis.carried,
        missing: analysis.missing,
        unmeasured: analysis.unmeasured.into_left_out(),
        bundles,
    })
}

/// Analyses the classes of each loader. `module` names the locations; without any, all classes of the
/// loader count. Each loader's bundle holds the classes that it loaded.
///
/// # Errors
/// As [`analyse_all`] and [`ExecutionDataStore::by_loader`].
pub fn analyse_loaders(
    (module, sources): (&ReportModule, &Sources),
    recorded: &ExecutionDataStore,
    filter: &Filter,
    options: AnalysisOptions,
    warnings: &mut Warnings,
    progress: &dyn Progress,
) -> Result<AnalysisResult, Error> {
    let (mut bundles, mut unselected) = (Vec::new(), Vec::new());
    let (mut elsewhere, mut missing) = (HashSet::new(), Vec::new());
    let mut unmeasured = HashSet::new();
    let (mut any_class_file, mut generated) = (false, HashSet::new());
    let mut excluded = HashSet::new();
    for (name, of_loader) in recorded.by_loader()? {
        let mut analysis = Analysis {
            options,
            loaded_alone: true,
            inlining: inlining::classes(&of_loader, options.counting),
            ..Analysis::new(&of_loader, filter, warnings, progress)
        };
        let module = ReportModule {
            name,
            ..module.clone()
        };
        let bundle = analysis.module(&module, sources)?;
        analysis.progress.finish();
        elsewhere.extend(analysis.unknown().map(|class| class.id));
        generated.extend(analysis.generated.drain());
        excluded.extend(analysis.excluded.drain());
        unselected.append(&mut analysis.unselected);
        unmeasured.extend(std::mem::take(&mut analysis.unmeasured).into_left_out());
        missing.append(&mut analysis.missing);
        any_class_file |= !analysis.known.is_empty();
        if analysis.any {
            bundles.push(bundle);
        }
    }
    let unselected_count = distinct(&unselected);
    if bundles.is_empty() {
        expect_selected(recorded, filter, unselected)?;
    }
    let mut told = HashSet::new();
    missing.retain(|text| told.insert(text.clone())); // several loaders may share a class
    Ok(AnalysisResult {
        bundles,
        elsewhere: elsewhere.len(),
        generated: generated.len(),
        excluded: excluded.len(),
        unselected: unselected_count,
        carried: CarriedTotal::default(),
        missing,
        unmeasured,
        any_class_file,
    })
}

fn distinct(names: &[String]) -> usize {
    names.iter().collect::<HashSet<_>>().len()
}

/// Returns an error if the report is empty because the filter rejects the classes `seen`.
fn expect_selected(
    recorded: &ExecutionDataStore,
    filter: &Filter,
    mut seen: Vec<String>,
) -> Result<(), Error> {
    if filter.is_everything() {
        return Ok(());
    }
    seen.extend(recorded.unselected.classes.iter().cloned());
    seen.sort_unstable();
    seen.dedup();
    let loaders = &recorded.unselected.loaders;
    Err(nearest::selection(filter, &seen, loaders))
}

struct Analysis<'r> {
    /// Source folders of the current module.
    sources: Option<&'r Sources>,
    /// Location of the current classes.
    place: String,
    recorded: &'r ExecutionDataStore,
    filter: &'r Filter,
    options: AnalysisOptions,
    /// Leaves out classes that are found and were not loaded.
    loaded_alone: bool,
    carried: CarriedTotal,
    warnings: &'r mut Warnings,
    builder: BundleBuilder,
    /// True once any class is analysed.
    any: bool,
    /// Ids of recorded classes that a library generated.
    generated: HashSet<u64>,
    /// Internal names of the classes that an annotation excludes.
    excluded: HashSet<String>,
    /// Names of classes that are not selected, with dots.
    unselected: Vec<String>,
    /// Ids of the classes of this module that are analysed.
    done: HashSet<u64>,
    /// Ids of the classes of earlier modules.
    known: HashSet<u64>,
    /// Causes for incomplete reports: a sentence for each class file that cannot be read or
    /// analysed.
    missing: Vec<String>,
    /// The first error of a class file that ends the command.
    damaged: Option<Error>,
    /// Ids of recorded classes of which another version was found.
    other_versions: HashSet<u64>,
    /// Class files whose other versions ran, until all locations are read: a later location may
    /// hold the version that ran.
    not_matching: Vec<(Warning, ClassCoverage)>,
    /// Recorded classes with lines of other classes, which the compiler has copied into them.
    inlining: Vec<ClassCoverage>,
    /// Classes and methods without probes.
    unmeasured: Unmeasured<'r>,
    /// Methods of the next class that are too long for probes.
    without_room: Vec<probes::Failure>,
    progress: &'r dyn Progress,
}

/// Result for one class.
enum Outcome {
    /// Analysed: the counters, a warning and a sentence about unmeasured methods, and the methods
    /// too long for probes.
    Analysed(
        Box<ClassCoverage>,
        Option<(Warning, String)>,
        Vec<probes::Failure>,
    ),
    /// Not selected: the class's name.
    NotSelected(String),
    /// Generated at run time: the class's id.
    Generated(u64),
    /// Excluded by an annotation: the class's internal name.
    Excluded(String),
    /// Nothing to report.
    LeftOut,
    /// Failed: the origin of the class file, and the cause.
    Failed(String, String),
    /// A class file whose class was recorded from other files: its counters, and the ids of the
    /// other files.
    NoMatch(Warning, Option<Box<ClassCoverage>>, Vec<u64>),
    /// A class with hits carried over from other versions, and the ids of the other versions.
    CarriedOver(Box<ClassCoverage>, CarriedOver, Vec<u64>),
}

impl<'r> Analysis<'r> {
    fn new(
        recorded: &'r ExecutionDataStore,
        filter: &'r Filter,
        warnings: &'r mut Warnings,
        progress: &'r dyn Progress,
    ) -> Self {
        Self {
            inlining: Vec::new(),
            unmeasured: Unmeasured::of(recorded),
            without_room: Vec::new(),
            sources: None,
            place: String::new(),
            recorded,
            filter,
            options: AnalysisOptions::default(),
            loaded_alone: false,
            carried: CarriedTotal::default(),
            warnings,
            builder: BundleBuilder::default(),
            any: false,
            generated: HashSet::new(),
            excluded: HashSet::new(),
            unselected: Vec::new(),
            done: HashSet::new(),
            known: HashSet::new(),
            missing: Vec::new(),
            damaged: None,
            other_versions: HashSet::new(),
            not_matching: Vec::new(),
            progress,
        }
    }

    /// Returns the counters of a module.
    fn module(
        &mut self,
        module: &ReportModule,
        sources: &'r Sources,
    ) -> Result<BundleCoverage, Error> {
        self.sources = Some(sources);
        if module.classes.is_empty() {
            self.recorded_classes();
            self.warn_of_unknown();
        }
        for place in &module.classes {
            self.place(place)?;
        }
        if let Some(problem) = self.damaged.take() {
            return Err(problem);
        }
        self.add_not_matching();
        Ok(self.bundle(&module.name))
    }

    fn recorded_classes(&mut self) {
        let (filter, progress) = (self.filter, self.progress);
        let (recorded, counting) = (self.recorded, self.options.counting);
        let kept = recorded
            .classes
            .iter()
            .filter(|class| class.bytes.is_some());
        let (left_out, kept): (Vec<_>, Vec<&MeasuredClass>) =
            kept.partition(|class| another_version_ran(class, recorded));
        self.progress.expect(kept.len());
        let left_out = left_out.iter().map(|class| class.id);
        self.done
            .extend(kept.iter().map(|class| class.id).chain(left_out));
        let analyse = |arena: &mut Arena, class: &&MeasuredClass| {
            progress.advance();
            arena.reset();
            let lines = recorded.begun_lines(class.id);
            analyse_recorded(class, lines, filter, counting, arena)
        };
        let outcomes = kept.par_iter().map_init(Arena::new, analyse);
        let outcomes: Vec<Outcome> = outcomes.collect();
        outcomes.into_iter().for_each(|outcome| self.take(outcome));
    }

    /// Returns the counters of the current module, and begins the next module.
    fn bundle(&mut self, name: &str) -> BundleCoverage {
        self.known.extend(self.done.drain());
        self.builder.remove(|name| {
            let mut ends = name.match_indices('$').map(|(end, _)| end);
            ends.any(|end| self.excluded.contains(&name[..end]))
        });
        let mut builder = std::mem::take(&mut self.builder);
        for class in &self.inlining {
            if !builder.has(&class.name) {
                builder.add_inlined(class);
            }
        }
        builder.build(name)
    }

    fn place(&mut self, place: &str) -> Result<(), Error> {
        place.clone_into(&mut self.place);
        self.progress.begin(place);
        let loader = self.recorded.loader.clone();
        let (read, batches) = mpsc::sync_channel(1);
        // A thread reads the next batch while this one analyses the last.
        let unreadable = thread::scope(|scope| {
            let reader = scope.spawn(move || {
                class_files::read_intact(place, &loader, &mut |found| {
                    let _ = read.send(found); // the receiver has gone only after a panic
                    Ok(())
                })
            });
            batches.into_iter().for_each(|found| self.found(found));
            reader.join().unwrap_or_else(|panic| resume_unwind(panic))
        })?;
        unreadable
            .into_iter()
            .for_each(|file| self.cannot_read(file));
        Ok(())
    }

    /// Analyses a batch of class files. Class files seen before are skipped.
    fn found(&mut self, found: Vec<LocatedClass>) {
        let ids: Vec<u64> = found
            .par_iter()
            .map(|found| fingerprint::of(&found.bytes))
            .collect();
        let fresh: Vec<(u64, LocatedClass)> = ids
            .into_iter()
            .zip(found)
            .filter(|(id, _)| !self.loaded_alone || self.recorded.by_id(*id).is_some())
            .filter(|(id, _)| self.done.insert(*id))
            .collect();
        self.progress.expect(fresh.len());
        let (recorded, filter, progress) = (self.recorded, self.filter, self.progress);
        let options = self.options;
        let analyse = |arena: &mut Arena, (id, found): &(u64, LocatedClass)| {
            progress.advance();
            arena.reset();
            analyse_found(*id, found, recorded, filter, options, arena)
        };
        let outcomes = fresh.par_iter().map_init(Arena::new, analyse);
        let outcomes: Vec<Outcome> = outcomes.collect();
        outcomes.into_iter().for_each(|outcome| self.take(outcome));
    }

    fn take(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Analysed(class, left_out, without_room) => {
                if let Some((warning, told)) = left_out {
                    self.warnings.add(warning);
                    self.missing.push(escape::line(&told).to_string());
                }
                self.without_room = without_room;
                let class = self.placed(*class);
                self.add(class);
            }
            Outcome::NotSelected(name) => self.unselected.push(name),
            Outcome::Generated(id) => drop(self.generated.insert(id)),
            Outcome::Excluded(name) => {
                self.any = true;
                self.excluded.insert(name);
            }
            Outcome::LeftOut => (),
            Outcome::Failed(origin, cause) => self.cannot_analyse(&origin, cause),
            Outcome::NoMatch(warning, class, ran) => {
                self.other_versions.extend(ran);
                match class {
                    Some(class) => {
                        let class = self.placed(*class);
                        self.not_matching.push((warning, class));
                    }
                    None => self.warnings.add(warning),
                }
            }
            Outcome::CarriedOver(class, carried, ran) => {
                self.carried.add(carried);
                self.other_versions.extend(ran);
                let class = self.placed(*class);
                self.add(class);
            }
        }
    }

    /// Returns a class with its source file.
    fn placed(&self, mut class: ClassCoverage) -> ClassCoverage {
        if let Some(sources) = self.sources {
            class.source_copy = sources.copy_of(&class, &self.place);
        }
        class
    }

    /// Adds the classes whose other versions ran, unless the module has the version that ran.
    fn add_not_matching(&mut self) {
        for (warning, class) in std::mem::take(&mut self.not_matching) {
            if !self.builder.has(&class.name) {
                self.warnings.add(warning);
                self.add(class);
            }
        }
    }

    fn cannot_read(&mut self, Unreadable { origin, problem }: Unreadable) {
        let cause = problem.summary();
        let told = left_out(&origin, &cause);
        self.lacks(&origin, cause, &told, problem);
    }

    fn cannot_analyse(&mut self, origin: &str, cause: String) {
        let problem = Error::mistake(codes::H0613, format!("{origin} cannot be analysed"));
        let problem = problem.with("found", cause.as_str());
        let told = format!("the class {origin}, which cannot be analysed: {cause}");
        self.lacks(origin, cause, &told, problem);
    }

    /// Records a class that the report omits, or keeps `problem` to end the command.
    fn lacks(&mut self, origin: &str, cause: String, told: &str, problem: Error) {
        if self.options.strict_inputs {
            self.damaged.get_or_insert(problem);
            return;
        }
        self.missing.push(escape::line(told).to_string());
        let warning = Warning::new(codes::H0619, format!("{origin} is left out of the report"));
        let warning = warning.with("cause", cause).of_missing();
        self.warnings
            .add(warning.with("help", "--strict-inputs makes this an error"));
    }

    fn add(&mut self, mut class: ClassCoverage) {
        self.any = true;
        let without_room = std::mem::take(&mut self.without_room);
        if !class.no_match && !self.unmeasured.leave_out(&mut class, without_room) {
            return;
        }
        // Counts of another version of the class do not apply to this one.
        let counts = self.recorded.counts.get(&class.name);
        let counts = counts.filter(|_| !class.no_match && class.carried_over.is_none());
        for count in counts.into_iter().flatten() {
            class.count(&count.method, &count.descriptor, count.line, count.times);
            if count.is_entry {
                class.count_entries(&count.method, &count.descriptor, count.times);
            }
        }
        if let Err(BundleError::DifferentClass {
            name,
            first,
            second,
        }) = self.builder.add(class)
        {
            let message = format!("there are two versions of {name}; the report holds the first");
            let ids = format!("ids {first:016x} and {second:016x}");
            self.warnings
                .add(Warning::new(codes::H0617, message).with("found", ids));
        }
    }

    /// Returns the recorded classes without a class file.
    fn unknown(&self) -> impl Iterator<Item = &MeasuredClass> {
        let classes = self.recorded.classes.iter();
        let places = [&self.done, &self.known, &self.other_versions];
        classes.filter(move |class| !places.iter().any(|known| known.contains(&class.id)))
    }

    /// Warns about recorded classes without a class file: no report holds them.
    fn warn_of_unknown(&mut self) {
        let unknown: Vec<_> = self.unknown().collect();
        let Some(first) = unknown.first() else { return };
        let message = format!(
            "{} recorded classes are not in the report: their class files are missing",
            unknown.len()
        );
        let warning = Warning::new(codes::H0618, message).with(
            "found",
            format!("{} (id {:016x}), for example", first.name, first.id),
        );
        self.warnings.add(warning.with(
            "help",
            "name the folders and jars that the program ran from with --classes",
        ));
    }
}

/// Checks whether no probe of this class was hit, but one of another recorded version was: a
/// baseline lists every version in a multi-release jar.
fn another_version_ran(class: &MeasuredClass, recorded: &ExecutionDataStore) -> bool {
    let ran = |class: &MeasuredClass| class.probes.contains(&true);
    let mut versions = recorded.ids_of(&class.name).iter();
    !ran(class)
        && versions.any(|id| {
            let version = recorded.by_id(*id);
            version.is_some_and(|version| version.bytes.is_some() && ran(version))
        })
}

fn analyse_recorded(
    class: &MeasuredClass,
    lines: &[bool],
    filter: &Filter,
    counting: Counting,
    arena: &Arena,
) -> Outcome {
    let Some(bytes) = &class.bytes else {
        return Outcome::LeftOut;
    };
    match bytes.inflate() {
        Ok(bytes) => {
            let file = ClassBytes {
                origin: &class.name,
                id: class.id,
                bytes: &bytes,
                counting,
            };
            analyse(&file, filter, None, arena, |_| {
                ExecutedCode::These(Some(&class.probes), lines)
            })
        }
        Err(error) => Outcome::Failed(class.name.clone(), error.to_string()),
    }
}

fn analyse_found(
    id: u64,
    found: &LocatedClass,
    recorded: &ExecutionDataStore,
    filter: &Filter,
    options: AnalysisOptions,
    arena: &Arena,
) -> Outcome {
    let file = ClassBytes {
        origin: &found.origin,
        id,
        bytes: &found.bytes,
        counting: options.counting,
    };
    analyse(&file, filter, Some(&found.origin), arena, |class| {
        let carried = options
            .carry_over
            .then(|| versions::carry_over(class, recorded));
        if let Some(carried) = carried.flatten() {
            return ExecutedCode::Carried(carried);
        }
        let ids = recorded.ids_of(class.name);
        match (recorded.by_id(id), ids) {
            (Some(loaded), _)
                if !was_executed(loaded, recorded) && other_ran(id, ids, recorded) =>
            {
                ExecutedCode::Other(
                    no_match(found, class, &executed(ids, recorded), recorded),
                    ids.to_vec(),
                )
            }
            (Some(class), _) => ExecutedCode::These(Some(&class.probes), recorded.begun_lines(id)),
            (None, []) if changed_by(found).is_none() => ExecutedCode::These(None, &[]),
            (None, ids) => ExecutedCode::Other(no_match(found, class, ids, recorded), ids.to_vec()),
        }
    })
}

/// Checks whether a recorded class has a hit, or a line that began.
fn was_executed(class: &MeasuredClass, recorded: &ExecutionDataStore) -> bool {
    class.probes.contains(&true) || recorded.begun_lines(class.id).contains(&true)
}

/// Returns the ids of the executed versions of a class.
fn executed(ids: &[u64], recorded: &ExecutionDataStore) -> Vec<u64> {
    let ran = |id: &&u64| {
        let class = recorded.by_id(**id);
        class.is_some_and(|class| was_executed(class, recorded))
    };
    ids.iter().filter(ran).copied().collect()
}

/// Checks whether another version of a class was executed.
fn other_ran(id: u64, ids: &[u64], recorded: &ExecutionDataStore) -> bool {
    executed(ids, recorded).iter().any(|other| *other != id)
}

/// A class file that is analysed.
struct ClassBytes<'b> {
    /// Location for messages.
    origin: &'b str,
    /// Fingerprint of the class file.
    id: u64,
    bytes: &'b [u8],
    counting: Counting,
}

/// Executed code of a class.
enum ExecutedCode<'p> {
    /// Hits by probe and by line; the probes are absent if the class did not run.
    These(Option<&'p [bool]>, &'p [bool]),
    /// Probes and lines, some carried over from other versions.
    Carried(CarriedHits),
    /// Only other versions ran, with these ids.
    Other(Warning, Vec<u64>),
}

/// Analyses one class, described in `arena`, with the probes that `executed` returns for it.
fn analyse<'p>(
    file: &ClassBytes<'_>,
    filter: &Filter,
    place: Option<&str>,
    arena: &Arena,
    executed: impl FnOnce(&ClassDescription<'_>) -> ExecutedCode<'p>,
) -> Outcome {
    let class = match describe_as(file.id, file.bytes, arena) {
        Ok(class) if class.is_module_or_package() || is_ours(class.name) => {
            return Outcome::LeftOut;
        }
        Ok(class) if place.is_none() && is_generated(&class) => {
            return Outcome::Generated(file.id);
        }
        Ok(class) if filter.excluded().any(class.annotations) => {
            return Outcome::Excluded(class.name.to_owned());
        }
        Ok(class) if filter.wants(&class, place) => class,
        Ok(class) => return Outcome::NotSelected(binary(class.name)),
        Err(error) => return Outcome::Failed(file.origin.to_owned(), error.to_string()),
    };
    let counting = file.counting;
    let mut outcome = match executed(&class) {
        ExecutedCode::These(probes, lines) => match analyze_as(counting, &class, probes, lines) {
            Ok(coverage) => Outcome::Analysed(
                Box::new(coverage),
                without_probes(&class),
                probes.map_or(Vec::new(), |_| unmeasured::without_room(&class)),
            ),
            Err(error) => Outcome::Failed(file.origin.to_owned(), error.to_string()),
        },
        ExecutedCode::Carried(carried) => {
            match analyze_as(counting, &class, Some(&carried.probes), &carried.lines) {
                Ok(mut coverage) => {
                    coverage.no_match = !carried.is_exact;
                    coverage.carried_over = Some(carried.over);
                    Outcome::CarriedOver(Box::new(coverage), carried.over, carried.ran)
                }
                Err(error) => Outcome::Failed(file.origin.to_owned(), error.to_string()),
            }
        }
        ExecutedCode::Other(warning, ran) => {
            let class = analyze_as(counting, &class, None, &[])
                .ok()
                .map(|mut class| {
                    class.no_match = true;
                    Box::new(class)
                });
            Outcome::NoMatch(warning, class, ran)
        }
    };
    if let Outcome::Analysed(coverage, ..)
    | Outcome::CarriedOver(coverage, ..)
    | Outcome::NoMatch(_, Some(coverage), _) = &mut outcome
    {
        filter.excluded().leave_out(&class, coverage);
    }
    outcome
}

/// Checks for a class of the runtime that `classhook instrument --embed` adds to the program's
/// classes.
fn is_ours(class: &str) -> bool {
    let package = class_array::RUNTIME.rsplit_once('/');
    package.is_some_and(|(package, _)| class.rsplit_once('/').is_some_and(|it| it.0 == package))
}

/// Returns a warning and a sentence about methods that cannot have probes. The report omits them.
fn without_probes(class: &ClassDescription<'_>) -> Option<(Warning, String)> {
    let mut methods = coverage::analysis::unmeasured(class);
    let (first, _) = methods.next()?;
    let count = methods.count() + 1;
    let message = format!(
        "{} has {} that cannot be measured",
        class.name,
        counted(count, "method")
    );
    let method = format!("{}{}", first.name, first.descriptor);
    let others = match count {
        1 => String::new(),
        _ => format!(" and {} of its class", counted(count - 1, "more method")),
    };
    let told = format!(
        "the method {}.{method}{others}, not measured: {SUBROUTINES}",
        binary(class.name)
    );
    let warning = Warning::new(codes::H0623, message).with("found", method);
    Some((warning.with("cause", SUBROUTINES).of_missing(), told))
}

/// The reason why a method with subroutines has no probes.
const SUBROUTINES: &str = "a subroutine (jsr, ret) calls itself, or has so many calls that no method holds a copy for each";

/// Returns cause and remedy if JaCoCo changed one of the recorded classes with these ids: with its
/// agent, or offline before the program ran.
fn changed_by_jacoco(
    ids: &[u64],
    recorded: &ExecutionDataStore,
) -> Option<(&'static str, &'static str)> {
    let kept = ids.iter();
    let kept = kept.filter_map(|id| recorded.by_id(*id)?.bytes.as_ref()?.inflate().ok());
    let changed: Vec<Vec<u8>> = kept.filter(|bytes| holds_jacoco(bytes)).collect();
    let is_offline = |bytes: &Vec<u8>| ClassFile::read(bytes).is_ok_and(|it| asks_offline(&it));
    match changed.is_empty() {
        true => None,
        false if changed.iter().any(is_offline) => Some((
            "JaCoCo had instrumented the program's classes offline",
            "run the compiler's classes, or report the .exec file that JaCoCo writes",
        )),
        false => Some((
            "JaCoCo's agent is in that JVM, too, and changes each class before Classhook's",
            "start the program without JaCoCo's agent (Maven: -Djacoco.skip=true), or report its .exec file",
        )),
    }
}

/// Checks whether a class fetches its probes from JaCoCo's runtime, as offline instrumented classes
/// do.
fn asks_offline(class: &ClassFile<'_>) -> bool {
    let mut indices = (1..class.pool().count()).map(PoolIndex);
    indices.any(|index| {
        let name = class.pool().class_name(index);
        name.is_some_and(|name| {
            let name = name.as_bytes();
            name.starts_with(b"org/jacoco/") && name.ends_with(b"/Offline")
        })
    })
}

/// Returns the tool that changed a class file, if the code shows one.
fn changed_by(found: &LocatedClass) -> Option<&'static str> {
    let class = ClassFile::read(&found.bytes).ok()?;
    if class_array::is_instrumented(&class) {
        return Some("`classhook instrument`");
    }
    holds_jacoco(&found.bytes).then_some("JaCoCo")
}

fn no_match(
    found: &LocatedClass,
    class: &ClassDescription<'_>,
    ids: &[u64],
    recorded: &ExecutionDataStore,
) -> Warning {
    let by_jacoco = || changed_by_jacoco(ids, recorded);
    let by_tool = changed_by(found).map(|tool| {
        (
            format!("{tool} has changed this file"),
            "name the compiler's class files",
        )
    });
    let by_tool = by_tool.or_else(|| by_jacoco().map(|(cause, help)| (cause.to_owned(), help)));
    let is_by_tool = by_tool.is_some();
    let (cause, help) = match by_tool {
        Some(found) => found,
        None => (
            "it was recompiled, another location has the version that ran, or another agent changed it at load time"
                .to_owned(),
            "name the class files of the recorded program, or record again. --carry-over counts unchanged methods; without --classes the report covers the classes that ran",
        ),
    };
    let listed: Vec<String> = ids.iter().map(|id| format!("{id:016x}")).collect();
    let message = match ids {
        [] => format!("{} is not the file that the program loads", class.name),
        _ => format!("no match for {}: another version of it ran", class.name),
    };
    let warning = Warning::new(codes::H0622, message);
    // The execution of the class is unknown then.
    let warning = match is_by_tool {
        true => warning.of_missing(),
        false => warning,
    };
    let warning = match ids {
        [] => warning,
        _ => warning.with("expected", format!("id {}", listed.join(" or "))),
    };
    warning
        .with("found", format!("id {:016x} in {}", class.id, found.origin))
        .with("cause", cause)
        .with("note", "the report shows it as not executed")
        .with("help", help)
}
