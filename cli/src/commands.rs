//! The command line: one file for each command, and their groups in the help.

pub mod advice;
pub mod affected;
pub mod attach;
pub mod check;
pub mod classes;
pub mod collect;
pub mod compile_plugin;
pub mod completions;
pub mod coverage;
pub mod disable;
pub mod doctor;
pub mod dump;
pub mod enable;
pub mod error;
pub mod explain;
mod groups;
pub mod inspect;
pub mod instrument;
pub mod man_pages;
pub mod merge;
pub mod off;
pub mod patch;
mod patch_release;
pub mod patches;
pub mod plugin;
pub mod profile;
pub mod ps;
pub mod reload;
pub mod report;
pub mod reset;
pub mod rollback;
pub mod run;
pub mod status;
pub mod test;
pub mod tests_for;
pub mod top;
pub mod trace;
pub mod verify;
pub mod watch;

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use errors::Error;

/// Measure, trace, profile and patch Java programs: instruments JVM classes from native code.
#[derive(Debug, Parser)]
#[command(name = "classhook", version, propagate_version = true, after_long_help = EXAMPLES)]
pub struct Classhook {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  Coverage of a program, as a table and as HTML in classhook/html:
    classhook coverage --sources src -- java -jar app.jar

  Coverage of a Maven build with all JVMs that it starts, as JaCoCo's XML:
    classhook coverage --xml target/coverage.xml -- mvn test

  Traced methods of a program, as a table and a flame graph:
    classhook trace --methods 'com.acme.**' --flame-graph flame.svg -- java -jar app.jar

  Recording now, reports later, also of several runs:
    classhook run --output out -- java -jar app.jar
    classhook report out --classes app.jar --html out/html

  Recording without this command:
    java -agentpath:/path/to/libclasshook.so=output=out -jar app.jar

Exit codes:
  The exit code of a started command is passed on. Otherwise:
  1    an error that is not yours
  2    a mistake in options, arguments or input files
  3    an incomplete answer, or a failure of a plugin with --on-error strict
  4    less coverage than --fail-under or --rules require
  130  interrupted by Ctrl-C";

/// The commands. `groups::GROUPS` lists them under the headings of the help.
#[derive(Debug, Subcommand)]
#[expect(
    clippy::large_enum_variant,
    reason = "a process has one value, which is never moved again"
)]
pub enum Command {
    /// Record a command that starts JVMs, without a report
    Run(run::Run),
    /// Measure the code coverage of a command or a running JVM
    Coverage(coverage::Coverage),
    /// Trace method calls in a command or a running JVM
    Trace(Box<trace::Trace>),
    /// Show calls, time and errors of methods, live
    Top(top::Top),
    /// Show single calls, lines or field writes as they happen
    Watch(watch::Watch),
    /// Profile CPU, allocations, locks, exceptions, threads and heap
    Profile(Box<profile::Profile>),
    /// Receive recordings from other machines
    Collect(collect::Collect),
    /// Write reports of recorded coverage and traces
    Report(report::Report),
    /// Check coverage against rules
    Check(check::Check),
    /// Merge the coverage of several runs into one snapshot
    Merge(merge::Merge),
    /// Print the tests that executed a line
    TestsFor(tests_for::TestsFor),
    /// Print the tests to run for a change
    Affected(affected::Affected),
    /// List the JVMs of this machine
    Ps(ps::Ps),
    /// Load the agent into a running JVM
    Attach(attach::Attach),
    /// Show the state of the agent in a running JVM
    Status(status::Status),
    /// Write the recorded data of a running JVM to its snapshot
    Dump(dump::Dump),
    /// Reset the recorded data of a running JVM
    Reset(reset::Reset),
    /// Mark the start or end of a test in a running JVM
    Test(test::Test),
    /// Load a plugin into a running JVM, or enable it again
    Enable(enable::Enable),
    /// Remove the edits of a plugin from a running JVM
    Disable(disable::Disable),
    /// Replace the configuration of the agent in a running JVM
    Reload(reload::Reload),
    /// List the classes of a running JVM and their edits
    Classes(classes::Classes),
    /// Replace classes of a running JVM by other class files
    Patch(patch::Patch),
    /// List the patches of a running JVM
    Patches(patches::Patches),
    /// Undo patches of a running JVM
    Rollback(rollback::Rollback),
    /// Restore all classes of a running JVM and end the agent
    Off(off::Off),
    /// Instrument class files and jars, for JVMs without an agent
    Instrument(instrument::Instrument),
    /// Show the edits that a plugin plans for classes
    Explain(explain::Explain),
    /// Print the contents of a class file or a plugin
    Inspect(inspect::Inspect),
    /// Verify original or instrumented classes by other readers
    Verify(verify::Verify),
    /// Write, check and publish advice: code of yours in Java methods
    Advice(advice::Advice),
    /// Create, build, test, run and install plugins
    Plugin(plugin::Plugin),
    /// Check this machine, or a running JVM, for problems
    Doctor(doctor::Doctor),
    /// Explain an error or warning by its code
    Error(error::ExplainError),
    /// Print a completion script for a shell
    Completions(completions::Completions),
    /// Write manual pages, for a package
    #[command(hide = true)]
    ManPages(man_pages::ManPages),
    /// Compile plugins ahead of the JVMs that load them
    CompilePlugin(compile_plugin::CompilePlugin),
}

impl Command {
    /// Runs the command and returns the exit code.
    ///
    /// # Errors
    /// The problem that ended the command, with its exit code.
    pub fn run(&self) -> Result<u8, Error> {
        match self {
            Self::Run(run) => run.run(),
            Self::Coverage(coverage) => coverage.run(),
            Self::Trace(trace) => trace.run(),
            Self::Top(top) => top.run(),
            Self::Watch(watch) => watch.run(),
            Self::Profile(profile) => profile.run(),
            Self::Collect(collect) => collect.run(),
            Self::Report(report) => report.run(),
            Self::Check(check) => check.run(),
            Self::Merge(merge) => merge.run(),
            Self::TestsFor(tests) => tests.run(),
            Self::Affected(affected) => affected.run(),
            Self::Ps(ps) => ps.run(),
            Self::Attach(attach) => attach.run(),
            Self::Status(status) => status.run(),
            Self::Dump(dump) => dump.run(),
            Self::Reset(reset) => reset.run(),
            Self::Test(test) => test.run(),
            Self::Enable(enable) => enable.run(),
            Self::Disable(disable) => disable.run(),
            Self::Reload(reload) => reload.run(),
            Self::Classes(classes) => classes.run(),
            Self::Patch(patch) => patch.run(),
            Self::Patches(patches) => patches.run(),
            Self::Rollback(rollback) => rollback.run(),
            Self::Off(off) => off.run(),
            Self::Instrument(instrument) => instrument.run(),
            Self::Explain(explain) => explain.run(),
            Self::Inspect(inspect) => inspect.run(),
            Self::Verify(verify) => verify.run(),
            Self::Advice(advice) => advice.run(),
            Self::Plugin(plugin) => plugin.run(),
            Self::Doctor(doctor) => doctor.run(),
            Self::Error(error) => error.run(),
            Self::Completions(completions) => completions.run(&Classhook::command()),
            Self::ManPages(pages) => pages.run(Classhook::command()),
            Self::CompilePlugin(compile) => compile.run(),
        }
    }
}

/// Parses the words of a command line, and prints the groups of commands in the help.
///
/// # Errors
/// clap's error for unknown words, which also prints help and version.
pub fn parse(words: &[OsString]) -> Result<Classhook, clap::Error> {
    let command = Classhook::command();
    let template = groups::help_template(&command);
    let mut command = command.help_template(template);
    let mut matches = command.try_get_matches_from_mut(words)?;
    Classhook::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

#[cfg(test)]
mod tests;
