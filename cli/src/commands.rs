//! The command line: the subcommands, one file each.

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
pub mod explain;
pub mod inspect;
pub mod instrument;
pub mod merge;
pub mod off;
pub mod patch;
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

use clap::{CommandFactory, Parser, Subcommand};

use crate::problem::Problem;

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
Exit codes: the child's own; 2 for a mistake in what was asked for, 1 for ours, 3 if a run is strict and something failed,
3 also if a report lacks something that was asked for, 4 if less is covered than --fail-under asks for.";

/// The subcommands.
#[derive(Debug, Subcommand)]
#[expect(
    clippy::large_enum_variant,
    reason = "a process has one value, which is never moved again"
)]
pub enum Command {
    /// Start a command with the agent in its JVMs
    Run(run::Run),
    /// Start a command, measure its code coverage, and report it
    Coverage(coverage::Coverage),
    /// Trace the calls of methods, in a command or in a running JVM, and report them
    Trace(Box<trace::Trace>),
    /// Show methods by calls, time and errors per second, in a command or in a running JVM
    Top(top::Top),
    /// Show single calls that match a condition as they end, in a command or in a running JVM
    Watch(watch::Watch),
    /// Show what a JVM says of itself: CPU time, allocations, contention, exceptions, threads, heap
    Profile(Box<profile::Profile>),
    /// Receive what is recorded on other machines
    Collect(collect::Collect),
    /// Make reports of what was recorded
    Report(report::Report),
    /// Check whether enough is covered
    Check(check::Check),
    /// Merge what several runs left into one snapshot
    Merge(merge::Merge),
    /// Print the tests that executed a line
    TestsFor(tests_for::TestsFor),
    /// Print the tests to run for a change
    Affected(affected::Affected),
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
    /// Say that a test begins or ends in a running JVM
    Test(test::Test),
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
    /// Make, build, test and run plugins of one's own
    Plugin(plugin::Plugin),
    /// Look whether all is there that Classhook needs, here or in a running JVM
    Doctor(doctor::Doctor),
    /// Print a script that has a shell complete commands and options
    Completions(completions::Completions),
    /// Compile plugins before JVMs ask for them
    CompilePlugin(compile_plugin::CompilePlugin),
}

impl Command {
    /// Does what was asked for; the result is the exit code.
    ///
    /// # Errors
    /// What went wrong, and whose mistake it was.
    pub fn run(&self) -> Result<u8, Problem> {
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
            Self::Plugin(plugin) => plugin.run(),
            Self::Doctor(doctor) => doctor.run(),
            Self::Completions(completions) => completions.run(&Classhook::command()),
            Self::CompilePlugin(compile) => compile.run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::collections::HashSet;

    /// Shared groups of options meet in one command; clap looks at them in
    /// debug builds only.
    #[test]
    fn no_two_arguments_of_a_command_share_a_name() {
        let commands = Classhook::command();
        for command in commands.get_subcommands() {
            let mut seen = HashSet::new();
            for argument in command.get_arguments() {
                let id = argument.get_id();
                assert!(seen.insert(id), "{} has two of {id}", command.get_name());
            }
        }
    }
}
