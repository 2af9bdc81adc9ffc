//! `classhook merge`: merges the coverage of several runs into one snapshot.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use coverage_inputs::damaged_files::DamagedFiles;
use coverage_inputs::execution_data::{
    BegunLines, COUNTS, ExecutionDataStore, LINES, LoaderData, MeasuredClass, PLUGIN,
};
use coverage_inputs::runs::{self, RunSelection};
use errors::{Error, PARTIAL, Warning, Warnings, codes};
use local_files::atomic;
use probes::{BaselineWriter, Meta, ProbeLocation};
use standard_streams::show::{complain, path, say, show};
use trace::numbers::counted;

use crate::args::{ALL_RUNS, STRICT_INPUTS, output_path};

const AFTER_HELP: &str = "\
In a folder with several runs, the last run is merged and the others are named; --all-runs selects all.
The new snapshot holds the executed code of all runs with its tests, the class files and the sessions.
Its reports equal those of all files together, also by class loader if each file was recorded with --per-loader.
JaCoCo's .exec files contribute no class files.

Examples:
  classhook merge out/*.hook --to all.hook
  classhook merge unit-tests integration-tests jacoco.exec --to all.hook && classhook report all.hook --html html";

/// Merges the coverage of several runs into one snapshot.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Merge {
    /// Merge these snapshots (.hook) and JaCoCo's files (.exec), or folders with them
    #[arg(required = true, value_name = "SNAPSHOT|DIR")]
    pub files: Vec<PathBuf>,
    /// Write the recorded data to this file
    #[arg(long, value_name = "FILE", value_parser = output_path())]
    pub to: PathBuf,
    /// Merges all runs.
    #[arg(long, help = ALL_RUNS)]
    pub all_runs: bool,
    /// Fails on damaged inputs.
    #[arg(long, help = STRICT_INPUTS)]
    pub strict_inputs: bool,
}

impl Merge {
    /// Writes the snapshot and prints a summary.
    ///
    /// # Errors
    /// If no input can be read, or the snapshot cannot be written.
    pub fn run(&self) -> Result<u8, Error> {
        let RunSelection { files, notes } = runs::find(&self.files, self.all_runs)?;
        let mut warnings = Warnings::default();
        let mut damaged = DamagedFiles::new(self.strict_inputs);
        let mut recorded = ExecutionDataStore::read(&files, &mut damaged, &mut warnings)?;
        let is_partial = damaged.any()? || warnings.of_missing();
        if recorded.classes.is_empty() {
            return Err(Error::mistake(codes::H0610, "no coverage to merge").with(
                "expected",
                "snapshots or .exec files with at least one class",
            ));
        }
        if !recorded.counts.is_empty() {
            recorded.other_plugins.insert(COUNTS.to_owned());
        }
        if !recorded.other_plugins.is_empty() {
            warnings.add(other_plugins(&recorded));
        }
        let loaders = recorded.loaders_apart().unwrap_or_else(|cause| {
            warnings.add(loaders_united(cause));
            None
        });
        complain(&warnings);
        atomic::file(&self.to, &|out| write(&recorded, loaders, out))?;
        show(&format!(
            "merged {} into {}: {}, {}\n",
            counted(files.len() - damaged.left_out(), "file"),
            path(&self.to),
            counted(recorded.classes.len(), "class"),
            counted(recorded.sessions.len(), "session")
        ))?;
        notes.iter().for_each(say);
        recorded.is_complete()?;
        Ok(if is_partial { PARTIAL } else { 0 })
    }
}

fn other_plugins(recorded: &ExecutionDataStore) -> Warning {
    let names: Vec<&str> = recorded.other_plugins.iter().map(String::as_str).collect();
    Warning::new(codes::H0675, "only data of the plugin coverage is merged")
        .with("found", format!("results of {}", names.join(", ")))
        .with("help", "keep these files for the data of the other plugins")
}

fn loaders_united(cause: String) -> Warning {
    Warning::new(
        codes::H0675,
        "the data of all class loaders is merged as one",
    )
    .with("cause", cause)
    .with(
        "help",
        "merge only recordings made with --per-loader, or keep the files for reports with --per-loader",
    )
}

/// Merged data of each class loader, if it stays separate.
type Loaders<'a> = Option<&'a BTreeMap<String, LoaderData>>;

fn write(
    recorded: &ExecutionDataStore,
    loaders: Loaders<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let meta = Meta {
        per_loader: loaders.is_some(),
        ..meta(recorded)
    };
    let mut writer = BaselineWriter::new(out, &meta)?;
    let mut places = Vec::new();
    match loaders {
        Some(loaders) => {
            for (loader, of) in loaders {
                writer.of_loader(loader);
                write_classes(&mut writer, &of.classes, &of.lines)?;
            }
        }
        None => places = write_classes(&mut writer, &recorded.classes, &recorded.lines)?,
    }
    for test in &recorded.tests {
        writer.tested(test, &places)?;
    }
    if recorded.tests_cut_off {
        writer.tests_cut_off()?;
    }
    for failure in &recorded.failures {
        writer.failure(failure)?;
    }
    match recorded.unfinished {
        true => writer.abandon().map(drop),
        false => writer.finish().map(drop),
    }
}

/// Writes classes and their begun lines. Returns the positions of the classes in the snapshot.
fn write_classes(
    writer: &mut BaselineWriter<&mut dyn Write>,
    classes: &[MeasuredClass],
    lines: &[BegunLines],
) -> io::Result<Vec<ProbeLocation>> {
    let mut places = Vec::new();
    for class in classes {
        let bytes = class
            .bytes
            .as_ref()
            .map(|bytes| bytes.inflate())
            .transpose();
        let bytes = bytes.map_err(io::Error::other)?;
        let probes = (PLUGIN, class.probes.as_slice());
        places.push(writer.executed(&class.name, class.id, probes, bytes.as_deref())?);
    }
    for begun in lines {
        writer.executed(&begun.name, begun.id, (LINES, &begun.lines), None)?;
    }
    Ok(places)
}

/// Returns the header of the merged snapshot. It has no process id, and the newest JVM's version for multi-release jars.
fn meta(recorded: &ExecutionDataStore) -> Meta {
    let sessions = recorded.sessions.iter().map(|session| probes::Session {
        id: session.id.clone(),
        start_ms: session.start_ms,
        dump_ms: session.dump_ms,
        incomplete: session.incomplete.clone(),
        killed: session.killed.clone(),
    });
    let home = recorded.loader.java_home.as_ref();
    Meta {
        command: "classhook merge".to_owned(),
        agent_version: env!("CARGO_PKG_VERSION").to_owned(),
        java_feature: recorded.loader.java_feature,
        java_home: home
            .map(|home| home.display().to_string())
            .unwrap_or_default(),
        plugins: vec![PLUGIN.to_owned()],
        sessions: sessions.collect(),
        ..Meta::default()
    }
}
