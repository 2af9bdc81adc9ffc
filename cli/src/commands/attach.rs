//! `classhook attach`: the agent in a JVM that is running.

use clap::Args;
use control::Request;
use control::message::{Change, Off};

use crate::agent::{Agent, Loaded, already_there, load};
use crate::answers;
use crate::application;
use crate::args::{EventFiles, Plugins, Settings};
use crate::checked_options::CheckedOptions;
use crate::metaspace::{self, Metaspace};
use crate::problem::{PARTIAL, Problem};
use crate::progress;
use crate::show::{self, complain, say};
use crate::unmatched;
use crate::until::Interrupt;

const AFTER_HELP: &str = "\
Classes that are loaded already are instrumented in batches, later ones as they load. Without --select, those of the
application are, not those of its libraries and servers; --select '**' takes all.
What is recorded can be reported at any time: classhook report DIR.
The agent stays until the JVM ends or `classhook off PID` is said; if it is there already, it is given these settings.

JDK 21 and newer print a warning into the JVM's output when an agent is loaded late (JEP 451);
-XX:+EnableDynamicAgentLoading on its command line keeps it silent, and a later JDK will ask for it.

Examples:
  classhook ps
  classhook attach 4711 --select 'com.acme.**' --output /tmp/recorded
  classhook report /tmp/recorded --html /tmp/html";

/// Loads the agent into a running JVM.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Attach {
    /// The JVM's process id; `classhook ps` lists them
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub pid: i32,
    /// Which plugins work.
    #[command(flatten)]
    pub plugins: Plugins,
    /// How long event files may become.
    #[command(flatten)]
    pub event_files: EventFiles,
    /// The options of the agent.
    #[command(flatten)]
    pub settings: Settings,
    /// The check of the metaspace.
    #[command(flatten)]
    pub metaspace: Metaspace,
}

impl Attach {
    /// Attaches, loads, and says where it is recorded to; or gives the agent that is there these settings.
    ///
    /// # Errors
    /// If options or library are wrong (`H01xx` to `H04xx`, `H0601`), or the JVM cannot be reached (`H05xx`).
    pub fn run(&self) -> Result<u8, Problem> {
        let settings = self.event_files.added(self.settings.clone());
        CheckedOptions::new(&settings, &self.plugins.names, None)?;
        let mut present = Agent::find(self.pid)?;
        let mut settings = application::narrowed(self.pid, &self.plugins.names, &settings)?;
        settings.metaspace = self.metaspace;
        let plan = CheckedOptions::new(&settings, &self.plugins.names, None)?;
        // Signals are taken before the agent is there: Ctrl-C must not leave an agent that goes on to change classes.
        let mut interrupt = Interrupt::new()?;
        let impatience = Interrupt::impatience()?;
        let mut output = loop {
            if let Ok(agent) = present {
                return self.reload(agent, &settings, &mut interrupt);
            }
            if let Loaded::RecordingTo(output) = load(self.pid, &plan)? {
                break output;
            }
            present = Agent::find(self.pid)?;
        };
        drop(impatience);
        let mut failures = None;
        if let Ok(mut agent) = Agent::find(self.pid)? {
            output = agent.path(&output.to_string_lossy());
            let status = progress::follow(&mut agent, &mut interrupt)?;
            interrupt.check()?;
            if let Some(shortage) = status.shortage {
                let _: Off = agent.ask_for(&Request::Off)?;
                return Err(metaspace::shortage(&shortage));
            }
            failures = Some(answers::failures(&show::answer(&status)?.failures));
        }
        say(format_args!(
            "attached to {}, recording to {}",
            self.pid,
            output.display()
        ));
        let Some(failures) = failures else {
            return Ok(0); // it was told to listen to nobody
        };
        self.warn()?;
        complain(&failures);
        Ok(if failures.is_empty() { 0 } else { PARTIAL })
    }

    /// Warns of what matches no loaded class.
    fn warn(&self) -> Result<(), Problem> {
        unmatched::warn(self.pid, self.settings.plugins())?;
        unmatched::warn_of_nothing(self.pid, self.settings.plugins())
    }

    fn reload(
        &self,
        mut agent: Agent,
        settings: &Settings,
        interrupt: &mut Interrupt,
    ) -> Result<u8, Problem> {
        let of_the_agent = [
            ("--output", self.settings.output.is_some()),
            ("--file-name", self.settings.file_name.is_some()),
            ("--max-size", self.event_files.max_size.is_some()),
        ];
        if let Some((option, _)) = of_the_agent.iter().find(|(_, given)| *given) {
            let found = format!("it goes on recording as it does, and {option} says otherwise");
            let help = format!(
                "leave {option} out to give it the other settings, or `classhook off` it first"
            );
            return Err(already_there().with("found", found).with("help", help));
        }
        let (request, _compiled) = CheckedOptions::change(settings, &self.plugins.names, self.pid)?;
        let change: Change = progress::ask(&mut agent, &request, interrupt)?;
        interrupt.check()?;
        say(format_args!(
            "the agent is in {} already; it has the new settings",
            self.pid
        ));
        show::show(&answers::change(&show::answer(&change)?))?;
        self.warn()?;
        Ok(if change.failed.is_empty() { 0 } else { PARTIAL })
    }
}
