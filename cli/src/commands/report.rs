//! `classhook report`: makes reports of what runs left.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use coverage::model::BundleCoverage;
use coverage::report::table::{self, Layout};
use probes::Meta;

use crate::analysis::{self, Analysed};
use crate::args::{Material, Outputs};
use crate::inputs::execution_data::ExecutionDataStore;
use crate::inputs::run_files::{self, Kind};
use crate::inputs::sources::Sources;
use crate::problem::{PARTIAL, Problem};
use crate::select::Filter;
use crate::show::{self, complain};
use crate::terminal;
use crate::traces::{self, TraceOutputs};
use crate::warnings::{Warning, Warnings};

const AFTER_HELP: &str = "\
A snapshot holds the classes that were loaded, so nothing else is needed to report them.
--classes decides what is reported: the classes found there, loaded or not, and no others.
--sources shows the lines in HTML.
Several files are united; JaCoCo's .exec files may be among them, and then need --classes.
Of event files (.events) the table of traced methods is printed, and what shows single calls is written if asked for.

Examples:
  classhook report classhook
  classhook report out/*.hook --classes app.jar --sources src --html out/html --xml out/coverage.xml
  classhook report out --flame-graph flame.svg --perfetto trace.json
  classhook report jacoco.exec --classes build/classes --lcov lcov.info
  classhook report out --classes jrt:java.sql --sources /usr/lib/jvm/jdk/lib/src.zip --select 'java.sql.**' --html out/html";

/// Makes reports of what was recorded: coverage and traces.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Report {
    /// Snapshots (.hook), event files (.events) and JaCoCo's files (.exec), or folders that hold them
    #[arg(required = true, value_name = "SNAPSHOT|DIR")]
    pub files: Vec<PathBuf>,
    /// Only these classes: com.acme.**, @annotation, <:supertype; `!` in front excludes; may be repeated
    #[arg(long, value_name = "SELECTOR")]
    pub select: Vec<String>,
    /// Where classes and sources are.
    #[command(flatten)]
    pub material: Material,
    /// Which reports to write.
    #[command(flatten)]
    pub outputs: Outputs,
    /// What to make of traces.
    #[command(flatten)]
    pub trace: TraceOutputs,
}

impl Report {
    /// Makes the reports; without any, prints the summary.
    ///
    /// # Errors
    /// If something cannot be read or written.
    pub fn run(&self) -> Result<u8, Problem> {
        self.outputs.check(&self.trace.files())?;
        let files = run_files::find(&self.files)?;
        let filter = Filter::of_report(&self.select, !self.material.classes.is_empty())?;
        let mut warnings = Warnings::default();
        let mut traced = Ok(());
        let (events, files) = split(files)?;
        if !events.is_empty() {
            let traces = traces::read(&events, &filter, &mut warnings)?;
            if !self.outputs.any() && !files.iter().any(|path| holds_coverage(path)) {
                warnings.print();
                self.trace.make(&traces, None)?;
                return Ok(0);
            }
            traced = self.trace.make(&traces, None);
            if traced
                .as_ref()
                .is_err_and(|problem| problem.exit() != PARTIAL)
            {
                return traced.map(|()| 0);
            }
        }
        let summary = !self.outputs.any();
        let recorded = make(
            &files,
            &filter,
            &self.material,
            &self.outputs,
            summary,
            &mut warnings,
        )?;
        both(traced, recorded.is_complete()).map(|()| 0)
    }
}

/// The last of two problems; the first is printed if there are both.
fn both(first: Result<(), Problem>, last: Result<(), Problem>) -> Result<(), Problem> {
    if let (Err(problem), Err(_)) = (&first, &last) {
        complain(format_args!("{problem}\n"));
    }
    last.and(first)
}

/// Event files, and what may hold coverage.
fn split(files: Vec<PathBuf>) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Problem> {
    let (mut events, mut others) = (Vec::new(), Vec::new());
    for path in files {
        match run_files::kind(&path)? {
            Kind::Events => events.push(path),
            Kind::Snapshot | Kind::Exec => others.push(path),
        }
    }
    Ok((events, others))
}

/// Every JVM leaves a snapshot, also one that was only traced.
fn holds_coverage(path: &Path) -> bool {
    let is_coverage = |plugin: &String| plugin.split('@').next() == Some("coverage");
    Meta::read(path).map_or(true, |meta| meta.plugins.iter().any(is_coverage))
}

/// Reads files of runs, analyses them, writes and prints; the summary also if a report cannot be written.
pub(super) fn make(
    files: &[PathBuf],
    filter: &Filter,
    material: &Material,
    outputs: &Outputs,
    summary: bool,
    warnings: &mut Warnings,
) -> Result<ExecutionDataStore, Problem> {
    let sources = Sources::open(&material.sources)?;
    let recorded = ExecutionDataStore::read(files, warnings)?;
    let Analysed { bundle, elsewhere } = analysis::analyse_all(
        outputs.title(),
        &recorded,
        &material.classes,
        filter,
        warnings,
    )?;
    warn_of_failures(&recorded, &bundle, material, warnings);
    warnings.print();
    let mut written = Vec::new();
    let outcome = outputs.write(&bundle, &recorded, &sources, &mut written);
    let mut out = std::io::stdout().lock();
    let mut print = || -> std::io::Result<()> {
        if summary {
            table::write_with(&bundle, &layout(), &mut out)?;
            for missing in recorded.missing() {
                writeln!(out, "incomplete: {missing}")?;
            }
        }
        if !material.classes.is_empty() && elsewhere > 0 {
            writeln!(out, "{}", not_in(&material.classes, elsewhere))?;
        }
        written
            .iter()
            .try_for_each(|path| writeln!(out, "wrote {}", show::path(path)))
    };
    match print() {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Problem::ours("H0624", "cannot write to standard output")
                .with("found", error.to_string()))
        }
        // Whoever read a part of the table has had enough.
        _ => match both(recorded.is_complete(), outcome) {
            Err(problem) if problem.exit() != PARTIAL => Err(problem),
            _ => Ok(recorded),
        },
    }
}

/// What is said of the recorded classes that are in none of the places.
fn not_in(places: &[String], count: usize) -> String {
    let first = places.first().map_or("", String::as_str);
    let more = match places.len() {
        0 | 1 => String::new(),
        count => format!(" and {} more places", count - 1),
    };
    let first = show::name(first);
    format!("{count} recorded classes are not reported: they are not in {first}{more}")
}

/// Warns of the classes that ran without probes; if places say what is reported, only of those that are.
fn warn_of_failures(
    recorded: &ExecutionDataStore,
    bundle: &BundleCoverage,
    material: &Material,
    warnings: &mut Warnings,
) {
    let reported: HashSet<&str> = bundle.classes().map(|class| class.name.as_str()).collect();
    let failures = recorded.failures.iter();
    let of_report = failures
        .filter(|failure| material.classes.is_empty() || reported.contains(failure.class.as_str()));
    warnings.extend(of_report.map(unchanged));
}

/// As wide as the terminal, and coloured there.
fn layout() -> Layout {
    let plain = Layout::default();
    Layout {
        width: terminal::width().unwrap_or(plain.width),
        colours: terminal::colours(),
        ..plain
    }
}

fn unchanged(failure: &probes::Failure) -> Warning {
    let message = format!(
        "{} ran without probes: it was loaded unchanged after a failure ({})",
        failure.class, failure.code
    );
    let warning = Warning::new("H0625", message);
    let warning = if failure.method.is_empty() {
        warning
    } else {
        warning.with("at", failure.method.clone())
    };
    warning.with("cause", failure.message.clone())
}
