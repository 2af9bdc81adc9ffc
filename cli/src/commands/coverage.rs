//! `classhook coverage`: measures the coverage of a command or a running JVM, and reports it.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use agent_connection::attached::{AttachedPlugin, Visitor};
use agent_launch::checked_options::{CheckedOptions, run_id};
use clap::Args;
use class_selection::filter::Filter;
use control::message::Dump;
use coverage_inputs::class_files;
use coverage_inputs::damaged_files::DamagedFiles;
use coverage_inputs::execution_data::{COUNTS, ExecutionDataStore, LINES};
use coverage_inputs::run_files;
use coverage_inputs::sources::Sources;
use errors::{Error, Warning, Warnings, codes};
use java_builds::Build;
use standard_streams::show::{self, complain, say, with_exit_of_program};
use trace::numbers::counted;

use super::dump;
use super::report::{self, ReportJob};
use crate::args::{AgentArguments, JvmOrCommand, OnError, Outputs, ReportInputs};
use crate::build_output::{BuildOutput, without_tool_classes};
use crate::metaspace::MetaspaceArgument;
use crate::project_classes;
use crate::rule_options::RuleOptions;

const AFTER_HELP: &str = "\
With a command behind `--`, the coverage of all its JVMs is merged, including the forks of a build.
The exit code is that of the command, or 128 + signal if a signal ended it. It is 4 in place of 0 if the coverage is
below a rule of --fail-under or --rules.

With a PID, a running JVM is measured until --for, Ctrl-C or its end. Its classes are restored afterwards.
Loaded classes are measured too. Other tasks of an agent in the JVM continue.
Without --select, only the application is measured, not its libraries and servers. --select '**' selects all classes.

With --classes, exactly the classes in those folders and jars are reported. Classes that never loaded count as missed.
For mvn, gradle, ant and bazel, the project's own classes are reported, without its tests and without the build tool.
--classes and --select location:… override this (docs/coverage.md).

The command prints a table and writes HTML to the folder `html` in the output folder, unless you select other reports.

Examples:
  classhook coverage -- java -jar app.jar
  classhook coverage --xml target/coverage.xml -- mvn test
  classhook coverage --select 'com.acme.**' --xml coverage.xml --lcov lcov.info -- ./gradlew test --no-daemon
  classhook coverage --select 'location:lib/core-*.jar' -- java -cp 'lib/*' com.acme.Main
  classhook coverage 4711 --select 'com.acme.**' --for 30s --html html";

/// Measures the code coverage of a command or a running JVM, and reports it.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Coverage {
    /// The running JVM or the command.
    #[command(flatten)]
    pub program: JvmOrCommand,
    /// Count lines that end with an exception, too; adds a probe to each line
    #[arg(long, conflicts_with = "config")]
    pub exact_lines: bool,
    /// Count the executions of each line, for LCOV, Cobertura, JSON and HTML; implies --exact-lines
    #[arg(long, conflicts_with = "config")]
    pub hit_counts: bool,
    /// Report each class loader as a module
    #[arg(long, conflicts_with = "hit_counts")]
    pub per_loader: bool,
    /// Measure classes before other agents change them, such as AspectJ's weaver; not with a PID
    #[arg(long)]
    pub before_agents: bool,
    /// The options of the agent.
    #[command(flatten)]
    pub settings: AgentArguments,
    /// The check of the metaspace.
    #[command(flatten)]
    pub metaspace: MetaspaceArgument,
    /// Classes, sources and lines of the report.
    #[command(flatten)]
    pub inputs: ReportInputs,
    /// Files of the report.
    #[command(flatten)]
    pub outputs: Outputs,
    /// Coverage rules.
    #[command(flatten)]
    pub rules: RuleOptions,
}

impl Coverage {
    /// Measures the command or the running JVM, writes the reports, and returns the exit code.
    ///
    /// # Errors
    /// If options, configuration, agent, command or JVM are wrong, or the report of a successful run fails.
    pub fn run(&self) -> Result<u8, Error> {
        self.check_inputs()?;
        self.metaspace.check(self.program.pid)?;
        let run = run_id();
        match self.program.pid {
            Some(pid) => self.visit(pid, &run),
            None => self.start(&run),
        }
    }

    fn start(&self, run: &str) -> Result<u8, Error> {
        let plugins = if self.settings.configuration().file.is_some() {
            vec![]
        } else {
            let names = match (self.hit_counts, self.exact_lines) {
                (true, _) => &["coverage", LINES, COUNTS][..],
                (false, true) => &["coverage", LINES],
                (false, false) => &["coverage"],
            };
            names.iter().map(Into::into).collect()
        };
        let build = Build::of(&self.program.command);
        let mut settings = match &build {
            Some(build) => without_tool_classes(build, &self.settings.value()),
            None => self.settings.value(),
        };
        let place = BuildOutput::set(build.as_ref(), run, &mut settings)?;
        let began = SystemTime::now();
        let mut checked = CheckedOptions::new(&settings, &plugins, Some(run.to_owned()))?;
        checked.options.per_loader = self.per_loader;
        checked.options.before_agents = self.before_agents;
        let code = checked.launch(&self.program.command)?;
        let output = match place {
            Some(place) => place.settle()?,
            None => checked.output,
        };
        let report = run_files::snapshots_of(run, &output)
            .and_then(|found| self.report(&found, &output, build.as_ref(), began));
        with_exit_of_program(code, report)
    }

    fn visit(&self, pid: i32, run: &str) -> Result<u8, Error> {
        let given = [
            ("--exact-lines", self.exact_lines),
            ("--hit-counts", self.hit_counts),
        ];
        if self.before_agents {
            return Err(Error::mistake(
                codes::H0627,
                "--before-agents needs a command, not a running JVM",
            )
            .with(
                "cause",
                "other agents have changed the loaded classes already",
            )
            .with(
                "help",
                "start it with `classhook coverage --before-agents -- …`",
            ));
        }
        if self.per_loader {
            return Err(Error::mistake(codes::H0627, "--per-loader needs a command, not a running JVM")
                .with("cause", "a present agent may record all loaders together")
                .with("help", "start it with `classhook coverage --per-loader -- …`, or with the agent's option per-loader=on (docs/coverage.md)"));
        }
        if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
            return Err(Error::mistake(codes::H0627, format!("{option} needs a command, not a running JVM"))
                .with("cause", "a visit brings one plugin, and this takes two or three")
                .with("help", format!("start it with `classhook coverage {option} -- …`, or with the agent's options plugin=coverage,plugin=coverage-lines (docs/coverage.md)")));
        }
        let mut settings = self.settings.value();
        settings.metaspace = self.metaspace.value();
        let mut visit = AttachedPlugin::begin(pid, &Visitor::bundled("coverage"), &settings, run)?;
        let output = visit.output.clone();
        if visit.instrumented() == 0 {
            let warning = Warning::new(codes::H0650, "no loaded class is measured");
            let help = "selected classes are measured when they load; `classhook classes` lists the loaded classes";
            complain(warning.with("help", help));
        }
        visit.wait("measuring", self.program.time, &|| false)?;
        let ended = visit.end();
        if ended.instrumented == Some(0) {
            return Err(Error::mistake(codes::H0650, "no class was measured")
                .with(
                    "expected",
                    "a selected class among those loaded while the command was attached",
                )
                .with(
                    "found",
                    format!("--select {}", self.settings.plugins().select.join(" ")),
                )
                .with(
                    "help",
                    format!(
                        "`classhook attach {pid}`, then `classhook classes {pid}` lists the loaded classes with their loaders"
                    ),
                ));
        }
        let snapshot = match &ended.dump {
            None => ended.snapshot.clone(),
            Some(dump) => kept(dump, &ended.snapshot, &output, run)?,
        };
        let file = show::path(&snapshot);
        say(format_args!("the recording is kept in {file}"));
        let reported = self.report(&[snapshot], &output, None, SystemTime::now());
        ended.conclude(reported)
    }

    /// Checks options and inputs of the report before a long run.
    fn check_inputs(&self) -> Result<(), Error> {
        self.outputs.check(&[])?;
        self.outputs.check_per_test(true)?;
        self.outputs.check_writable()?;
        if self.per_loader {
            self.inputs.check_per_loader(&self.outputs)?;
        }
        self.rules.read()?;
        self.inputs.changes()?;
        let filter = Filter::new(&self.settings.plugins().select)?;
        filter.excluding(&self.inputs.exclude_annotation)?;
        let may_compile = self.may_compile();
        let places = self.inputs.classes.iter();
        let mut there = places.filter(|place| !may_compile || place.starts_with("jrt:"));
        there.try_for_each(|place| class_files::check(place))?;
        let modules = self.inputs.report_modules("");
        modules
            .iter()
            .try_for_each(|module| Sources::open(&module.sources).map(drop))
    }

    /// Checks whether the command may compile the reported classes: a script or a build may, `java` does not.
    fn may_compile(&self) -> bool {
        let program = self
            .program
            .command
            .first()
            .map(Path::new)
            .and_then(Path::file_name);
        program.is_some_and(|name| name != "java")
    }

    /// Returns the inputs of the report: for a build without --classes, the project's own classes and sources.
    fn report_inputs(
        &self,
        build: Option<&Build>,
        files: &[PathBuf],
        began: SystemTime,
    ) -> ReportInputs {
        let mut inputs = self.inputs.clone();
        let Some(build) = build.filter(|_| inputs.modules.is_empty()) else {
            return inputs;
        };
        let select = &self.settings.plugins().select;
        if inputs.classes.is_empty() && !selects_location(select) {
            let left_out;
            (inputs.classes, left_out) = match build.is_partial() {
                true => build.used_classes(began, &loaded_classes(files)),
                false => (build.classes(), 0),
            };
            say(java_builds::classes_note(build.tool(), &inputs.classes));
            if left_out > 0 {
                let (tool, places) = (build.tool(), counted(left_out, "other place"));
                say(format_args!(
                    "{tool}: the classes in {places} are not reported: this build neither compiled nor loaded one of them"
                ));
            }
        }
        if inputs.sources.is_empty() {
            inputs.sources = build.sources();
        }
        inputs
    }

    /// Writes the reports of the snapshots. Returns the exit code for a successful command.
    fn report(
        &self,
        files: &[PathBuf],
        output: &Path,
        build: Option<&Build>,
        began: SystemTime,
    ) -> Result<u8, Error> {
        if files.is_empty() {
            let help = build.map_or("check that the command starts a JVM; a daemon from before, as of sbt, has no agent: restart it", Build::without_agent);
            return Err(Error::mistake(codes::H0610, "nothing was recorded")
                .with(
                    "expected",
                    format!("at least one snapshot of this run in {}", output.display()),
                )
                .with("help", help));
        }
        let inputs = self.report_inputs(build, files, began);
        if let Some(build) = build.filter(|_| !self.inputs.has_classes()) {
            project_classes::keep(output, build.tool(), &inputs)?;
        }
        let mut outputs = self.outputs.clone();
        if !outputs.any() {
            outputs.html = Some(output.join("html"));
        }
        let job = ReportJob {
            files,
            filter: &Filter::new(&self.settings.plugins().select)?
                .excluding(&inputs.exclude_annotation)?,
            carry_over: false, // one run has one version
            per_loader: self.per_loader,
            inputs: &inputs,
            unloaded: Some(build.map_or(report::UNLOADED, Build::without_classes)),
            runs: &[],
            outputs: &outputs,
            requirements: &self.rules.read()?,
            summary: true,
            beside: outputs.takes_stdout(),
        };
        let mut damaged = DamagedFiles::new(self.inputs.strict_inputs);
        let outcome = report::make(&job, &mut damaged, &mut Warnings::default())?;
        let is_strict = self.settings.configuration().on_error == Some(OnError::Strict);
        outcome.end(is_strict)
    }
}

/// Returns a check for internal names of classes that a JVM of these snapshots loaded.
fn loaded_classes(files: &[PathBuf]) -> impl Fn(&str) -> bool {
    // The report itself fails on an unreadable file, or names it.
    let (mut damaged, mut warnings) = (DamagedFiles::new(false), Warnings::default());
    let recorded = ExecutionDataStore::read(files, &mut damaged, &mut warnings).ok();
    move |name| {
        recorded
            .as_ref()
            .is_some_and(|recorded| !recorded.ids_of(name).is_empty())
    }
}

/// Checks whether a selector names locations of classes.
fn selects_location(select: &[String]) -> bool {
    let mut parts = select.iter().flat_map(|selector| selector.split(';'));
    parts.any(|part| part.trim().starts_with("location:"))
}

/// Copies the measured part of the snapshot, which the agent continues to write.
fn kept(dump: &Dump, snapshot: &Path, output: &Path, run: &str) -> Result<PathBuf, Error> {
    let copy = output.join(format!("coverage-{run}.hook"));
    std::fs::create_dir_all(output).map_err(|error| Error::unwritable(output, &error))?;
    dump::copy(dump, snapshot, &copy)?;
    Ok(copy)
}
