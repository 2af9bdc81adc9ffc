//! A plugin in a running JVM for a while: whatever was there before is there again afterwards.

use std::path::PathBuf;

use attach::Process;
use control::Request;
use control::message::{Change, Dump, Off, PluginState, Reset, Status};

use crate::agent::Agent;
use crate::args::Settings;
use crate::commands::attach as command;
use crate::commands::dump;
use crate::commands::run::Plan;
use crate::commands::status::failures;
use crate::problem::Problem;

/// A plugin at work in a running JVM.
#[derive(Debug)]
pub struct Visit {
    agent: Agent,
    pid: i32,
    plugin: &'static str,
    /// An id of its own.
    run: String,
    /// Whether the agent was there before.
    guest: bool,
    /// The snapshot, as this process sees it.
    snapshot: PathBuf,
    /// Folder for what is made here.
    pub output: PathBuf,
}

impl Visit {
    /// Loads the agent into the JVM `pid`, with this plugin alone; or brings the plugin into the agent
    /// that is there, which then begins to record for it anew.
    ///
    /// # Errors
    /// If the JVM cannot be reached (`H05xx`), the plugin is at work there already (`H0609`), or the
    /// settings are wrong.
    pub fn begin(
        pid: i32,
        plugin: &'static str,
        settings: &Settings,
        run: &str,
    ) -> Result<Self, Problem> {
        let plugins = if settings.config.is_some() {
            vec![]
        } else {
            vec![plugin.into()]
        };
        let plan = Plan::new(settings, &plugins, Some(run.to_owned()))?;
        let (mut agent, guest) = match Agent::find(pid)? {
            Ok(agent) => (agent, true),
            Err(_) => {
                command::load(pid, &plan)?;
                (Agent::connect(pid)?, false)
            }
        };
        let status: Status = agent.ask_for(&Request::Status)?;
        if guest {
            enter(&mut agent, &status, plugin, settings)?;
        }
        Ok(Self {
            snapshot: agent.path(&status.snapshot),
            agent,
            pid,
            plugin,
            run: run.to_owned(),
            guest,
            output: plan.output,
        })
    }

    /// Ends what [`Visit::begin`] began; the snapshot with everything that was recorded.
    ///
    /// # Errors
    /// If the agent does not answer though the JVM is there, or the snapshot cannot be copied.
    pub fn end(mut self) -> Result<PathBuf, Problem> {
        match self.leave() {
            Err(problem) if is_alive(self.pid) => Err(problem),
            Err(_) => Ok(self.snapshot), // the JVM has ended meanwhile, and completed it
            Ok(copy) => Ok(copy.unwrap_or(self.snapshot)),
        }
    }

    /// A copy of the snapshot, if the agent goes on recording to it.
    fn leave(&mut self) -> Result<Option<PathBuf>, Problem> {
        if !self.guest {
            let off: Off = self.agent.ask_for(&Request::Off)?;
            eprint!("{}", failures(&off.failed));
            return Ok(None);
        }
        let dump: Dump = self.agent.ask_for(&Request::Dump)?;
        let plugin = self.plugin.to_owned();
        let change: Change = self.agent.ask_for(&Request::Disable { plugin })?;
        eprint!("{}", failures(&change.failed));
        let copy = self
            .output
            .join(format!("{}-{}.hook", self.plugin, self.run));
        std::fs::create_dir_all(&self.output)
            .map_err(|error| Problem::unwritable(&self.output, &error))?;
        dump::copy(&dump, &self.snapshot, &copy)?;
        Ok(Some(copy))
    }
}

fn is_alive(pid: i32) -> bool {
    Process::read(pid).is_ok_and(|process| process.is_alive())
}

/// Brings the plugin into an agent that has other work to do.
fn enter(
    agent: &mut Agent,
    status: &Status,
    plugin: &'static str,
    settings: &Settings,
) -> Result<(), Problem> {
    let of_the_agent = [
        ("--config", settings.config.is_some()),
        ("--on-error", settings.on_error.is_some()),
        ("--log", settings.log.is_some()),
    ];
    if let Some((option, _)) = of_the_agent.iter().find(|(_, given)| *given) {
        return Err(command::already_there()
            .with(
                "found",
                format!("{option}, which is a setting of the whole agent"),
            )
            .with("help", "leave it out, or give it with `classhook reload`"));
    }
    let known = status.plugins.iter().find(|found| found.name == plugin);
    if known.is_some_and(|known| known.state == PluginState::On) {
        let message = format!("the plugin {plugin} is at work in this JVM already");
        return Err(Problem::user("H0609", message)
            .with("found", format!("it records to {}", status.snapshot))
            .with("help", "report what it records (`classhook dump`, `classhook report`), or end it first (`classhook disable`, `classhook off`)"));
    }
    if known.is_some() {
        let plugin = Some(plugin.to_owned());
        let _: Reset = agent.ask_for(&Request::Reset { plugin })?;
    }
    let settings = Settings {
        select: settings.select.clone(),
        grant: settings.grant.clone(),
        ..Settings::default()
    };
    let request = Request::Enable {
        plugin: plugin.to_owned(),
        options: Some(Plan::change(&settings, &[])?),
    };
    let change: Change = agent.ask_for(&request)?;
    eprint!("{}", failures(&change.failed));
    Ok(())
}
