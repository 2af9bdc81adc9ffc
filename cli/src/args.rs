//! The options that several commands share.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use coverage::filter::Counting;

use crate::changes::git::Changes;
use crate::metaspace::Metaspace;
use crate::problem::Problem;
use crate::stdout::is_stdout;

/// Reads the path of an output that is no single text: standard output, which `-` names elsewhere, cannot take it.
#[must_use]
pub fn place() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match is_stdout(&path) {
        true => Err("standard output takes one text; a file of this name is `./-`"),
        false => Ok(path),
    })
}

/// What a failure in a plugin or in the agent does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnError {
    /// The class is loaded unchanged, and that is told
    Warn,
    /// The same, and the run ends with exit code 3
    Strict,
}

impl OnError {
    /// The agent option's value.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Strict => "strict",
        }
    }
}

/// Which plugins work.
#[derive(Debug, Clone, Default, Args)]
pub struct Plugins {
    /// A bundled plugin (coverage, patch, trace), a component file (.wasm) or a project's folder, which is built; may be repeated [default: coverage]
    #[arg(long = "plugin", value_name = "NAME|FILE|DIR")]
    pub names: Vec<OsString>,
}

/// What plugins see and may do, and their options.
#[derive(Debug, Clone, Default, Args)]
pub struct PluginSettings {
    /// Classes to instrument: com.acme.**, @annotation, <:supertype, source:FILE, loader:app, location:FOLDER|JAR; `!` in front excludes; may be repeated
    #[arg(long, value_name = "SELECTOR")]
    pub select: Vec<String>,
    /// Capability granted to the plugins (probes, rewrite, structure, boot, natives, observe-samples …), or several with commas; may be repeated
    #[arg(long, value_name = "CAPABILITY", value_delimiter = ',')]
    pub grant: Vec<String>,
    /// What the plugins are configured with, as a JSON object in place of a [plugin.config] table
    #[arg(long, value_name = "JSON")]
    pub plugin_settings: Option<String>,
    /// Which single calls are kept, and with which values; set by the commands that have options for it.
    #[arg(skip)]
    pub watch: Watch,
}

/// Which single calls are kept, and with which values, as the agent's options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watch {
    /// A condition.
    pub when: Option<String>,
    /// A list of values.
    pub show: Option<String>,
    /// How many calls at most.
    pub calls: Option<u64>,
    /// How many within one second at most.
    pub per_second: Option<u32>,
    /// Subject of condition and list, unless that is calls.
    pub about: Option<String>,
    /// Objects within one another that are shown with what they hold.
    pub depth: Option<u8>,
}

impl PluginSettings {
    /// Whether anything is set.
    #[must_use]
    pub fn any(&self) -> bool {
        !self.select.is_empty()
            || !self.grant.is_empty()
            || self.plugin_settings.is_some()
            || self.watch != Watch::default()
    }
}

/// How classes are changed, in a JVM or outside.
#[derive(Debug, Clone, Default, Args)]
pub struct Configuration {
    /// Settings of agent and plugins, a classhook.toml; other options come on top of it
    #[arg(id = "config", long = "config", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The options of the plugins.
    #[command(flatten)]
    pub plugins: PluginSettings,
    /// What a failure does [default: warn]
    #[arg(long, value_name = "MODE")]
    pub on_error: Option<OnError>,
}

/// Options for an agent that is in the JVM already.
#[derive(Debug, Clone, Default, Args)]
pub struct Change {
    /// How it changes classes.
    #[command(flatten)]
    pub configuration: Configuration,
    /// How much the agent says: off, error, warn, info, debug, trace
    #[arg(long, value_name = "LEVEL")]
    pub log: Option<String>,
}

/// Options for an agent, whichever way it gets into a JVM.
#[derive(Debug, Clone, Default, Args)]
pub struct Settings {
    /// Folder for snapshots [default: classhook; of builds target/classhook or build/classhook]
    #[arg(short, long, value_name = "DIR", value_parser = place())]
    pub output: Option<PathBuf>,
    /// True if the folder was made for this command alone, and goes with it; set by `PassingFolder`.
    #[arg(skip)]
    pub is_output_passing: bool,
    /// What the files in it are called, in front of a random number: %p process id, %h machine, %t time of the start, %u user
    #[arg(long, value_name = "NAME")]
    pub file_name: Option<String>,
    /// How long event files may become; set by the commands that have options for it.
    #[arg(skip)]
    pub event_files: EventFiles,
    /// Records waits beside calls; set by the commands that show them.
    #[arg(skip)]
    pub waits: bool,
    /// The check of the metaspace; set by the commands that have an option for it.
    #[arg(skip)]
    pub metaspace: Metaspace,
    /// Options that can be changed later.
    #[command(flatten)]
    pub change: Change,
}

impl Settings {
    /// Checks whether an option names the folder for recordings.
    #[must_use]
    pub fn names_output(&self) -> bool {
        self.output.is_some() && !self.is_output_passing
    }

    /// How classes are changed.
    #[must_use]
    pub fn configuration(&self) -> &Configuration {
        &self.change.configuration
    }

    /// The options of the plugins.
    #[must_use]
    pub fn plugins(&self) -> &PluginSettings {
        &self.configuration().plugins
    }
}

impl From<Change> for Settings {
    fn from(change: Change) -> Self {
        Self {
            output: None,
            is_output_passing: false,
            file_name: None,
            event_files: EventFiles::default(),
            waits: false,
            metaspace: Metaspace::default(),
            change,
        }
    }
}

impl From<Configuration> for Settings {
    fn from(configuration: Configuration) -> Self {
        Self::from(Change {
            configuration,
            log: None,
        })
    }
}

impl From<PluginSettings> for Settings {
    fn from(plugins: PluginSettings) -> Self {
        Self::from(Configuration {
            plugins,
            ..Configuration::default()
        })
    }
}

/// How long event files may become.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct EventFiles {
    /// How long an event file may become: 500M, 2G; at least 8M
    #[arg(long, value_name = "SIZE")]
    pub max_size: Option<String>,
    /// What becomes of single calls when an event file is that long; sums go on [default: drop-oldest]
    #[arg(long, value_name = "MODE", requires = "max_size")]
    pub when_full: Option<WhenFull>,
}

/// What becomes of single calls when an event file is as long as it may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WhenFull {
    /// The oldest are taken out of it
    DropOldest,
    /// No more of them are written
    Stop,
}

impl WhenFull {
    /// The agent option's value.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DropOldest => "drop-oldest",
            Self::Stop => "stop",
        }
    }
}

impl EventFiles {
    /// The agent's settings with these among them.
    #[must_use]
    pub fn added(&self, mut settings: Settings) -> Settings {
        settings.event_files = self.clone();
        settings
    }
}

/// The JVM that is spoken to, and how its answer is shown.
#[derive(Debug, Clone, Args)]
pub struct Target {
    /// The JVM's process id; `classhook ps` lists them
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub pid: i32,
    /// Print the agent's answer as JSON
    #[arg(long)]
    pub json: bool,
}

/// What starting a command needs.
#[derive(Debug, Clone, Default, Args)]
pub struct Start {
    /// The options of the agent.
    #[command(flatten)]
    pub settings: Settings,
    /// The command and its arguments, behind `--`
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// What runs left, and which classes of it are meant.
#[derive(Debug, Clone, Default, Args)]
pub struct Recorded {
    /// Snapshots (.hook), event files (.events) and JaCoCo's files (.exec), or folders that hold them
    #[arg(required = true, value_name = "SNAPSHOT|DIR")]
    pub files: Vec<PathBuf>,
    /// Only these classes: com.acme.**, @annotation, <:supertype; `!` in front excludes; may be repeated
    #[arg(long, value_name = "SELECTOR")]
    pub select: Vec<String>,
    /// Of a class that ran in another version than the one found, count what ran of methods whose code is the same
    #[arg(long)]
    pub carry_over: bool,
    /// Report what ran of a class in several class loaders apart, each loader as a module; of what `coverage --per-loader` recorded
    #[arg(long, conflicts_with = "carry_over")]
    pub per_loader: bool,
    /// Take all runs that lie in a folder, not only the last
    #[arg(long)]
    pub all_runs: bool,
    /// Where classes and sources are.
    #[command(flatten)]
    pub material: Material,
}

impl Recorded {
    /// Refuses options that would have no effect.
    ///
    /// # Errors
    /// `H0606` if results are to be carried over and nothing says to which class files.
    pub fn check(&self) -> Result<(), Problem> {
        match self.carry_over && !self.material.has_classes() {
            true => Err(Problem::user(
                "H0606",
                "--carry-over has nothing to carry results over to",
            )
            .with(
                "expected",
                "--classes or --module, with the class files as they are now",
            )
            .with("help", "without it the report holds the classes that ran")),
            false => Ok(()),
        }
    }
}

/// Where classes and sources are.
#[derive(Debug, Clone, Default, Args)]
pub struct Material {
    /// Only the classes in this folder, jar (jars within it, too) or jrt:MODULE are reported, also those never loaded; one place each time, repeated for more
    #[arg(long, value_name = "PATH")]
    pub classes: Vec<String>,
    /// Sources to show in HTML: a folder, a jar, or a src.zip; may be repeated
    #[arg(long, value_name = "PATH")]
    pub sources: Vec<PathBuf>,
    /// A module of the report, whose classes and sources lie there; may be repeated, also for one name
    #[arg(long = "module", value_name = "NAME=CLASSES[,SOURCES]", conflicts_with_all = ["classes", "sources"])]
    pub modules: Vec<ModulePlaces>,
    /// Leave out classes and methods with this annotation: its name, with or without the package, * and ** in it; it must not have source retention; may be repeated
    #[arg(long, value_name = "ANNOTATION")]
    pub exclude_annotation: Vec<String>,
    /// Count as JaCoCo does, or the code of the source alone, without more of the code that compilers make (docs/coverage.md) [default: jacoco]
    #[arg(long, value_name = "WHAT")]
    pub counters: Option<Counters>,
    /// Only the lines changed since a git revision (origin/main: since HEAD left it, also what is not committed) or in a range (HEAD~3..)
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub diff: Option<String>,
    /// Report nothing if a file of a run or a class file is damaged; else it is left out and named, and the exit code is 3
    #[arg(long)]
    pub strict_inputs: bool,
}

/// The subject of counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Counters {
    /// The code that JaCoCo counts
    Jacoco,
    /// The code of the source
    Source,
}

/// What `--module` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModulePlaces {
    name: String,
    classes: String,
    sources: Option<PathBuf>,
}

impl FromStr for ModulePlaces {
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

/// A part of a report with its own name: a module, or everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Folders, jars and modules of the JDK with its classes; none stand for what was recorded.
    pub classes: Vec<String>,
    /// Where its sources are.
    pub sources: Vec<PathBuf>,
}

impl Material {
    /// Refuses what has no place for results of single loaders, or names modules itself.
    ///
    /// # Errors
    /// `H0606` with the option.
    pub fn check_per_loader(&self, outputs: &Outputs) -> Result<(), Problem> {
        let refused = [
            (
                "--module",
                !self.modules.is_empty(),
                "loaders are the modules of such a report; --classes names classes",
            ),
            (
                "--diff",
                self.diff.is_some(),
                "a changed line is one line, whichever loaders have loaded its class",
            ),
            (
                "--exec",
                outputs.exec.is_some(),
                "JaCoCo's execution data holds each class once; `classhook report --exec` without --per-loader unites the loaders",
            ),
            (
                "--sonar",
                outputs.sonar.is_some(),
                "SonarQube takes each file once; without --per-loader the loaders are united",
            ),
            (
                "--per-test",
                outputs.per_test,
                "what single tests executed is recorded for all loaders together",
            ),
        ];
        match refused.iter().find(|(_, given, _)| *given) {
            None => Ok(()),
            Some((option, _, cause)) => Err(Problem::user(
                "H0606",
                format!("{option} does not go with --per-loader"),
            )
            .with("cause", *cause)),
        }
    }

    /// The modules in the order in which they are named first; without any, everything, with this name.
    #[must_use]
    pub fn parts(&self, name: &str) -> Vec<Part> {
        if self.modules.is_empty() {
            return vec![Part {
                name: name.to_owned(),
                classes: self.classes.clone(),
                sources: self.sources.clone(),
            }];
        }
        let mut parts: Vec<Part> = Vec::new();
        for module in &self.modules {
            let known = parts.iter_mut().find(|part| part.name == module.name);
            let (classes, sources) = (module.classes.clone(), module.sources.iter().cloned());
            match known {
                Some(part) => {
                    part.classes.push(classes);
                    part.sources.extend(sources);
                }
                None => parts.push(Part {
                    name: module.name.clone(),
                    classes: vec![classes],
                    sources: sources.collect(),
                }),
            }
        }
        parts
    }

    /// Returns the subject of the counters.
    #[must_use]
    pub fn counting(&self) -> Counting {
        match self.counters {
            None | Some(Counters::Jacoco) => Counting::Jacoco,
            Some(Counters::Source) => Counting::Source,
        }
    }

    /// Whether it says where classes are.
    #[must_use]
    pub fn has_classes(&self) -> bool {
        !self.classes.is_empty() || !self.modules.is_empty()
    }

    /// What git says is changed, if only that is to be reported.
    ///
    /// # Errors
    /// As [`Changes::read`].
    pub fn changes(&self) -> Result<Option<Changes>, Problem> {
        self.diff.as_deref().map(Changes::read).transpose()
    }
}

/// Which reports to write.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Outputs {
    /// Write an HTML report to this folder
    #[arg(long, value_name = "DIR", value_parser = place())]
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
    /// Write every counter, and the lines, as JSON (docs/coverage.md) to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a badge with the part of the lines that is covered, an SVG picture, to this file
    #[arg(long, value_name = "FILE")]
    pub badge: Option<PathBuf>,
    /// Write a summary in Markdown, as for a comment on a pull request, to this file, or to standard output (-); of changed lines with --diff
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write JaCoCo's execution data to this file
    #[arg(long, value_name = "FILE", value_parser = place())]
    pub exec: Option<PathBuf>,
    /// Name the tests that executed each line, in HTML, LCOV and JSON; of runs with the listener of tests (docs/coverage.md)
    #[arg(long)]
    pub per_test: bool,
    /// Name of the report [default: Code coverage]
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
}
