//! `classhook run`: records a command that starts JVMs.

use advice::files::PreparedFile;
use agent_launch::checked_options::{CheckedOptions, run_id};
use clap::Args;
use errors::Error;
use java_builds::Build;
use java_compiler::program_compiler::Program;
use standard_streams::show::{self, say};
use trace_reports::plugin_tables;

use crate::advice_arguments::AdviceArguments;
use crate::args::{EventFileArguments, Plugins, Start};
use crate::build_output::BuildOutput;

const AFTER_HELP: &str = "\
`java` receives the agent as its first argument, other tools of a JDK behind -J.
Any other command receives it in JAVA_TOOL_OPTIONS, in addition to the present value, so every JVM below it records.
The exit code is that of the command, or 128 + signal if a signal ended it.
It is 3 in place of 0 if a plugin was switched off or failed on every class that it selected.

Examples:
  classhook run -- java -jar app.jar
  classhook run --select 'com.acme.**' --on-error strict -- mvn test
  classhook run --advice SlowSql.java -- java -jar app.jar
  classhook run --plugin count-calls.wasm --grant probes --output out -- java -jar app.jar";

/// Records a command that starts JVMs, without a report.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Run {
    /// The plugins.
    #[command(flatten)]
    pub plugins: Plugins,
    /// Advice in Java.
    #[command(flatten)]
    pub advice: AdviceArguments,
    /// The limit of event files.
    #[command(flatten)]
    pub event_files: EventFileArguments,
    /// The command and the options of the agent.
    #[command(flatten)]
    pub start: Start,
}

impl Run {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    /// If options, configuration, agent or command are wrong.
    pub fn run(&self) -> Result<u8, Error> {
        let mut settings = self.event_files.added(self.start.settings.value());
        let build = Build::of(&self.start.command);
        let place = BuildOutput::set(build.as_ref(), &run_id(), &mut settings)?;
        let program = Program::Command(&self.start.command);
        let advice = self.advice.add_to(&mut settings, program)?;
        let checked = CheckedOptions::new(&settings, &self.plugins.names, None)?;
        let launched = checked.launch_into(&self.start.command, None)?;
        let observers =
            plugin_tables::retired_of_run(&launched.run, &launched.output, launched.since);
        let code = launched.report_failures_and(&observers);
        if place.is_none() && advice.as_ref().is_some_and(PreparedFile::is_recording) {
            let folder = show::path(&launched.output);
            say(format_args!(
                "recorded in {folder}; `classhook report {folder}` shows the rows"
            ));
        }
        if let Some(place) = place {
            let folder = place.settle()?;
            say(format_args!("recorded in {}", show::path(&folder)));
        }
        Ok(code)
    }
}
