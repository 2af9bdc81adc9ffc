//! The command line's words.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands::{
    attach, classes, coverage, disable, dump, enable, explain, inspect, instrument, off, patch,
    patches, ps, reload, report, reset, rollback, run, status, trace, verify,
};
use crate::guard;

/// Instruments JVM classes from native code: code coverage without a line of Java in the way.
#[derive(Debug, Parser)]
#[command(name = "classhook", version, propagate_version = true, after_long_help = EXAMPLES)]
pub struct Classhook {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  Coverage of a program, as a table and as HTML in classhook/html:
    classhook coverage --sources src -- java -jar app.jar

  Coverage of a Maven build with all JVMs that it starts, as JaCoCo's XML:
    classhook coverage --xml target/coverage.xml -- mvn test

  What a program does all day, as a table and a flame graph:
    classhook trace --methods 'com.acme.**' --flame-graph flame.svg -- java -jar app.jar

  Record now, report later, also from several runs:
    classhook run --output out -- java -jar app.jar
    classhook report out --classes app.jar --html out/html

  The same without this command:
    java -agentpath:/path/to/libclasshook.so=output=out -jar app.jar

`classhook help COMMAND` tells more of each command.
Exit codes: the child's own; 2 for a mistake in what was asked for, 1 for ours, 3 if a run is strict and something failed.";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start a command with the agent in its JVMs
    Run(run::Run),
    /// Start a command, measure its code coverage, and report it
    Coverage(coverage::Coverage),
    /// Trace the calls of methods, in a command or in a running JVM, and report them
    Trace(trace::Trace),
    /// Make reports of what was recorded
    Report(report::Report),
    /// List the JVMs of this machine
    Ps(ps::Ps),
    /// Load the agent into a JVM that is running
    Attach(attach::Attach),
    /// Show how the agent in a running JVM is
    Status(status::Status),
    /// Write what a running JVM has recorded so far
    Dump(dump::Dump),
    /// Forget what a running JVM has recorded
    Reset(reset::Reset),
    /// Bring a plugin into a running JVM, or switch it on again
    Enable(enable::Enable),
    /// Take a plugin's edits out of a running JVM
    Disable(disable::Disable),
    /// Give the agent in a running JVM another configuration
    Reload(reload::Reload),
    /// List the classes of a running JVM, and who changed them
    Classes(classes::Classes),
    /// Put other class files in the place of classes of a running JVM
    Patch(patch::Patch),
    /// List the patches in a running JVM
    Patches(patches::Patches),
    /// Take patches of a running JVM back
    Rollback(rollback::Rollback),
    /// Undo everything in a running JVM, and leave it
    Off(off::Off),
    /// Instrument class files and jars for JVMs that take no agent
    Instrument(instrument::Instrument),
    /// Show what a plugin would do to a class
    Explain(explain::Explain),
    /// Show what is in a class file or a plugin
    Inspect(inspect::Inspect),
    /// Read classes, or what a plugin makes of them, with independent readers
    Verify(verify::Verify),
    /// Read classes from standard input for the commands above
    #[command(name = guard::SUBCOMMAND, hide = true)]
    GuardedReaders,
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

/// What the agent is told, whichever way it gets into a JVM.
#[derive(Debug, Clone, Default, Args)]
pub struct Settings {
    /// Settings of agent and plugins, a classhook.toml; other options come on top of it
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Folder for snapshots [default: classhook]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Classes to instrument: com.acme.**, @annotation, <:supertype, loader:app; `!` in front excludes; may be repeated
    #[arg(long, value_name = "SELECTOR")]
    pub select: Vec<String>,
    /// Capability granted to the plugins (probes, rewrite, boot); may be repeated
    #[arg(long, value_name = "CAPABILITY")]
    pub grant: Vec<String>,
    /// What the plugins are configured with, as a JSON object in place of a [plugin.config] table
    #[arg(long, value_name = "JSON")]
    pub plugin_settings: Option<String>,
    /// What a failure does [default: warn]
    #[arg(long, value_name = "MODE")]
    pub on_error: Option<OnError>,
    /// How much the agent says: off, error, warn, info, debug, trace
    #[arg(long, value_name = "LEVEL")]
    pub log: Option<String>,
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
    /// What the agent is told.
    #[command(flatten)]
    pub settings: Settings,
    /// The command and its arguments, behind `--`
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Where classes and sources are.
#[derive(Debug, Clone, Default, Args)]
pub struct Material {
    /// Classes to report even if they were never loaded: a folder, a jar (jars within it, too), or jrt:MODULE; may be repeated
    #[arg(long, value_name = "PATH")]
    pub classes: Vec<String>,
    /// Sources to show in HTML: a folder, a jar, or a src.zip; may be repeated
    #[arg(long, value_name = "PATH")]
    pub sources: Vec<PathBuf>,
}

/// Which reports to write.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Outputs {
    /// Write an HTML report to this folder
    #[arg(long, value_name = "DIR")]
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
    /// Write JaCoCo's execution data to this file
    #[arg(long, value_name = "FILE")]
    pub exec: Option<PathBuf>,
    /// Name of the report [default: Code coverage]
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
}
