//! `classhook run`: a command with the agent in its JVMs.

use clap::Args;

use crate::args::{EventFiles, Plugins, Start};
use crate::build_output::BuildOutput;
use crate::build_tools::Build;
use crate::checked_options::{CheckedOptions, run_id};
use crate::problem::Problem;
use crate::show::{self, say};

const AFTER_HELP: &str = "\
`java` gets the agent as its first argument, other tools of a JDK behind -J.
Any other command gets it in JAVA_TOOL_OPTIONS, so that every JVM below it records; what is in that variable stays.
The exit code is the command's own, 128 + signal if it was killed; 3 if that is 0 and a plugin was switched off, or failed on
all that it wanted.

Examples:
  classhook run -- java -jar app.jar
  classhook run --select 'com.acme.**' --on-error strict -- mvn test
  classhook run --plugin count-calls.wasm --grant probes --output out -- java -jar app.jar";

/// Starts a command with the agent in its JVMs.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Run {
    /// Which plugins work.
    #[command(flatten)]
    pub plugins: Plugins,
    /// How long event files may become.
    #[command(flatten)]
    pub event_files: EventFiles,
    /// What starting a command needs.
    #[command(flatten)]
    pub start: Start,
}

impl Run {
    /// Runs the command; the result is its exit code.
    ///
    /// # Errors
    /// If options, configuration, agent or command are wrong.
    pub fn run(&self) -> Result<u8, Problem> {
        let mut settings = self.event_files.added(self.start.settings.clone());
        let build = Build::of(&self.start.command);
        let place = BuildOutput::set(build.as_ref(), &run_id(), &mut settings)?;
        let checked = CheckedOptions::new(&settings, &self.plugins.names, None)?;
        let launched = checked.launch_into(&self.start.command, None)?;
        let code = launched.told_with_observers();
        if let Some(place) = place {
            let folder = place.settle()?;
            say(format_args!("recorded in {}", show::path(&folder)));
        }
        Ok(code)
    }
}
