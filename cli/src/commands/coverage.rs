//! `classhook coverage`: a run or a visit to a running JVM, then its reports.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::Args;
use control::message::Dump;
use trace::numbers::counted;

use super::dump;
use super::report::{self, Job};
use crate::args::{Material, OnError, Outputs, Settings};
use crate::attached::{AttachedPlugin, Visitor};
use crate::build_output::BuildOutput;
use crate::build_tools::{self, Build};
use crate::checked_options::{CheckedOptions, run_id};
use crate::inputs::class_files;
use crate::inputs::damaged_files::DamagedFiles;
use crate::inputs::execution_data::{COUNTS, ExecutionDataStore, LINES};
use crate::inputs::run_files;
use crate::inputs::sources::Sources;
use crate::metaspace::Metaspace;
use crate::problem::{PARTIAL, Problem};
use crate::project_classes;
use crate::requirements::Rules;
use crate::select::Filter;
use crate::show::{self, all_but_last, complain, say};
use crate::until;
use crate::warnings::{Warning, Warnings};

const AFTER_HELP: &str = "\
With a command behind `--`, all JVMs below it are measured and united: the forks of a build as well.
The exit code is the command's own, 128 + signal if it was killed; if that is 0, 4 where less is covered than
--fail-under asks for.

With a PID, a JVM that is running is measured until the time is over, Ctrl-C is pressed or it ends; then it is as it was before.
Classes that it has loaded already are measured, too. If the agent is in it for something else, that goes on.
Without --select, only the application is measured, not its libraries and servers; --select '**' takes all.

With --classes, only the classes found there are reported; those that never loaded count as missed.
Of a build with mvn, gradle, ant or bazel, the project's own classes are reported, without tests and the build tool's own
classes, unless --classes or --select location:… says otherwise (docs/coverage.md).

Prints a table and writes HTML to the folder `html` in the output folder, unless other reports are asked for.

Examples:
  classhook coverage -- java -jar app.jar
  classhook coverage --xml target/coverage.xml -- mvn test
  classhook coverage --select 'com.acme.**' --xml coverage.xml --lcov lcov.info -- ./gradlew test --no-daemon
  classhook coverage --select 'location:lib/core-*.jar' -- java -cp 'lib/*' com.acme.Main
  classhook coverage 4711 --select 'com.acme.**' --for 30s --html html";

/// Starts a command, or visits a running JVM, measures its code coverage, and reports it.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Coverage {
    /// A JVM that is running; `classhook ps` lists them
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub pid: Option<i32>,
    /// How long a running JVM is measured: 500ms, 30s, 5m, 2h [default: until Ctrl-C]
    #[arg(long = "for", value_name = "DURATION", requires = "pid", conflicts_with = "command", value_parser = until::duration)]
    pub time: Option<Duration>,
    /// The options of the agent.
    #[command(flatten)]
    pub settings: Settings,
    /// Count what was executed of lines that ended with an exception, too, by a probe where each line begins
    #[arg(long, conflicts_with = "config")]
    pub exact_lines: bool,
    /// Count how often each line is executed, for LCOV, Cobertura, JSON and HTML; with --exact-lines
    #[arg(long, conflicts_with = "config")]
    pub hit_counts: bool,
    /// Measure a class in several class loaders apart, and report each loader as a module
    #[arg(long, conflicts_with = "hit_counts")]
    pub per_loader: bool,
    /// Measure classes as they are before other agents change them, such as AspectJ's weaver; not with a PID
    #[arg(long)]
    pub before_agents: bool,
    /// The check of the metaspace.
    #[command(flatten)]
    pub metaspace: Metaspace,
    /// Where classes and sources are.
    #[command(flatten)]
    pub material: Material,
    /// Which reports to write.
    #[command(flatten)]
    pub outputs: Outputs,
    /// How much has to be covered.
    #[command(flatten)]
    pub rules: Rules,
    /// The command and its arguments, behind `--`
    #[arg(
        last = true,
        required_unless_present = "pid",
        conflicts_with = "pid",
        value_name = "COMMAND"
    )]
    pub command: Vec<OsString>,
}

impl Coverage {
    /// Runs the command and reports, or measures a running JVM; the result is the command's exit code.
    ///
    /// # Errors
    /// If options, configuration, agent, command or JVM are wrong, or no report can be made of a run that went well.
    pub fn run(&self) -> Result<u8, Problem> {
        self.check_material()?;
        self.metaspace.check(self.pid)?;
        let run = run_id();
        match self.pid {
            Some(pid) => self.visit(pid, &run),
            None => self.start(&run),
        }
    }

    fn start(&self, run: &str) -> Result<u8, Problem> {
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
        let build = Build::of(&self.command);
        let mut settings = match &build {
            Some(build) => build.narrowed(&self.settings),
            None => self.settings.clone(),
        };
        let place = BuildOutput::set(build.as_ref(), run, &mut settings)?;
        let began = SystemTime::now();
        let mut checked = CheckedOptions::new(&settings, &plugins, Some(run.to_owned()))?;
        checked.options.per_loader = self.per_loader;
        checked.options.before_agents = self.before_agents;
        let code = checked.launch(&self.command)?;
        let output = match place {
            Some(place) => place.settle()?,
            None => checked.output,
        };
        let report = run_files::snapshots_of(run, &output)
            .and_then(|found| self.report(&found, &output, build.as_ref(), began));
        match report {
            Ok(reported) if code == 0 => Ok(reported),
            Ok(_) => Ok(code),
            Err(problem) if code == 0 => Err(problem),
            Err(problem) => {
                complain(format_args!("{problem}\n"));
                Ok(code)
            }
        }
    }

    fn visit(&self, pid: i32, run: &str) -> Result<u8, Problem> {
        let given = [
            ("--exact-lines", self.exact_lines),
            ("--hit-counts", self.hit_counts),
        ];
        if self.before_agents {
            return Err(Problem::user(
                "H0627",
                "--before-agents goes with a command, not with a JVM that is running",
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
            return Err(Problem::user("H0627", "--per-loader goes with a command, not with a JVM that is running")
                .with("cause", "an agent that was there before may record all loaders together")
                .with("help", "start it with `classhook coverage --per-loader -- …`, or with the agent's option per-loader=on (docs/coverage.md)"));
        }
        if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
            return Err(Problem::user("H0627", format!("{option} goes with a command, not with a JVM that is running"))
                .with("cause", "a visit brings one plugin, and this takes two or three")
                .with("help", format!("start it with `classhook coverage {option} -- …`, or with the agent's options plugin=coverage,plugin=coverage-lines (docs/coverage.md)")));
        }
        let mut settings = self.settings.clone();
        settings.metaspace = self.metaspace;
        let mut visit = AttachedPlugin::begin(pid, &Visitor::bundled("coverage"), &settings, run)?;
        let output = visit.output.clone();
        if visit.instrumented() == 0 {
            let warning = Warning::new("H0650", "no class that is loaded is measured");
            let help = "classes that are loaded from now on are, if they are selected; `classhook classes` lists those that are there";
            complain(warning.with("help", help));
        }
        visit.wait("measuring", self.time, &|| false)?;
        let mut ended = visit.end();
        if ended.instrumented == Some(0) {
            return Err(Problem::user("H0650", "no class was measured")
                .with(
                    "expected",
                    "at least one class that is loaded, or was meanwhile, to be selected",
                )
                .with(
                    "found",
                    format!("--select {}", self.settings.plugins().select.join(" ")),
                )
                .with(
                    "help",
                    format!(
                        "`classhook attach {pid}`, then `classhook classes {pid}`: it lists the loaded classes with their loaders"
                    ),
                ));
        }
        let snapshot = match &ended.dump {
            None => ended.snapshot,
            Some(dump) => kept(dump, &ended.snapshot, &output, run)?,
        };
        let unanswered = ended.unanswered.take();
        let file = show::path(&snapshot);
        say(format_args!("the recording stays in {file}"));
        let reported = self.report(&[snapshot], &output, None, SystemTime::now());
        if let Some(problem) = unanswered {
            return all_but_last(reported.err().into_iter().chain([problem])).map(|()| PARTIAL);
        }
        Ok(match reported? {
            0 if ended.is_partial => PARTIAL,
            code => code,
        })
    }

    /// Mistakes in what the report needs are reported before a long run, not after it.
    fn check_material(&self) -> Result<(), Problem> {
        self.outputs.check(&[])?;
        self.outputs.check_per_test(true)?;
        self.outputs.check_writable()?;
        if self.per_loader {
            self.material.check_per_loader(&self.outputs)?;
        }
        self.rules.read()?;
        self.material.changes()?;
        let filter = Filter::new(&self.settings.plugins().select)?;
        filter.excluding(&self.material.exclude_annotation)?;
        let may_compile = self.may_compile();
        let places = self.material.classes.iter();
        let mut there = places.filter(|place| !may_compile || place.starts_with("jrt:"));
        there.try_for_each(|place| class_files::check(place))?;
        let parts = self.material.parts("");
        parts
            .iter()
            .try_for_each(|part| Sources::open(&part.sources).map(drop))
    }

    /// Whether the command may make the classes that are to be reported: a script or a build may, `java` does not.
    fn may_compile(&self) -> bool {
        let program = self
            .command
            .first()
            .map(Path::new)
            .and_then(Path::file_name);
        program.is_some_and(|name| name != "java")
    }

    /// What the report is made from: of a build that is not told otherwise, the project's own classes and sources.
    fn material(&self, build: Option<&Build>, files: &[PathBuf], began: SystemTime) -> Material {
        let mut material = self.material.clone();
        let Some(build) = build.filter(|_| material.modules.is_empty()) else {
            return material;
        };
        let select = &self.settings.plugins().select;
        if material.classes.is_empty() && !selects_location(select) {
            let left_out;
            (material.classes, left_out) = match build.is_partial() {
                true => build.used_classes(began, &loaded_classes(files)),
                false => (build.classes(), 0),
            };
            say(build_tools::told(build.tool(), &material.classes));
            if left_out > 0 {
                let (tool, places) = (build.tool(), counted(left_out, "other place"));
                say(format_args!(
                    "{tool}: the classes in {places} are not reported: this build neither made nor loaded one of them"
                ));
            }
        }
        if material.sources.is_empty() {
            material.sources = build.sources();
        }
        material
    }

    /// Reports on these snapshots; gives the exit code of a command that went well.
    fn report(
        &self,
        files: &[PathBuf],
        output: &Path,
        build: Option<&Build>,
        began: SystemTime,
    ) -> Result<u8, Problem> {
        if files.is_empty() {
            let help = build.map_or("does the command start a JVM? a daemon that was running before (sbt) does not get the agent: start it anew", Build::without_agent);
            return Err(Problem::user("H0610", "nothing was recorded")
                .with(
                    "expected",
                    format!("at least one snapshot of this run in {}", output.display()),
                )
                .with("help", help));
        }
        let material = self.material(build, files, began);
        if let Some(build) = build.filter(|_| !self.material.has_classes()) {
            project_classes::keep(output, build.tool(), &material)?;
        }
        let mut outputs = self.outputs.clone();
        if !outputs.any() {
            outputs.html = Some(output.join("html"));
        }
        let job = Job {
            files,
            filter: &Filter::new(&self.settings.plugins().select)?
                .excluding(&material.exclude_annotation)?,
            carry_over: false, // one run has one version
            per_loader: self.per_loader,
            material: &material,
            unloaded: Some(build.map_or(report::UNLOADED, Build::without_classes)),
            runs: &[],
            outputs: &outputs,
            requirements: &self.rules.read()?,
            summary: true,
            beside: outputs.takes_stdout(),
        };
        let mut damaged = DamagedFiles::new(self.material.strict_inputs);
        let made = report::make(&job, &mut damaged, &mut Warnings::default())?;
        let is_strict = self.settings.configuration().on_error == Some(OnError::Strict);
        made.end(is_strict)
    }
}

/// Returns a check for internal names of classes that a JVM of these snapshots loaded.
fn loaded_classes(files: &[PathBuf]) -> impl Fn(&str) -> bool {
    // A file that cannot be read ends the report, or is named in it, when it is read for that.
    let (mut damaged, mut warnings) = (DamagedFiles::new(false), Warnings::default());
    let recorded = ExecutionDataStore::read(files, &mut damaged, &mut warnings).ok();
    move |name| {
        recorded
            .as_ref()
            .is_some_and(|recorded| !recorded.ids_of(name).is_empty())
    }
}

/// Whether a selector says where classes are to come from.
fn selects_location(select: &[String]) -> bool {
    let mut parts = select.iter().flat_map(|selector| selector.split(';'));
    parts.any(|part| part.trim().starts_with("location:"))
}

/// A copy of what was measured, since the agent goes on writing to its snapshot.
fn kept(dump: &Dump, snapshot: &Path, output: &Path, run: &str) -> Result<PathBuf, Problem> {
    let copy = output.join(format!("coverage-{run}.hook"));
    std::fs::create_dir_all(output).map_err(|error| Problem::unwritable(output, &error))?;
    dump::copy(dump, snapshot, &copy)?;
    Ok(copy)
}
