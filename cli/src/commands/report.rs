//! `classhook report`: writes reports of recorded coverage and traces.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use class_selection::filter::Filter;
use coverage::filter::Counting;
use coverage::model::BundleCoverage;
use coverage::report::changed;
use coverage::report::per_test::PerTest;
use coverage::report::table::{self, Layout};
use coverage::report::{Module, Report as Whole};
use coverage_analysis::per_test::ReportTests;
use coverage_analysis::{AnalysisOptions, AnalysisResult, ReportModule, unmeasured};
use coverage_inputs::damaged_files::DamagedFiles;
use coverage_inputs::execution_data::{COUNTS, ExecutionDataStore, LINES, PLUGIN};
use coverage_inputs::jacoco_agents::JacocoAgents;
use coverage_inputs::run_files::{self, RunFileKind};
use coverage_inputs::runs::{self, RunSelection};
use coverage_inputs::sources::Sources;
use coverage_rules::requirements::{Requirements, Verdict};
use errors::{Error, PARTIAL, Warning, Warnings, codes};
use jvm_events::recorded::EXTENSION;
use probes::Meta;
use profiles::outputs::{FRAMES, ProfileOutputs};
use standard_streams::show::{self, complain, say};
use standard_streams::terminal;
use trace::numbers::counted;
use trace_reports::completeness;
use trace_reports::completeness::StreamedLines;
use trace_reports::outputs::TraceOutputs;
use trace_reports::plugin_tables;
use trace_reports::recorded;

use crate::analysis_progress::AnalysisBar;
use crate::args::{Outputs, Recorded, ReportInputs};
use crate::project_classes;
use crate::report_plugins::ReportPlugins;
use crate::rule_options::RuleOptions;
use crate::trace_arguments::SlowArguments;
use crate::trace_arguments::TraceArguments;

/// Limit of lines below a table that name gaps of the report.
const NAMED_GAPS: usize = 20;

const AFTER_HELP: &str = "\
A snapshot contains the loaded classes, so a report of them needs no other input.
--classes selects the classes of the report: those in its folders and jars, loaded or not, and no others.
--sources shows the source lines in HTML.
--diff limits every report and every rule to changed lines.
Several files are merged. JaCoCo's .exec files are accepted too, and need --classes.
In a folder with several runs, the last run is reported and the others are named; --all-runs selects all.
Each output FILE can be -, for standard output. The table then goes to standard error.
For event files (.events), the table of traced methods is printed. Files of single calls are optional.

Examples:
  classhook report classhook
  classhook report out/*.hook --classes app.jar --sources src --html out/html --xml out/coverage.xml
  classhook report out --lcov lcov.info --sources src --fail-under line=80,branch=70
  classhook report out --diff origin/main --sources src --markdown changes.md --fail-under line=80
  classhook report out --module core=core/target/classes,core/src --module web=web/target/classes,web/src --html html
  classhook report out --flame-graph flame.svg --perfetto trace.json
  classhook report out --slow 200ms
  classhook report out --per-test --sources src --html out/html --lcov out/lcov.info
  classhook report out --plugin allocations.wasm --results-csv tables
  classhook report jacoco.exec --classes build/classes --lcov lcov.info
  classhook report out --classes jrt:java.sql --sources /usr/lib/jvm/jdk/lib/src.zip --select 'java.sql.**' --html out/html";

/// Writes reports of recorded coverage and traces.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Report {
    /// The recorded files.
    #[command(flatten)]
    pub recorded: Recorded,
    /// Files of the coverage report.
    #[command(flatten)]
    pub outputs: Outputs,
    /// Coverage rules.
    #[command(flatten)]
    pub rules: RuleOptions,
    /// Tables and files of traces.
    #[command(flatten)]
    pub trace: TraceArguments,
    /// The trees of slow calls.
    #[command(flatten)]
    pub slow: SlowArguments,
    /// Plugins that compute tables.
    #[command(flatten)]
    pub reporters: ReportPlugins,
}

impl Report {
    /// Writes the reports, or prints the summary if none is selected.
    ///
    /// # Errors
    /// If an input cannot be read, or an output cannot be written.
    pub fn run(&self) -> Result<u8, Error> {
        let slow = self.slow.value();
        let trace = self.trace.value();
        let others = trace.files().into_iter().chain([slow.file()]);
        self.outputs.check(&others.collect::<Vec<_>>())?;
        self.outputs.check_per_test(false)?;
        self.trace.value().check_stacks()?;
        let is_profile = |path: &PathBuf| path.extension().is_some_and(|it| it == EXTENSION);
        if !self.recorded.files.is_empty() && self.recorded.files.iter().all(is_profile) {
            return self.profiles();
        }
        let Recorded {
            files,
            select,
            inputs,
            carry_over,
            per_loader,
            all_runs,
        } = &project_classes::recorded(&self.recorded)?;
        let requirements = self.rules.read()?;
        let RunSelection { files, notes } = runs::find(files, *all_runs)?;
        let mut warnings = Warnings::default();
        let mut damaged = DamagedFiles::new(inputs.strict_inputs);
        let mut traced = Ok(());
        let beside = self.outputs.takes_stdout()
            || self.trace.value().takes_stdout()
            || self.slow.value().takes_stdout();
        let (mut events, files) = split(files, RunFileKind::Events);
        let (tables, mut files) = split(files, RunFileKind::Tables);
        files.extend(run_files::with_counts(events.iter().cloned()));
        events.retain(|path| !holds_counts_alone(path));
        let has_coverage = files.iter().any(|path| holds_coverage(path));
        let filter = match has_coverage || events.is_empty() {
            true => Filter::of_report(select, inputs.has_classes()),
            false => Filter::of_event_files(select),
        }?
        .excluding(&inputs.exclude_annotation)?;
        let trace = TraceOutputs {
            beside,
            filter: filter.clone(),
            reporters: self.reporters.find()?,
            plugin_tables: plugin_tables::read(&tables, &mut warnings)?,
            ..self.trace.value()
        };
        let has_none = events.is_empty() && tables.is_empty();
        if let (true, Some(option)) = (has_none, self.option_of_traces()) {
            return Err(nothing_traced(option));
        }
        if !has_none {
            note_ignored_selector(&filter);
            let traces = {
                let scratch = trace.scratch();
                recorded::read(&events, &filter, &scratch, &mut damaged, &mut warnings)?
            };
            if self.slow.slow.is_some() {
                completeness::has_calls(&traces, Path::new("--slow"))?;
                self.slow.value().print(&traces, beside)?;
            }
            let has_report = self.outputs.any() || inputs.diff.is_some();
            if !has_report && !has_coverage {
                let is_partial = damaged.any()? || warnings.of_missing();
                complain(&warnings);
                trace.make(&traces, StreamedLines::No)?;
                notes.iter().for_each(say);
                return Ok(if is_partial { PARTIAL } else { 0 });
            }
            traced = trace.make(&traces, StreamedLines::No);
            if traced
                .as_ref()
                .is_err_and(|problem| problem.exit() != PARTIAL)
            {
                return traced.map(|()| 0);
            }
        }
        let job = ReportJob {
            files: &files,
            filter: &filter,
            carry_over: *carry_over,
            per_loader: *per_loader,
            inputs,
            unloaded: None,
            runs: &notes,
            outputs: &self.outputs,
            requirements: &requirements,
            summary: !self.outputs.any(),
            beside,
        };
        let outcome = make(&job, &mut damaged, &mut warnings)?;
        both(traced.map(|()| 0), outcome.end(false))
    }
}

impl Report {
    /// Shows recordings of `classhook profile`.
    fn profiles(&self) -> Result<u8, Error> {
        let trace = &self.trace.value();
        let mut others = trace.files().into_iter().skip(4);
        if let Some((option, _)) = others.find(|(_, path)| path.is_some()) {
            let message = format!("{option} needs traced calls");
            return Err(
                Error::mistake(codes::H0663, message).with("found", "recordings (.jvm-events)")
            );
        }
        if self.slow.slow.is_some() {
            let message = "--slow needs traced calls";
            return Err(
                Error::mistake(codes::H0663, message).with("found", "recordings (.jvm-events)")
            );
        }
        let plain = ProfileOutputs::default();
        let outputs = ProfileOutputs {
            flame_graph: trace.flame_graph.clone(),
            folded: trace.folded.clone(),
            stacks: trace.stacks.clone(),
            perfetto: trace.perfetto.clone(),
            json_lines: trace.json_lines.clone(),
            only: self.recorded.select.clone(),
            top: trace.top,
            frames: FRAMES,
            ..plain
        };
        let files = self.recorded.files.iter();
        let recordings = files.map(|path| profiles::recorded::read(path));
        let recordings = recordings.collect::<Result<_, _>>()?;
        outputs.report()?.make(recordings, None)
    }

    /// Returns a given option that needs traces.
    fn option_of_traces(&self) -> Option<&'static str> {
        let trace = self.trace.value();
        let files = trace.files().into_iter();
        let mut files = files.filter_map(|(option, file)| file.as_ref().map(|_| option));
        let plugin = self.reporters.plugins.first().map(|_| "--plugin");
        let slow = self.slow.slow.map(|_| "--slow");
        files.next().or(plugin).or(slow)
    }
}

fn nothing_traced(option: &str) -> Error {
    Error::mistake(codes::H0610, format!("no trace for {option}"))
        .with("expected", "an event file (.events) with records")
        .with("help", "record event files with `classhook trace`")
}

/// Returns the last of two problems and prints the first if there are two.
fn both(first: Result<u8, Error>, last: Result<u8, Error>) -> Result<u8, Error> {
    match (first, last) {
        (Err(first), Err(last)) => {
            complain(format_args!("{first}\n"));
            Err(last)
        }
        (Err(problem), Ok(_)) => Err(problem),
        (Ok(_), last) => last,
    }
}

/// Separates files of this kind from others. The others may be snapshots or unreadable.
fn split(files: Vec<PathBuf>, wanted: RunFileKind) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let is_it = |path: &PathBuf| run_files::kind(path).is_ok_and(|kind| kind == wanted);
    files.into_iter().partition(is_it)
}

/// Checks whether a snapshot holds coverage. Every JVM writes a snapshot, even if it was only traced.
fn holds_coverage(path: &Path) -> bool {
    let is_coverage = |plugin: &String| plugin.split('@').next() == Some("coverage");
    Meta::read(path).map_or(true, |meta| meta.plugins.iter().any(is_coverage))
}

/// Checks whether an event file holds line counts and no trace.
fn holds_counts_alone(path: &Path) -> bool {
    let name = |plugin: &String| plugin.split('@').next().unwrap_or_default().to_owned();
    let plugins: Vec<String> = Meta::of_file(path)
        .map(|meta| meta.plugins.iter().map(name).collect())
        .unwrap_or_default();
    let of_coverage = |name: &String| [PLUGIN, LINES, COUNTS].contains(&name.as_str());
    plugins.iter().any(|name| name == COUNTS) && plugins.iter().all(of_coverage)
}

/// Advice if no class of a report was loaded and no build tool is known.
pub(super) const UNLOADED: &str = "name the folders and jars that the program ran from; `classhook report FOLDER/*.hook` without --classes lists the classes that ran";

/// Inputs, options and outputs of one report.
pub(super) struct ReportJob<'a> {
    pub(super) files: &'a [PathBuf],
    pub(super) filter: &'a Filter,
    /// Counts the results of unchanged methods in changed classes.
    pub(super) carry_over: bool,
    /// Reports each class loader as a module.
    pub(super) per_loader: bool,
    pub(super) inputs: &'a ReportInputs,
    /// Advice for a run that fails because no reported class was loaded.
    pub(super) unloaded: Option<&'a str>,
    /// Lines about folders with several runs.
    pub(super) runs: &'a [String],
    pub(super) outputs: &'a Outputs,
    pub(super) requirements: &'a Requirements,
    /// Prints the table.
    pub(super) summary: bool,
    /// Prints the table to standard error, because a report goes to standard output.
    pub(super) beside: bool,
}

/// Outcome of a written report.
pub(super) struct ReportOutcome {
    /// A class ran without probes.
    any_failed: bool,
    /// A file is left out or truncated.
    is_partial: bool,
    /// The problem of a JVM that could not write all recorded data.
    complete: Result<(), Error>,
    /// The problem of an empty report.
    not_empty: Result<(), Error>,
    /// The verdict of the rules.
    verdict: Verdict,
}

impl ReportOutcome {
    /// Returns the exit code of a written report.
    ///
    /// # Errors
    /// If the report is incomplete or empty, or violates a rule.
    pub(super) fn end(self, is_strict: bool) -> Result<u8, Error> {
        let is_partial = self.is_partial || self.any_failed && is_strict;
        let code = if is_partial { PARTIAL } else { 0 };
        both(
            both(self.complete.map(|()| code), self.not_empty.map(|()| code)),
            self.verdict.problem().map(|()| code),
        )
    }
}

/// Reads and analyses the files, and writes the reports. Prints the summary even if a report cannot be written.
pub(super) fn make(
    job: &ReportJob<'_>,
    damaged: &mut DamagedFiles,
    warnings: &mut Warnings,
) -> Result<ReportOutcome, Error> {
    let title = job.outputs.title();
    let modules = job.inputs.report_modules(title);
    let sources = modules.iter().map(|module| Sources::open(&module.sources));
    let sources: Vec<Sources> = sources.collect::<Result<_, _>>()?;
    if job.per_loader {
        job.inputs.check_per_loader(job.outputs)?;
    }
    let changes = job.inputs.changes()?;
    let mut recorded = ExecutionDataStore::read(job.files, damaged, warnings)?;
    let jacoco = JacocoAgents::of(job.files);
    // JaCoCo's file holds no class files, so it needs --classes.
    let beside = match job.inputs.has_classes() {
        true => recorded.add_jacoco(&jacoco, warnings),
        false => Vec::new(),
    };
    let any_damaged = damaged.any()?;
    if let Err(problem) = damaged.expect_any(job.files.len()) {
        complain(&warnings);
        return Err(problem);
    }
    let options = AnalysisOptions {
        carry_over: job.carry_over,
        strict_inputs: job.inputs.strict_inputs,
        counting: job.inputs.counting(),
    };
    let progress = AnalysisBar::default();
    let analysed = match (job.per_loader, modules.as_slice(), sources.as_slice()) {
        (true, [module], [sources]) => {
            let module = (module, sources);
            coverage_analysis::analyse_loaders(
                module, &recorded, job.filter, options, warnings, &progress,
            )
        }
        _ => coverage_analysis::analyse_all(
            &modules, &sources, &recorded, job.filter, options, warnings, &progress,
        ),
    }?;
    let all = analysed.bundles.as_slice();
    warn_of_unmatched(job, warnings);
    let unmeasured = warn_of_unmeasured(job, &recorded, &analysed, warnings);
    let began = recorded.last_began();
    let measured = changes.map(|changes| {
        differential_coverage::of_bundles(title, &changes, all, &sources, began, warnings)
    });
    let is_unclear = measured
        .as_ref()
        .is_some_and(|measured| measured.is_partial);
    let changed = measured.as_ref().map(|measured| &measured.changed);
    let bundles = changed.map_or(all, |changed| &changed.bundles);
    let verdict = job.requirements.check(bundles, all, warnings);
    let exec = job.outputs.exec.as_ref();
    let exec = exec.map(|_| recorded.execution_data(warnings));
    let limited = changed.map(|changed| changed.bundles.as_slice());
    let tests = match job.outputs.per_test {
        true => ReportTests::new(&recorded, all, limited, options.counting, warnings),
        false => None,
    };
    complain(&warnings);
    let verdict = verdict?;
    let per_test = tests.as_ref().map(|tests| PerTest::new(tests));
    let report = Whole {
        missing: &[damaged.missing(), &analysed.missing, &unmeasured].concat(),
        changed,
        per_test: per_test.as_ref(),
        counting: options.counting,
        ..as_report(title, job, bundles, &sources, &recorded)
    };
    let files = job
        .outputs
        .write(&report, exec.as_deref().unwrap_or_default());
    print(job, &report, &modules, &analysed, &files.written)?;
    if let Some(first) = beside.first() {
        say(beside_jacoco(&jacoco, first));
    }
    match job.beside {
        true => complain(verdict.table()),
        false => show::show(&verdict.table())?,
    }
    if !files.failed.is_empty() {
        let incomplete = recorded.is_complete().err();
        show::all_but_last(incomplete.into_iter().chain(files.failed))?;
    }
    let outcome = ReportOutcome {
        any_failed: !recorded.failures.is_empty(),
        is_partial: any_damaged || warnings.of_missing() || is_unclear,
        complete: recorded.is_complete(),
        not_empty: expect_something(job, &report, &recorded, analysed.any_class_file),
        verdict,
    };
    // The process ends soon: freeing millions of lines one by one would take a tenth of its time.
    std::mem::forget(analysed);
    Ok(outcome)
}

/// Returns the bundles as modules of one report. Each module has its sources, and class loaders share them. Without
/// `--module` and `--per-loader` the report has one module.
fn as_report<'a>(
    title: &'a str,
    job: &ReportJob<'_>,
    bundles: &'a [BundleCoverage],
    sources: &'a [Sources],
    recorded: &'a ExecutionDataStore,
) -> Whole<'a> {
    let modules = bundles.iter().zip(sources.iter().cycle());
    let modules = modules.map(|(bundle, sources)| Module { bundle, sources });
    Whole {
        is_group: job.per_loader || !job.inputs.modules.is_empty(),
        ..Whole::of_group(title, modules.collect(), &recorded.sessions)
    }
}

/// Prints the table, the omissions, and the written files.
fn print(
    job: &ReportJob<'_>,
    report: &Whole<'_>,
    modules: &[ReportModule],
    analysed: &AnalysisResult,
    written: &[PathBuf],
) -> Result<(), Error> {
    let places = modules.iter().flat_map(|module| module.classes.clone());
    let places: Vec<String> = places.collect();
    let mut out: Box<dyn Write> = match job.beside {
        true => Box::new(std::io::stderr().lock()),
        false => Box::new(std::io::stdout().lock()),
    };
    let changed = report.changed;
    let mut print = || -> std::io::Result<()> {
        match changed {
            Some(changed) if job.summary => changed::write(changed, &mut out)?,
            Some(changed) => changed::write_total(changed, &mut out)?,
            None if job.summary => table::write_with(report, &layout(), &mut out)?,
            None => (),
        }
        if job.summary {
            let mut missing = report.incomplete();
            for missing in missing.by_ref().take(NAMED_GAPS) {
                writeln!(out, "incomplete: {missing}")?;
            }
            if let more @ 1.. = missing.count() {
                writeln!(out, "incomplete: {more} more, which --json and --html name")?;
            }
        }
        if !job.summary && changed.is_none() && is_empty(report) {
            writeln!(out, "{}", table::NOTHING)?;
        }
        for run in job.runs {
            writeln!(out, "{run}")?;
        }
        if !places.is_empty() && analysed.elsewhere > 0 {
            writeln!(out, "{}", not_in(&places, analysed.elsewhere))?;
        }
        if analysed.generated > 0 {
            let classes = counted(analysed.generated, "class");
            writeln!(
                out,
                "left out: {classes} that libraries generated at run time"
            )?;
        }
        if analysed.unselected > 0 {
            let classes = counted(analysed.unselected, "class");
            writeln!(out, "left out: {classes}, because of --select")?;
        }
        if let Some(left_out) = by_annotation(analysed) {
            writeln!(out, "left out: {left_out}, because of --exclude-annotation")?;
        }
        if !analysed.carried.is_empty() {
            writeln!(out, "{}", analysed.carried)?;
        }
        if report.counting == Counting::Source {
            writeln!(
                out,
                "counted: the code of the source, not JaCoCo's selection"
            )?;
        }
        for path in written {
            writeln!(out, "wrote {}", show::path(path))?;
        }
        Ok(())
    };
    match print() {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::fault(
            codes::H0624,
            "cannot write to standard output",
        )
        .with("found", error.to_string())),
        _ => Ok(()), // the reader closed the pipe
    }
}

/// Counts the classes and methods that an annotation excludes. Returns `None` if it excludes nothing.
fn by_annotation(analysed: &AnalysisResult) -> Option<String> {
    let classes = analysed.bundles.iter().flat_map(BundleCoverage::classes);
    let methods: u32 = classes.map(|class| class.excluded).sum();
    let parts = [(analysed.excluded as u32, "class"), (methods, "method")];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, what)| counted(count, what)).collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}

fn is_empty(report: &Whole<'_>) -> bool {
    report.counters.instruction.total() == 0
}

/// Checks that the report is not empty. Named classes may have no code, and changed lines may lie in other classes.
fn expect_something(
    job: &ReportJob<'_>,
    report: &Whole<'_>,
    recorded: &ExecutionDataStore,
    any_class_file: bool,
) -> Result<(), Error> {
    let problem = Error::partial(codes::H0610, "the report is empty");
    match job.inputs.has_classes() {
        _ if job.inputs.diff.is_some() => return Ok(()),
        true if !is_empty(report) => return expect_loaded(job, report, recorded),
        false if !is_empty(report) => return Ok(()),
        true if any_class_file => return Ok(()),
        true => {
            let problem = problem.with("expected", "class files in the named folders and jars");
            let help =
                "name the folders and jars that the program ran from with --classes or --module";
            return Err(problem.with("found", "none").with("help", help));
        }
        false => (),
    }
    let (sessions, classes) = (recorded.sessions.len(), recorded.classes.len());
    let found = format!(
        "{} and {} on record",
        counted(sessions, "session"),
        counted(classes, "class")
    );
    let problem = problem.with("expected", "a class with code");
    let help = "select JDK classes explicitly; classes from `classhook instrument` write their own snapshots; `classhook status` lists the measured classes of a running JVM";
    Err(problem.with("found", found).with("help", help))
}

/// Returns the line about JVMs with JaCoCo's agent.
fn beside_jacoco(agents: &JacocoAgents, file: &Path) -> String {
    let jvms = counted(agents.jvms, "JVM");
    let file = show::path(file);
    format!("JaCoCo's agent ran in {jvms}, too: the report includes its data from {file}")
}

/// Checks that a JVM loaded a class of the report. Otherwise 0 % says nothing about the tests.
fn expect_loaded(
    job: &ReportJob<'_>,
    report: &Whole<'_>,
    recorded: &ExecutionDataStore,
) -> Result<(), Error> {
    let modules = report.modules.iter();
    let mut classes = modules.flat_map(|module| module.bundle.classes());
    let is_loaded = classes.any(|class| !recorded.ids_of(&class.name).is_empty());
    if is_loaded {
        return Ok(());
    }
    if recorded.classes.is_empty() {
        let problem = Error::partial(
            codes::H0628,
            "no class was recorded, so the whole report is 0 %",
        );
        let help = job.unloaded.unwrap_or(UNLOADED);
        let found = counted(recorded.sessions.len(), "session");
        let found = format!("{found} without a measured class");
        let note = "classes from `classhook instrument` record to the folder of -Dclasshook.output";
        let problem = problem.with("found", found).with("note", note);
        return Err(problem.with("help", help));
    }
    if recorded.sessions.is_empty() {
        return Ok(()); // these files do not describe JVMs
    }
    let message = "no JVM of the run loaded a class of the report, so the whole report is 0 %";
    let found = format!(
        "{} with {} from other folders and jars",
        counted(recorded.sessions.len(), "session"),
        counted(recorded.classes.len(), "class")
    );
    let Some(help) = job.unloaded else {
        // A module without its own tests is valid in a report. A run without loaded classes may be a mistake.
        let warning = Warning::new(codes::H0628, message).with("found", found);
        complain(warning.with("help", UNLOADED));
        return Ok(());
    };
    let problem = Error::partial(codes::H0628, message).with("found", found);
    Err(problem.with("help", help))
}

/// Returns the line about recorded classes outside of the named folders and jars.
fn not_in(places: &[String], count: usize) -> String {
    let first = places.first().map_or("", String::as_str);
    let more = match places.len() {
        0 | 1 => String::new(),
        count => format!(" and {}", counted(count - 1, "more place")),
    };
    let first = show::name(first);
    format!("{count} recorded classes are not reported: they are not in {first}{more}")
}

/// Warns of each selector and annotation that matches nothing. Without locations, the agent has left classes out
/// before.
fn warn_of_unmatched(job: &ReportJob<'_>, warnings: &mut Warnings) {
    let selectors = job.filter.unmatched();
    for selector in selectors.filter(|_| job.inputs.has_classes()) {
        let message = format!("--select {selector} matches no class of the report's locations");
        warnings.add(Warning::new(codes::H0671, message));
    }
    for annotation in job.filter.excluded().unmatched() {
        let message =
            format!("--exclude-annotation {annotation} matches no annotation of a class or method");
        let help = "class files hold annotations with the retention CLASS or RUNTIME";
        warnings.add(Warning::new(codes::H0671, message).with("help", help));
    }
}

/// Warns about classes and methods of the report that ran without probes. Returns a sentence for each.
fn warn_of_unmeasured(
    job: &ReportJob<'_>,
    recorded: &ExecutionDataStore,
    analysed: &AnalysisResult,
    warnings: &mut Warnings,
) -> Vec<String> {
    let classes = analysed.bundles.iter().flat_map(BundleCoverage::classes);
    let reported: HashSet<&str> = classes.map(|class| class.name.as_str()).collect();
    let is_reported = |class: &str| reported.contains(class);
    // Named folders and jars select the classes.
    let is_wanted = |class: &str| {
        !job.inputs.has_classes() && (job.filter.is_everything() || job.filter.wants_name(class))
    };
    unmeasured::warn(
        recorded,
        &analysed.unmeasured,
        is_reported,
        is_wanted,
        warnings,
    )
}

/// Returns the layout of tables for the terminal: its width, and colours.
fn layout() -> Layout {
    let plain = Layout::default();
    Layout {
        width: terminal::width().unwrap_or(plain.width),
        colours: terminal::colours(),
        ..plain
    }
}

/// Prints the selector that the table of calls ignores.
fn note_ignored_selector(filter: &Filter) {
    if let Some(part) = filter.over_locations() {
        say(format_args!(
            "the table of calls holds classes of all locations: event files store no locations, so `{part}` is for coverage only"
        ));
    }
}
