//! Reads the event files of a command, and selects their classes.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use agent_connection::attached::VisitOutcome;
use class_selection::filter::Filter;
use class_selection::nearest;
use coverage_inputs::damaged_files::DamagedFiles;
use coverage_inputs::execution_data::COUNTS;
use coverage_inputs::run_files::{self, RunFileKind};
use errors::{Error, Warnings, codes};
use jvms::names;
use local_files::recording_jvm;
use probes::Meta;
use probes::events::{ClassNames, SpanInfo, Trace};
use standard_streams::show::complain;
use trace::recording::{Recording, Scratch};

/// Reads event files, with the classes that `filter` selects. Files that are damaged, of a newer
/// version or of another kind are recorded in `damaged`.
///
/// # Errors
/// As [`DamagedFiles::unless_damaged`], and if the filter needs data that a file lacks, or selects
/// no class (`H0606`, `H0671`).
pub fn read(
    paths: &[PathBuf],
    filter: &Filter,
    scratch: &Scratch,
    damaged: &mut DamagedFiles,
    warnings: &mut Warnings,
) -> Result<Vec<Recording>, Error> {
    let mut recordings = Vec::new();
    let mut found = BTreeSet::new();
    for path in paths {
        let read = run_files::read_recording(path, scratch, warnings);
        let Some(mut recording) = damaged.unless_damaged(path, read, warnings)?.flatten() else {
            continue;
        };
        let trace = &recording.trace;
        let spans = trace.spans.values().chain(trace.places.values());
        let classes = spans.filter(|span| is_of_calls(span));
        found.extend(classes.map(|span| (names::binary(&span.class), span.loader.clone())));
        select(&mut recording, path, filter)?;
        recordings.push(recording);
    }
    let is_empty = |one: &Recording| one.trace.spans.is_empty() && one.trace.places.is_empty();
    if !found.is_empty() && recordings.iter().all(is_empty) {
        let (classes, loaders): (Vec<_>, BTreeSet<_>) = found.into_iter().unzip();
        let loaders: Vec<_> = loaders.into_iter().collect();
        return Err(nearest::selection(filter, &classes, &loaders));
    }
    Ok(recordings)
}

/// Removes the classes of an event file that `filter` does not select, by the recorded data of each
/// class.
///
/// # Errors
/// `H0606` if a selector needs names of class files that the file does not have.
fn select(recording: &mut Recording, path: &Path, filter: &Filter) -> Result<(), Error> {
    let trace = &recording.trace;
    let mut names: HashMap<(String, String), ClassNames> = HashMap::new();
    for span in trace.spans.values().chain(trace.places.values()) {
        if let Some(found) = &span.class_names {
            let class = (span.class.clone(), span.loader.clone());
            names.entry(class).or_insert_with(|| found.clone());
        }
    }
    let has_spans = trace.spans.values().any(is_of_calls) || !trace.places.is_empty();
    if names.is_empty() && has_spans && filter.asks_class() {
        let file = path.display();
        let message = format!("{file} has no annotations and supertypes of its classes");
        return Err(Error::mistake(codes::H0606, message).with(
            "help",
            "an older agent recorded it: select by name, com.acme.** or com.acme.Store",
        ));
    }
    recording.retain(|span| {
        let class = (span.class.clone(), span.loader.clone());
        is_of_calls(span) && filter.wants_recorded(&span.class, &span.loader, names.get(&class))
    });
    Ok(())
}

/// Checks whether a span holds calls or events. The counters of lines belong to a coverage report.
#[must_use]
pub fn is_of_calls(span: &SpanInfo) -> bool {
    span.plugin != COUNTS
}

/// Reads the event files for a comparison.
///
/// # Errors
/// If no file is found (`H0610`), or one cannot be read.
pub(crate) fn before(
    path: &Path,
    filter: &Filter,
    scratch: &Scratch,
) -> Result<Vec<Recording>, Error> {
    let mut files = run_files::find(&[path.to_owned()])?;
    if path.is_dir() {
        files.retain(|path| run_files::kind(path).is_ok_and(|kind| kind == RunFileKind::Events));
    }
    let mut warnings = Warnings::default();
    let recordings = read(
        &files,
        filter,
        scratch,
        &mut DamagedFiles::new(true),
        &mut warnings,
    )?;
    complain(&warnings);
    if recordings.iter().all(|one| one.trace.single.calls() == 0) {
        let message = format!("{} has no single calls to compare with", path.display());
        return Err(Error::mistake(codes::H0610, message)
            .with("expected", "an event file (.events) with single calls")
            .with(
                "help",
                "`classhook trace` without --aggregate and --count writes one",
            ));
    }
    Ok(recordings)
}

/// Reads the traces of the JVMs of one run.
///
/// # Errors
/// If the folder cannot be read.
pub fn of_run(
    run: &str,
    folder: &Path,
    scratch: &Scratch,
    warnings: &mut Warnings,
) -> Result<Vec<Recording>, Error> {
    let mut recordings = Vec::new();
    if !folder.is_dir() {
        return Ok(recordings);
    }
    let mut damaged = DamagedFiles::default();
    for path in run_files::in_folder(folder)? {
        let mut warned = Warnings::default();
        if !run_files::kind(&path).is_ok_and(|kind| kind == RunFileKind::Events) {
            continue; // also for unknown files
        }
        if Meta::of_file(&path).is_ok_and(|meta| meta.run != run) {
            continue; // the file may be long
        }
        let read = run_files::read_recording(&path, scratch, &mut warned);
        if let Some(Some(mut recording)) = damaged.unless_damaged(&path, read, warnings)?
            && recording.trace.meta.run == run
        {
            recording.retain(is_of_calls);
            warnings.merge(warned);
            recordings.push(recording);
        }
    }
    Ok(recordings)
}

/// Reads the traces of the visited JVM.
///
/// # Errors
/// If the files cannot be read.
pub fn of_visit(
    ended: &VisitOutcome,
    scratch: &Scratch,
    warnings: &mut Warnings,
) -> Result<Vec<Recording>, Error> {
    let mut recordings = Vec::new();
    for path in event_files(&ended.snapshot)? {
        let mut warned = Warnings::default();
        let read = run_files::read_recording(&path, scratch, &mut warned)?;
        if let Some(mut recording) = read {
            recording.retain(is_of_calls);
            // An agent that stays has not completed its file yet.
            if ended.dump.is_none() || recording.trace.truncated {
                warnings.merge(warned);
            }
            recordings.push(recording);
        }
    }
    Ok(recordings)
}

/// Returns the sums of recordings, without single calls.
pub fn traces(recordings: &[Recording]) -> impl Iterator<Item = &Trace> + Clone {
    recordings.iter().map(|recording| &recording.trace)
}

/// Returns the traced methods in the JVM of this snapshot, called or not, as far as its agent has
/// written them.
///
/// # Errors
/// If the files cannot be read.
pub fn methods(snapshot: &Path) -> Result<Vec<SpanInfo>, Error> {
    let mut methods = Vec::new();
    for path in event_files(snapshot)? {
        let trace = run_files::read_sums(&path, &mut Warnings::default())?;
        methods.extend(
            trace
                .into_iter()
                .flat_map(|trace| trace.spans.into_values()),
        );
    }
    Ok(methods)
}

/// Returns the event files of the JVM that writes a snapshot.
///
/// # Errors
/// If the folder or a file in it cannot be read.
pub fn event_files(snapshot: &Path) -> Result<Vec<PathBuf>, Error> {
    let folder = snapshot.parent().unwrap_or(Path::new("."));
    let mut files = run_files::in_folder(folder)?;
    let jvm = recording_jvm::jvm_of(snapshot);
    files.retain(|path| recording_jvm::jvm_of(path) == jvm);
    let mut found = Vec::new();
    for path in files {
        if run_files::kind(&path)? == RunFileKind::Events {
            found.push(path);
        }
    }
    Ok(found)
}
