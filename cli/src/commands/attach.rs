//! `classhook attach`: loads the agent into a running JVM.

use agent_connection::agent::{Agent, Loaded, already_there, load};
use agent_connection::answers;
use agent_connection::application;
use agent_connection::decoded_answers;
use agent_connection::interrupt::Interrupt;
use agent_connection::progress;
use agent_launch::checked_options::CheckedOptions;
use agent_launch::metaspace;
use agent_launch::settings::Settings;
use clap::Args;
use control::Request;
use control::message::{Change, Off};
use errors::{Error, PARTIAL};
use java_compiler::program_compiler::Program;
use loaded_classes::unmatched;
use standard_streams::show::{self, complain, say};

use crate::advice_arguments::AdviceArguments;
use crate::args::{AgentArguments, EventFileArguments, PID, Plugins};
use crate::metaspace::MetaspaceArgument;

const AFTER_HELP: &str = "\
The agent instruments loaded classes in batches, and other classes as they load. Without --select, it instruments
the application's classes, without its libraries and servers. --select '**' selects all classes.
`classhook report DIR` reports the recorded data at any time.
The agent stays until `classhook off PID` or the end of the JVM. An agent that is present takes over these settings.

JDK 21 and newer print a warning to the JVM's output when an agent is loaded at run time (JEP 451).
-XX:+EnableDynamicAgentLoading on the JVM's command line avoids it. A later JDK will require this option.

Examples:
  classhook ps
  classhook attach 4711 --select 'com.acme.**' --output /tmp/recorded
  classhook attach 4711 --advice SlowSql.java
  classhook report /tmp/recorded --html /tmp/html";

/// Loads the agent into a running JVM.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Attach {
    /// The process id.
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..), help = PID)]
    pub pid: i32,
    /// The plugins.
    #[command(flatten)]
    pub plugins: Plugins,
    /// Advice in Java.
    #[command(flatten)]
    pub advice: AdviceArguments,
    /// The limit of event files.
    #[command(flatten)]
    pub event_files: EventFileArguments,
    /// The options of the agent.
    #[command(flatten)]
    pub settings: AgentArguments,
    /// The check of the metaspace.
    #[command(flatten)]
    pub metaspace: MetaspaceArgument,
}

impl Attach {
    /// Loads the agent and prints its output folder, or gives a present agent these settings.
    ///
    /// # Errors
    /// If options or library are wrong (`H01xx` to `H04xx`, `H0601`), or the JVM cannot be reached (`H05xx`).
    pub fn run(&self) -> Result<u8, Error> {
        let mut settings = self.event_files.added(self.settings.value());
        CheckedOptions::new(&settings, &self.plugins.names, None)?;
        let mut present = Agent::find(self.pid)?;
        let program = Program::Jvm(self.pid);
        let _advice = self.advice.add_to(&mut settings, program)?;
        let only_advice = self.advice.is_given() && self.plugins.names.is_empty();
        let mut settings = match only_advice {
            true => settings,
            false => application::restricted(self.pid, &self.plugins.names, &settings)?,
        };
        settings.metaspace = self.metaspace.value();
        let plan = CheckedOptions::new(&settings, &self.plugins.names, None)?;
        // Signals are handled before the agent is loaded: Ctrl-C must not leave an agent that continues to edit classes.
        let mut interrupt = Interrupt::new()?;
        let second_signal = Interrupt::exit_on_second_signal()?;
        let mut output = loop {
            if let Ok(agent) = present {
                return self.reload(agent, &settings, &mut interrupt);
            }
            if let Loaded::RecordingTo(output) = load(self.pid, &plan)? {
                break output;
            }
            present = Agent::find(self.pid)?;
        };
        drop(second_signal);
        let mut failures = None;
        if let Ok(mut agent) = Agent::find(self.pid)? {
            output = agent.path(&output.to_string_lossy());
            let status = progress::follow(&mut agent, &mut interrupt)?;
            interrupt.check()?;
            if let Some(shortage) = status.shortage {
                let _: Off = agent.ask_for(&Request::Off)?;
                return Err(metaspace::shortage(&shortage));
            }
            let status = decoded_answers::answer(&status)?;
            let listed = answers::failures(&status.failures);
            failures = Some(listed + &answers::more(status.more_failures));
        }
        say(format_args!(
            "attached to {}, recording to {}",
            self.pid,
            output.display()
        ));
        let Some(failures) = failures else {
            return Ok(0); // the agent has control=off
        };
        self.warn()?;
        complain(&failures);
        Ok(if failures.is_empty() { 0 } else { PARTIAL })
    }

    /// Warns about selectors without a loaded class.
    fn warn(&self) -> Result<(), Error> {
        unmatched::warn(self.pid, &self.settings.plugins().value())?;
        unmatched::warn_of_nothing(self.pid, &self.settings.plugins().value())
    }

    fn reload(
        &self,
        mut agent: Agent,
        settings: &Settings,
        interrupt: &mut Interrupt,
    ) -> Result<u8, Error> {
        let of_the_agent = [
            ("--output", self.settings.output.is_some()),
            ("--file-name", self.settings.file_name.is_some()),
            ("--max-size", self.event_files.max_size.is_some()),
        ];
        if let Some((option, _)) = of_the_agent.iter().find(|(_, given)| *given) {
            let found = format!("{option}, which the agent cannot change while it records");
            let help = format!("leave {option} out, or end the agent first with `classhook off`");
            return Err(already_there().with("found", found).with("help", help));
        }
        let (request, _compiled) = CheckedOptions::change(settings, &self.plugins.names, self.pid)?;
        let change: Change = progress::ask(&mut agent, &request, interrupt)?;
        interrupt.check()?;
        say(format_args!(
            "the agent was in {} already; it has the new settings",
            self.pid
        ));
        show::show(&answers::change(&decoded_answers::answer(&change)?))?;
        self.warn()?;
        Ok(if change.failed.is_empty() { 0 } else { PARTIAL })
    }
}
