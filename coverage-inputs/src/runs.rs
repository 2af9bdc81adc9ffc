//! Finds the runs in a folder, and chooses the one to report.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use errors::Error;
use local_files::recording_jvm::Jvm;
use probes::{Meta, date_and_time};
use trace::numbers::counted;

use super::execution_data::PLUGIN;
use super::run_files;

/// The files to report, and notes about their runs.
#[derive(Debug, Default)]
pub struct RunSelection {
    /// The files, in order of folders and names.
    pub files: Vec<PathBuf>,
    /// One line for each folder that holds several runs.
    pub notes: Vec<String>,
}

/// Finds run files as [`run_files::find`], but only those of the last run in a folder with several.
///
/// A file without the id of a run stays: JaCoCo's files, baselines, merged snapshots and files of
/// agents without `run`.
///
/// # Errors
/// As [`run_files::find`].
pub fn find(paths: &[PathBuf], all_runs: bool) -> Result<RunSelection, Error> {
    let mut found = RunSelection::default();
    for path in paths {
        let files = run_files::find(std::slice::from_ref(path))?;
        if !path.is_dir() {
            found.files.extend(files);
            continue;
        }
        // Traces and measurements are separate: a trace in the folder of an earlier measurement
        // hides nothing.
        let both = [true, false].map(|measured| Runs::of(&files, measured));
        let notes = both.iter().filter_map(|runs| runs.note(path, all_runs));
        found.notes.extend(notes);
        let is_earlier = |file: &Path| both.iter().any(|runs| runs.is_earlier(file));
        let is_taken = |file: &PathBuf| all_runs || !is_earlier(file);
        found.files.extend(files.into_iter().filter(is_taken));
    }
    Ok(found)
}

/// The runs of a folder by their ids.
#[derive(Debug, Default)]
struct Runs {
    by_id: BTreeMap<String, Run>,
    of_file: BTreeMap<PathBuf, String>,
    without_id: usize,
}

#[derive(Debug, Default)]
struct Run {
    jvms: Vec<Jvm>,
    /// The start of its first JVM: milliseconds since 1970.
    start_ms: u64,
}

impl Runs {
    /// Collects the runs with coverage (`measured`), or those without.
    fn of(files: &[PathBuf], measured: bool) -> Self {
        let mut runs = Self::default();
        for file in files {
            let meta = Meta::of_file(file).ok();
            if meta.as_ref().is_some_and(is_measured) != measured {
                continue;
            }
            let Some(meta) = meta.filter(|meta| !meta.run.is_empty()) else {
                runs.without_id += 1;
                continue;
            };
            let jvm = Jvm::of(&meta);
            let run = runs.by_id.entry(meta.run.clone()).or_default();
            run.start_ms = match run.jvms.is_empty() {
                true => meta.start_ms,
                false => run.start_ms.min(meta.start_ms),
            };
            if !run.jvms.contains(&jvm) {
                run.jvms.push(jvm);
            }
            runs.of_file.insert(file.clone(), meta.run);
        }
        runs
    }

    /// Returns the run that began last.
    fn last(&self) -> Option<(&String, &Run)> {
        self.by_id.iter().max_by_key(|(_, run)| run.start_ms)
    }

    fn is_earlier(&self, file: &Path) -> bool {
        let last = self.last().map(|(id, _)| id);
        self.of_file.get(file).is_some_and(|run| Some(run) != last)
    }

    /// Formats the note about a folder with several runs.
    fn note(&self, folder: &Path, all_runs: bool) -> Option<String> {
        let (id, last) = self.last()?;
        let count = self.by_id.len();
        if count < 2 {
            return None;
        }
        let folder = escape::path(folder);
        if all_runs {
            let first = self.by_id.values().map(|run| run.start_ms).min()?;
            let (first, last) = (date_and_time(first), date_and_time(last.start_ms));
            return Some(format!(
                "runs: all {count} in {folder}, from {first} to {last} UTC"
            ));
        }
        let others = match self.without_id {
            0 => String::new(),
            files => format!(", with {} without a run id", counted(files, "file")),
        };
        Some(format!(
            "run {}: began {} UTC, {}{others}; {} left out of {folder} (--all-runs takes all)",
            escape::line(id),
            date_and_time(last.start_ms),
            counted(last.jvms.len(), "JVM"),
            match count - 1 {
                1 => "1 earlier run is".to_owned(),
                more => format!("{more} earlier runs are"),
            },
        ))
    }
}

/// Checks whether coverage was measured in a JVM.
fn is_measured(meta: &Meta) -> bool {
    let of_coverage = |plugin: &String| plugin.split('@').next() == Some(PLUGIN);
    meta.plugins.iter().any(of_coverage)
}
