//! `classhook report`: makes reports of what runs left.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use coverage::filter::Counting;
use coverage::model::BundleCoverage;
use coverage::report::changed;
use coverage::report::per_test::PerTest;
use coverage::report::table::{self, Layout};
use coverage::report::{Module, Report as Whole};
use observations::recorded::EXTENSION;
use probes::Meta;
use trace::numbers::counted;

use crate::analysis::{self, Analysed, Manner, unmeasured};
use crate::args::{Material, Outputs, Part, Recorded};
use crate::changes;
use crate::inputs::damaged_files::DamagedFiles;
use crate::inputs::execution_data::{COUNTS, ExecutionDataStore, LINES, PLUGIN};
use crate::inputs::jacoco_agents::JacocoAgents;
use crate::inputs::run_files::{self, Kind};
use crate::inputs::runs::{self, Found};
use crate::inputs::sources::Sources;
use crate::per_test::TestsOfReport;
use crate::plugin_tables;
use crate::problem::{PARTIAL, Problem};
use crate::profile::outputs::{FRAMES, ProfileOutputs};
use crate::profile::recorded;
use crate::project_classes;
use crate::reporters::ReportPlugins;
use crate::requirements::{Requirements, Rules, Verdict};
use crate::select::Filter;
use crate::show::{self, complain, say};
use crate::slow::SlowOptions;
use crate::terminal;
use crate::traces::{self, StreamedLines, TraceOutputs};
use crate::warnings::{Warning, Warnings};

/// Most lines below a table that name gaps of the report.
const NAMED: usize = 20;

const AFTER_HELP: &str = "\
A snapshot holds the classes that were loaded, so nothing else is needed to report them.
--classes decides what is reported: the classes found there, loaded or not, and no others.
--sources shows the lines in HTML.
--diff leaves only changed lines in every report, and rules are about these.
Several files are united; JaCoCo's .exec files may be among them, and then need --classes.
Of a folder with several runs the last is reported, and the others are named; --all-runs takes all.
Each FILE that is written may be -, for standard output; the table then goes to standard error.
Of event files (.events) the table of traced methods is printed, and what shows single calls is written if asked for.

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

/// Makes reports of what was recorded: coverage and traces.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Report {
    /// What is reported.
    #[command(flatten)]
    pub recorded: Recorded,
    /// Which reports to write.
    #[command(flatten)]
    pub outputs: Outputs,
    /// How much has to be covered.
    #[command(flatten)]
    pub rules: Rules,
    /// What to make of traces.
    #[command(flatten)]
    pub trace: TraceOutputs,
    /// The trees of slow calls.
    #[command(flatten)]
    pub slow: SlowOptions,
    /// Which plugins compute tables.
    #[command(flatten)]
    pub reporters: ReportPlugins,
}

impl Report {
    /// Makes the reports; without any, prints the summary.
    ///
    /// # Errors
    /// If something cannot be read or written.
    pub fn run(&self) -> Result<u8, Problem> {
        self.outputs.check(&self.trace.files())?;
        self.outputs.check_per_test(false)?;
        self.trace.check_stacks()?;
        let is_observed = |path: &PathBuf| path.extension().is_some_and(|it| it == EXTENSION);
        if !self.recorded.files.is_empty() && self.recorded.files.iter().all(is_observed) {
            return self.observed();
        }
        let Recorded {
            files,
            select,
            material,
            carry_over,
            per_loader,
            all_runs,
        } = &project_classes::recorded(&self.recorded)?;
        let requirements = self.rules.read()?;
        let Found { files, notes } = runs::find(files, *all_runs)?;
        let mut warnings = Warnings::default();
        let mut damaged = DamagedFiles::new(material.strict_inputs);
        let mut traced = Ok(());
        let beside = self.outputs.takes_stdout() || self.trace.takes_stdout();
        let (mut events, files) = split(files, Kind::Events);
        let (tables, mut files) = split(files, Kind::Tables);
        files.extend(run_files::with_counts(events.iter().cloned()));
        events.retain(|path| !holds_counts_alone(path));
        let has_coverage = files.iter().any(|path| holds_coverage(path));
        let filter = match has_coverage || events.is_empty() {
            true => Filter::of_report(select, material.has_classes()),
            false => Filter::of_event_files(select),
        }?
        .excluding(&material.exclude_annotation)?;
        let trace = TraceOutputs {
            beside,
            filter: filter.clone(),
            reporters: self.reporters.find()?,
            observed: plugin_tables::read(&tables, &mut warnings)?,
            ..self.trace.clone()
        };
        let has_none = events.is_empty() && tables.is_empty();
        if let (true, Some(option)) = (has_none, self.of_traces()) {
            return Err(nothing_traced(option));
        }
        if !has_none {
            filter.tell_what_events_lack();
            let traces = {
                let scratch = trace.scratch();
                traces::read(&events, &filter, &scratch, &mut damaged, &mut warnings)?
            };
            if self.slow.slow.is_some() {
                traces::has_calls(&traces, Path::new("--slow"))?;
                self.slow.print(&traces, beside)?;
            }
            let has_report = self.outputs.any() || material.diff.is_some();
            if !has_report && !has_coverage {
                let is_partial = damaged.any()? || warnings.of_missing();
                warnings.print();
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
        let job = Job {
            files: &files,
            filter: &filter,
            carry_over: *carry_over,
            per_loader: *per_loader,
            material,
            unloaded: None,
            runs: &notes,
            outputs: &self.outputs,
            requirements: &requirements,
            summary: !self.outputs.any(),
            beside,
        };
        let made = make(&job, &mut damaged, &mut warnings)?;
        both(traced.map(|()| 0), made.end(false))
    }
}

impl Report {
    /// Shows recordings of what JVMs say of themselves, as `classhook profile` does.
    fn observed(&self) -> Result<u8, Problem> {
        let trace = &self.trace;
        let mut others = trace.files().into_iter().skip(4);
        if let Some((option, _)) = others.find(|(_, path)| path.is_some()) {
            let message = format!("{option} is of traced calls, and there is none");
            return Err(Problem::user("H0663", message).with("found", "recordings (.observed)"));
        }
        if self.slow.slow.is_some() {
            let message = "--slow needs traced calls";
            return Err(Problem::user("H0663", message).with("found", "recordings (.observed)"));
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
        let recordings = files.map(|path| recorded::read(path));
        let recordings = recordings.collect::<Result<_, _>>()?;
        outputs.report()?.make(recordings, None)
    }

    /// An option that needs traces.
    fn of_traces(&self) -> Option<&'static str> {
        let files = self.trace.files().into_iter();
        let mut files = files.filter_map(|(option, file)| file.as_ref().map(|_| option));
        let plugin = self.reporters.plugins.first().map(|_| "--plugin");
        let slow = self.slow.slow.map(|_| "--slow");
        files.next().or(plugin).or(slow)
    }
}

fn nothing_traced(option: &str) -> Problem {
    Problem::user("H0610", format!("there is no trace for {option}"))
        .with("expected", "an event file (.events) with records")
        .with("help", "`classhook trace` makes event files")
}

/// The last of two problems; the first is printed if there are both.
fn both(first: Result<u8, Problem>, last: Result<u8, Problem>) -> Result<u8, Problem> {
    match (first, last) {
        (Err(first), Err(last)) => {
            complain(format_args!("{first}\n"));
            Err(last)
        }
        (Err(problem), Ok(_)) => Err(problem),
        (Ok(_), last) => last,
    }
}

/// Files of this kind, and others, which may hold coverage, or cannot be read at all.
fn split(files: Vec<PathBuf>, wanted: Kind) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let is_it = |path: &PathBuf| run_files::kind(path).is_ok_and(|kind| kind == wanted);
    files.into_iter().partition(is_it)
}

/// Every JVM leaves a snapshot, also one that was only traced.
fn holds_coverage(path: &Path) -> bool {
    let is_coverage = |plugin: &String| plugin.split('@').next() == Some("coverage");
    Meta::read(path).map_or(true, |meta| meta.plugins.iter().any(is_coverage))
}

/// Of a JVM in which lines were counted and nothing was traced.
fn holds_counts_alone(path: &Path) -> bool {
    let name = |plugin: &String| plugin.split('@').next().unwrap_or_default().to_owned();
    let plugins: Vec<String> = Meta::of_file(path)
        .map(|meta| meta.plugins.iter().map(name).collect())
        .unwrap_or_default();
    let of_coverage = |name: &String| [PLUGIN, LINES, COUNTS].contains(&name.as_str());
    plugins.iter().any(|name| name == COUNTS) && plugins.iter().all(of_coverage)
}

/// The likely cause if no class of a report was loaded, where no build tool is known.
pub(super) const UNLOADED: &str = "name the folders and jars that the program ran from, as `classhook inspect` of a snapshot lists its classes";

/// What is to be made of which files.
pub(super) struct Job<'a> {
    pub(super) files: &'a [PathBuf],
    pub(super) filter: &'a Filter,
    /// Whether what ran of methods that have not changed counts in other versions of a class.
    pub(super) carry_over: bool,
    /// Whether each class loader is a module of the report.
    pub(super) per_loader: bool,
    pub(super) material: &'a Material,
    /// The likely causes if none of the reported classes was loaded, of a run that fails then.
    pub(super) unloaded: Option<&'a str>,
    /// Lines that name the runs of folders with several.
    pub(super) runs: &'a [String],
    pub(super) outputs: &'a Outputs,
    pub(super) requirements: &'a Requirements,
    /// Whether the table is printed.
    pub(super) summary: bool,
    /// Whether something else than the table has standard output.
    pub(super) beside: bool,
}

/// What came of it.
pub(super) struct Made {
    /// Whether a class ran without probes.
    any_failed: bool,
    /// Whether a file is left out, or its end is missing.
    is_partial: bool,
    /// That a JVM could not write all that it recorded.
    complete: Result<(), Problem>,
    /// That there is something in the report.
    not_empty: Result<(), Problem>,
    /// Whether enough is covered.
    verdict: Verdict,
}

impl Made {
    /// The exit code of a report that is there.
    ///
    /// # Errors
    /// If it is incomplete or empty, or less is covered than is asked for.
    pub(super) fn end(self, is_strict: bool) -> Result<u8, Problem> {
        let is_partial = self.is_partial || self.any_failed && is_strict;
        let code = if is_partial { PARTIAL } else { 0 };
        both(
            both(self.complete.map(|()| code), self.not_empty.map(|()| code)),
            self.verdict.problem().map(|()| code),
        )
    }
}

/// Reads files of runs, analyses them, writes and prints; the summary also if a report cannot be written.
pub(super) fn make(
    job: &Job<'_>,
    damaged: &mut DamagedFiles,
    warnings: &mut Warnings,
) -> Result<Made, Problem> {
    let title = job.outputs.title();
    let parts = job.material.parts(title);
    let sources = parts.iter().map(|part| Sources::open(&part.sources));
    let sources: Vec<Sources> = sources.collect::<Result<_, _>>()?;
    if job.per_loader {
        job.material.check_per_loader(job.outputs)?;
    }
    let changes = job.material.changes()?;
    let mut recorded = ExecutionDataStore::read(job.files, damaged, warnings)?;
    let jacoco = JacocoAgents::of(job.files);
    // Its file holds no class files, so it needs those that are named.
    let beside = match job.material.has_classes() {
        true => recorded.add_jacoco(&jacoco, warnings),
        false => Vec::new(),
    };
    let any_damaged = damaged.any()?;
    if let Err(problem) = damaged.expect_any(job.files.len()) {
        warnings.print();
        return Err(problem);
    }
    let manner = Manner {
        carry_over: job.carry_over,
        strict_inputs: job.material.strict_inputs,
        counting: job.material.counting(),
    };
    let analysed = match (job.per_loader, parts.as_slice(), sources.as_slice()) {
        (true, [part], [sources]) => {
            let part = (part, sources);
            analysis::analyse_loaders(part, &recorded, job.filter, manner, warnings)
        }
        _ => analysis::analyse_all(&parts, &sources, &recorded, job.filter, manner, warnings),
    }?;
    let all = analysed.bundles.as_slice();
    let unmeasured = tell_unmeasured(job, &recorded, &analysed, warnings);
    let began = recorded.last_began();
    let measured =
        changes.map(|changes| changes::of_bundles(title, &changes, all, &sources, began, warnings));
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
        true => TestsOfReport::new(&recorded, all, limited, manner.counting, warnings),
        false => None,
    };
    warnings.print();
    let verdict = verdict?;
    let per_test = tests.as_ref().map(|tests| PerTest::new(tests));
    let report = Whole {
        missing: &[damaged.missing(), &analysed.missing, &unmeasured].concat(),
        changed,
        per_test: per_test.as_ref(),
        counting: manner.counting,
        ..as_report(title, job, bundles, &sources, &recorded)
    };
    let files = job
        .outputs
        .write(&report, exec.as_deref().unwrap_or_default());
    print(job, &report, &parts, &analysed, &files.written)?;
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
    let made = Made {
        any_failed: !recorded.failures.is_empty(),
        is_partial: any_damaged || warnings.of_missing() || is_unclear,
        complete: recorded.is_complete(),
        not_empty: expect_something(job, &report, &recorded, analysed.any_class_file),
        verdict,
    };
    // The command is about to end: to give millions of lines back one by one takes a tenth of its time.
    std::mem::forget(analysed);
    Ok(made)
}

/// The bundles as modules of one report, each with its sources, or each loader with those of all; without `--module` and
/// `--per-loader` there is but one.
fn as_report<'a>(
    title: &'a str,
    job: &Job<'_>,
    bundles: &'a [BundleCoverage],
    sources: &'a [Sources],
    recorded: &'a ExecutionDataStore,
) -> Whole<'a> {
    let modules = bundles.iter().zip(sources.iter().cycle());
    let modules = modules.map(|(bundle, sources)| Module { bundle, sources });
    Whole {
        is_group: job.per_loader || !job.material.modules.is_empty(),
        ..Whole::of_group(title, modules.collect(), &recorded.sessions)
    }
}

/// Prints the table, what it is not about, and the files written.
fn print(
    job: &Job<'_>,
    report: &Whole<'_>,
    parts: &[Part],
    analysed: &Analysed,
    written: &[PathBuf],
) -> Result<(), Problem> {
    let places: Vec<String> = parts.iter().flat_map(|part| part.classes.clone()).collect();
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
            for missing in missing.by_ref().take(NAMED) {
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
        if let Some(left_out) = by_annotation(analysed) {
            writeln!(out, "left out: {left_out}, because of --exclude-annotation")?;
        }
        if !analysed.carried.is_empty() {
            writeln!(out, "{}", analysed.carried)?;
        }
        if report.counting == Counting::Source {
            writeln!(
                out,
                "counted: what stands in the source, not as JaCoCo counts"
            )?;
        }
        for path in written {
            writeln!(out, "wrote {}", show::path(path))?;
        }
        Ok(())
    };
    match print() {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Problem::ours("H0624", "cannot write to standard output")
                .with("found", error.to_string()))
        }
        _ => Ok(()), // whoever read a part of the table has had enough
    }
}

/// Counts the classes and methods that an annotation excludes. Returns `None` if it excludes nothing.
fn by_annotation(analysed: &Analysed) -> Option<String> {
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

/// Of recordings something is expected in the report; classes that are named may be without code, and changes elsewhere.
fn expect_something(
    job: &Job<'_>,
    report: &Whole<'_>,
    recorded: &ExecutionDataStore,
    any_class_file: bool,
) -> Result<(), Problem> {
    let problem = Problem::partial("H0610", "the report is empty");
    match job.material.has_classes() {
        _ if job.material.diff.is_some() => return Ok(()),
        true if !is_empty(report) => return expect_loaded(job, report, recorded),
        false if !is_empty(report) => return Ok(()),
        true if any_class_file => return Ok(()),
        true => {
            let problem = problem.with("expected", "class files in the places that are named");
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
    let help = "classes of the JDK are not measured unless asked for, and those that `classhook instrument` has made record by themselves. `classhook status` says of a running JVM which classes are measured";
    Err(problem.with("found", found).with("help", help))
}

/// The line about JVMs with JaCoCo's agent.
fn beside_jacoco(agents: &JacocoAgents, file: &Path) -> String {
    let jvms = counted(agents.jvms, "JVM");
    let file = show::path(file);
    format!(
        "JaCoCo's agent was in {jvms} of the run, too: what it recorded in {file} is in the report"
    )
}

/// Of the classes that are reported, some JVM loads one; else 0 % says nothing of the tests.
fn expect_loaded(
    job: &Job<'_>,
    report: &Whole<'_>,
    recorded: &ExecutionDataStore,
) -> Result<(), Problem> {
    let modules = report.modules.iter();
    let mut classes = modules.flat_map(|module| module.bundle.classes());
    let is_loaded = classes.any(|class| !recorded.ids_of(&class.name).is_empty());
    if is_loaded {
        return Ok(());
    }
    if recorded.classes.is_empty() {
        let problem = Problem::partial("H0628", "nothing is recorded, so all of the report is 0 %");
        let help = job.unloaded.unwrap_or(UNLOADED);
        let found = counted(recorded.sessions.len(), "session");
        let found = format!("{found} in which no class was measured");
        let note = "classes that `classhook instrument` has made record by themselves, where -Dclasshook.output says";
        let problem = problem.with("found", found).with("note", note);
        return Err(problem.with("help", help));
    }
    if recorded.sessions.is_empty() {
        return Ok(()); // of these files, nothing is known of JVMs
    }
    let message = "no JVM of the run loaded a class of the report, so all of it is 0 %";
    let found = format!(
        "{} with {} of other places",
        counted(recorded.sessions.len(), "session"),
        counted(recorded.classes.len(), "class")
    );
    let Some(help) = job.unloaded else {
        // A module without tests of its own is no mistake of a report; a run without any may be one.
        let warning = Warning::new("H0628", message).with("found", found);
        complain(warning.with("help", UNLOADED));
        return Ok(());
    };
    let problem = Problem::partial("H0628", message).with("found", found);
    Err(problem.with("help", help))
}

/// What is said of the recorded classes that are in none of the places.
fn not_in(places: &[String], count: usize) -> String {
    let first = places.first().map_or("", String::as_str);
    let more = match places.len() {
        0 | 1 => String::new(),
        count => format!(" and {}", counted(count - 1, "more place")),
    };
    let first = show::name(first);
    format!("{count} recorded classes are not reported: they are not in {first}{more}")
}

/// Says which classes and methods of the report ran without probes; a sentence for each.
fn tell_unmeasured(
    job: &Job<'_>,
    recorded: &ExecutionDataStore,
    analysed: &Analysed,
    warnings: &mut Warnings,
) -> Vec<String> {
    let classes = analysed.bundles.iter().flat_map(BundleCoverage::classes);
    let reported: HashSet<&str> = classes.map(|class| class.name.as_str()).collect();
    let is_reported = |class: &str| reported.contains(class);
    // Places select the classes, and those found there are known.
    let is_wanted = |class: &str| {
        !job.material.has_classes() && (job.filter.is_everything() || job.filter.wants_name(class))
    };
    unmeasured::tell(
        recorded,
        &analysed.unmeasured,
        is_reported,
        is_wanted,
        warnings,
    )
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
