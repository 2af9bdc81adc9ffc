//! Options that several commands share, each with one wording of its help.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use agent_launch::settings::{
    self, Change, Configuration, EventFiles, PluginSettings, Settings, Watch,
};
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use coverage::filter::Counting;
use coverage_analysis::ReportModule;
use differential_coverage::git::Changes;
use errors::{Error, codes};
use local_files::stdout::is_stdout;

use crate::durations;
use crate::heading;

/// Help of `PID`.
pub const PID: &str = "Select the running JVM by process id; `classhook ps` lists them";
/// Help of `--for`.
pub const FOR: &str =
    "Stop after this time: 500ms, 30s, 5m, 2h [default: at Ctrl-C or the end of the JVM]";
/// Help of `COMMAND`.
pub const COMMAND: &str = "Start this command, with its arguments, behind `--`";
/// Help of `--json`.
pub const JSON: &str = "Print the answer as JSON";
/// Help of `--grant`.
pub const GRANT: &str = "Grant capabilities to the plugins: probes, rewrite, structure, boot, natives, jvm-events.samples …; separated by commas; repeatable";
/// Help of `--plugin` and `PLUGIN`, where a project is built.
pub const PLUGIN: &str = "Load this plugin: a bundled one (coverage, patch, trace), a component file (.wasm) or a project's folder, which is built";
/// Help of `--config`, where one plugin runs outside of a JVM.
pub const PLUGIN_CONFIG: &str =
    "Read settings from this classhook.toml; the table `[[plugin]]` of the plugin";
/// Help of `--in`.
pub const CLASS_PATH: &str = "Search classes in this folder, jar or jrt:MODULE; repeatable";
/// Help of `--project`.
pub const PROJECT: &str = "Change the project in this folder";
/// Help of `--diff`.
pub const DIFF: &str = "Select lines changed since a git revision or in a range: origin/main (since the merge base, with uncommitted changes), HEAD~3.., A..B";
/// Help of `--all-runs`.
pub const ALL_RUNS: &str = "Read all runs of a folder [default: the last run]";
/// Help of `--strict-inputs`.
pub const STRICT_INPUTS: &str =
    "Fail if an input file is damaged [default: leave it out, and exit with 3]";
/// Help of `--methods`.
pub const METHODS: &str = "Trace these methods: com.acme.**, com.acme.Store.find*, com.acme.Store.get(I*; `!` excludes; repeatable";
/// Help of `--annotated`.
pub const ANNOTATED: &str = "Trace methods with this annotation, or of classes with it: com.acme.Traced, **.GetMapping; repeatable";
/// Help of `--text`.
pub const TEXT: &str = "Cut the text of a value to this number of bytes [default: 80]";
/// Help of `--interval`, where tables are printed.
pub const INTERVAL: &str = "Print a table at this interval: 5s, 1m; at least 1s";

/// Parses the path of an output that cannot go to standard output, such as a folder.
#[must_use]
pub fn output_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match is_stdout(&path) {
        true => Err("standard output takes one text; write `./-` for a file of this name"),
        false => Ok(path),
    })
}

/// Reaction to a failure in a plugin or in the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnError {
    /// Load the class unchanged, and print a warning
    Warn,
    /// Do the same, and end the run with exit code 3
    Strict,
}

impl From<OnError> for settings::OnError {
    fn from(mode: OnError) -> Self {
        match mode {
            OnError::Warn => Self::Warn,
            OnError::Strict => Self::Strict,
        }
    }
}

/// Plugins of the agent.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::PLUGINS)]
pub struct Plugins {
    /// Load this plugin: a bundled one (coverage, patch, trace), a component file (.wasm) or a project's folder, which is built; repeatable [default: coverage]
    #[arg(long = "plugin", value_name = "NAME|FILE|DIR")]
    pub names: Vec<OsString>,
}

/// Classes, capabilities and configuration of the plugins.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::PLUGINS)]
pub struct PluginArguments {
    /// Select only these classes: com.acme.**, @annotation, <:supertype, source:FILE, loader:app, location:FOLDER|JAR; `!` excludes; repeatable
    #[arg(long, value_name = "SELECTOR")]
    pub select: Vec<String>,
    /// Capabilities of the plugins.
    #[arg(long, value_name = "CAPABILITY", value_delimiter = ',', help = GRANT)]
    pub grant: Vec<String>,
    /// Configure the plugins with this JSON object, in place of a [plugin.config] table
    #[arg(long, value_name = "JSON")]
    pub plugin_settings: Option<String>,
}

impl PluginArguments {
    /// Returns the settings of the plugins.
    #[must_use]
    pub fn value(&self) -> PluginSettings {
        let given = self.clone();
        PluginSettings {
            select: given.select,
            grant: given.grant,
            plugin_settings: given.plugin_settings,
            watch: Watch::default(),
        }
    }
}

/// Settings of agent and plugins that decide the edits of classes, in a JVM or outside.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::AGENT)]
pub struct ConfigurationArguments {
    /// Read settings from this classhook.toml; options override it
    #[arg(id = "config", long = "config", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Choose the reaction to failures of plugins and agent [default: warn]
    #[arg(long, value_name = "MODE")]
    pub on_error: Option<OnError>,
    /// The options of the plugins.
    #[command(flatten)]
    pub plugins: PluginArguments,
}

impl ConfigurationArguments {
    /// Returns the settings that decide the edits.
    #[must_use]
    pub fn value(&self) -> Configuration {
        Configuration {
            file: self.file.clone(),
            on_error: self.on_error.map(Into::into),
            plugins: self.plugins.value(),
            advice: None,
        }
    }
}

/// Options of the agent that can change while it runs.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::AGENT)]
pub struct ChangeArguments {
    /// Set the agent's log level: off, error, warn, info, debug, trace
    #[arg(long, value_name = "LEVEL")]
    pub log: Option<String>,
    /// Settings that decide the edits.
    #[command(flatten)]
    pub configuration: ConfigurationArguments,
}

impl ChangeArguments {
    /// Returns the settings that can change.
    #[must_use]
    pub fn value(&self) -> Change {
        Change {
            log: self.log.clone(),
            configuration: self.configuration.value(),
        }
    }
}

/// Options of an agent, started with the JVM or attached.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::AGENT)]
pub struct AgentArguments {
    /// Write recordings to this folder [default: classhook; in builds target/classhook or build/classhook]
    #[arg(short, long, value_name = "DIR", value_parser = output_path())]
    pub output: Option<PathBuf>,
    /// Name the recorded files, in front of a random number: %p process id, %h host, %t start time, %u user
    #[arg(long, value_name = "NAME")]
    pub file_name: Option<String>,
    /// Options that can change while the agent runs.
    #[command(flatten)]
    pub change: ChangeArguments,
}

impl AgentArguments {
    /// Returns the settings of the agent.
    #[must_use]
    pub fn value(&self) -> Settings {
        Settings {
            output: self.output.clone(),
            file_name: self.file_name.clone(),
            ..Settings::from(self.change.value())
        }
    }

    /// Returns the options that decide the edits.
    #[must_use]
    pub fn configuration(&self) -> &ConfigurationArguments {
        &self.change.configuration
    }

    /// Returns the options of the plugins.
    #[must_use]
    pub fn plugins(&self) -> &PluginArguments {
        &self.configuration().plugins
    }
}

/// Limit of event files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = heading::AGENT)]
pub struct EventFileArguments {
    /// Limit the size of an event file: 500M, 2G; at least 8M
    #[arg(long, value_name = "SIZE")]
    pub max_size: Option<String>,
    /// Choose the calls to drop at --max-size; sums continue [default: drop-oldest]
    #[arg(long, value_name = "MODE", requires = "max_size")]
    pub when_full: Option<WhenFull>,
}

/// Single calls that a full event file drops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WhenFull {
    /// Drop the oldest calls
    DropOldest,
    /// Drop new calls
    Stop,
}

impl From<WhenFull> for settings::WhenFull {
    fn from(mode: WhenFull) -> Self {
        match mode {
            WhenFull::DropOldest => Self::DropOldest,
            WhenFull::Stop => Self::Stop,
        }
    }
}

impl EventFileArguments {
    /// Returns the agent's settings with this limit.
    #[must_use]
    pub fn added(&self, mut settings: Settings) -> Settings {
        settings.event_files = EventFiles {
            max_size: self.max_size.clone(),
            when_full: self.when_full.map(Into::into),
        };
        settings
    }
}

/// The running JVM whose agent answers, and the form of the answer.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = heading::NONE)]
pub struct Target {
    /// The process id.
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..), help = PID)]
    pub pid: i32,
    /// Prints JSON.
    #[arg(long, help = JSON)]
    pub json: bool,
}

/// A running JVM to visit, or a command to start.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::NONE)]
pub struct JvmOrCommand {
    /// The length of a visit.
    #[arg(long = "for", value_name = "DURATION", requires = "pid", conflicts_with = "command", value_parser = durations::duration, help = FOR)]
    pub time: Option<Duration>,
    /// The process id of the JVM.
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..), conflicts_with = "command", help = PID)]
    pub pid: Option<i32>,
    /// The command and its arguments.
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "pid", help = COMMAND)]
    pub command: Vec<OsString>,
}

/// A command to start with the agent in its JVMs.
#[derive(Debug, Clone, Default, Args)]
pub struct Start {
    /// The options of the agent.
    #[command(flatten)]
    pub settings: AgentArguments,
    /// The command and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND", help = COMMAND, help_heading = heading::NONE)]
    pub command: Vec<OsString>,
}

/// Recorded files, and the classes to report.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::CONTENTS)]
pub struct Recorded {
    /// Read these snapshots (.hook), event files (.events) and JaCoCo's files (.exec), or folders with them
    #[arg(required = true, value_name = "SNAPSHOT|DIR", help_heading = heading::NONE)]
    pub files: Vec<PathBuf>,
    /// Select only these classes: com.acme.**, @annotation, <:supertype; `!` excludes; repeatable
    #[arg(long, value_name = "SELECTOR")]
    pub select: Vec<String>,
    /// Count results of unchanged methods in classes that changed since the run
    #[arg(long)]
    pub carry_over: bool,
    /// Report each class loader as a module
    #[arg(long, conflicts_with = "carry_over")]
    pub per_loader: bool,
    /// Reads all runs.
    #[arg(long, help = ALL_RUNS)]
    pub all_runs: bool,
    /// Classes, sources and lines of the report.
    #[command(flatten)]
    pub inputs: ReportInputs,
}

impl Recorded {
    /// Refuses options that would have no effect.
    ///
    /// # Errors
    /// `H0606` for `--carry-over` without class files.
    pub fn check(&self) -> Result<(), Error> {
        match self.carry_over && !self.inputs.has_classes() {
            true => Err(
                Error::mistake(codes::H0606, "--carry-over needs class files")
                    .with(
                        "expected",
                        "--classes or --module, with the present class files",
                    )
                    .with(
                        "help",
                        "add one of them, or leave --carry-over out to report the executed classes",
                    ),
            ),
            false => Ok(()),
        }
    }
}

/// Classes, sources and lines of a coverage report.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::CONTENTS)]
pub struct ReportInputs {
    /// Select the classes in this folder, jar or jrt:MODULE; loaded or not, and no others; nested jars too; repeatable
    #[arg(long, value_name = "PATH")]
    pub classes: Vec<String>,
    /// Show the sources in this folder, jar or src.zip in HTML; repeatable
    #[arg(long, value_name = "PATH")]
    pub sources: Vec<PathBuf>,
    /// Add a module with these classes and sources; repeatable, also for one name
    #[arg(long = "module", value_name = "NAME=CLASSES[,SOURCES]", conflicts_with_all = ["classes", "sources"])]
    pub modules: Vec<ModuleOption>,
    /// Leave out classes and methods with this annotation: its name, with or without package, `*` and `**`; not of source retention; repeatable
    #[arg(long, value_name = "ANNOTATION")]
    pub exclude_annotation: Vec<String>,
    /// Choose the code to count (docs/filters.md) [default: jacoco]
    #[arg(long, value_name = "WHAT")]
    pub counters: Option<Counters>,
    /// The range of changed lines.
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true, help = DIFF)]
    pub diff: Option<String>,
    /// Fails on damaged inputs.
    #[arg(long, help = STRICT_INPUTS)]
    pub strict_inputs: bool,
}

/// The code that counters count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Counters {
    /// Count the code that JaCoCo counts
    Jacoco,
    /// Count the code of the source, without more compiler-generated code
    Source,
}

/// The value of `--module`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleOption {
    name: String,
    classes: String,
    sources: Option<PathBuf>,
}

impl FromStr for ModuleOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            "expected `NAME=CLASSES` or `NAME=CLASSES,SOURCES`, such as `core=core/target/classes,core/src/main/java`"
                .to_owned()
        };
        let (name, places) = text.split_once('=').ok_or_else(wrong)?;
        let (classes, sources) = match places.split_once(',') {
            Some((classes, sources)) => (classes, Some(sources)),
            None => (places, None),
        };
        if name.is_empty() || classes.is_empty() || sources == Some("") {
            return Err(wrong());
        }
        Ok(Self {
            name: name.to_owned(),
            classes: classes.to_owned(),
            sources: sources.map(PathBuf::from),
        })
    }
}

impl ReportInputs {
    /// Refuses options that cannot go with a report of class loaders as modules.
    ///
    /// # Errors
    /// `H0606` names the option.
    pub fn check_per_loader(&self, outputs: &Outputs) -> Result<(), Error> {
        let refused = [
            (
                "--module",
                !self.modules.is_empty(),
                "class loaders are the modules of such a report; select classes with --classes",
            ),
            (
                "--diff",
                self.diff.is_some(),
                "a changed line counts once for all loaders of its class",
            ),
            (
                "--exec",
                outputs.exec.is_some(),
                "JaCoCo's execution data holds each class once; `classhook report --exec` without --per-loader unites the loaders",
            ),
            (
                "--sonar",
                outputs.sonar.is_some(),
                "SonarQube accepts each file once; without --per-loader the report unites the loaders",
            ),
            (
                "--per-test",
                outputs.per_test,
                "the recording of single tests covers all loaders together",
            ),
        ];
        match refused.iter().find(|(_, given, _)| *given) {
            None => Ok(()),
            Some((option, _, cause)) => Err(Error::mistake(
                codes::H0606,
                format!("{option} cannot be combined with --per-loader"),
            )
            .with("cause", *cause)),
        }
    }

    /// Returns the modules in order of their first mention, or one module with all classes and this name.
    #[must_use]
    pub fn report_modules(&self, name: &str) -> Vec<ReportModule> {
        if self.modules.is_empty() {
            return vec![ReportModule {
                name: name.to_owned(),
                classes: self.classes.clone(),
                sources: self.sources.clone(),
            }];
        }
        let mut found: Vec<ReportModule> = Vec::new();
        for module in &self.modules {
            let known = found.iter_mut().find(|known| known.name == module.name);
            let (classes, sources) = (module.classes.clone(), module.sources.iter().cloned());
            match known {
                Some(known) => {
                    known.classes.push(classes);
                    known.sources.extend(sources);
                }
                None => found.push(ReportModule {
                    name: module.name.clone(),
                    classes: vec![classes],
                    sources: sources.collect(),
                }),
            }
        }
        found
    }

    /// Returns the code that counters count.
    #[must_use]
    pub fn counting(&self) -> Counting {
        match self.counters {
            None | Some(Counters::Jacoco) => Counting::Jacoco,
            Some(Counters::Source) => Counting::Source,
        }
    }

    /// Checks whether options name class files.
    #[must_use]
    pub fn has_classes(&self) -> bool {
        !self.classes.is_empty() || !self.modules.is_empty()
    }

    /// Reads the changed lines from git, for `--diff`.
    ///
    /// # Errors
    /// As [`Changes::read`].
    pub fn changes(&self) -> Result<Option<Changes>, Error> {
        self.diff.as_deref().map(Changes::read).transpose()
    }
}

/// Files of a coverage report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = heading::REPORTS)]
pub struct Outputs {
    /// Write an HTML report to this folder
    #[arg(long, value_name = "DIR", value_parser = output_path())]
    pub html: Option<PathBuf>,
    /// Write JaCoCo's XML to this file
    #[arg(long, value_name = "FILE")]
    pub xml: Option<PathBuf>,
    /// Write JaCoCo's CSV to this file
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write an LCOV tracefile to this file
    #[arg(long, value_name = "FILE")]
    pub lcov: Option<PathBuf>,
    /// Write Cobertura's XML to this file
    #[arg(long, value_name = "FILE")]
    pub cobertura: Option<PathBuf>,
    /// Write SonarQube's generic coverage report to this file
    #[arg(long, value_name = "FILE")]
    pub sonar: Option<PathBuf>,
    /// Write all counters and lines as JSON (docs/coverage-reports.md) to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a badge (SVG) with the line coverage to this file
    #[arg(long, value_name = "FILE")]
    pub badge: Option<PathBuf>,
    /// Write a summary in Markdown to this file; as for a pull request, or to standard output (-)
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write JaCoCo's execution data to this file
    #[arg(long, value_name = "FILE", value_parser = output_path())]
    pub exec: Option<PathBuf>,
    /// Name the tests that executed each line, in HTML, LCOV and JSON; the run needs the test listener (docs/how-to/tests.md)
    #[arg(long)]
    pub per_test: bool,
    /// Name the report [default: Code coverage]
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
}
