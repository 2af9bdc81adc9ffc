//! A plugin attached to a running JVM for a while; the JVM's agent and plugins are restored afterwards.

use std::path::PathBuf;

use attach::Process;
use control::Request;
use control::message::{Change, Dump, Off, PluginState, Reset, Status};
use control::patch::Patches;

use crate::agent::{self, Agent};
use crate::answers::failures;
use crate::args::Settings;
use crate::checked_options::CheckedOptions;
use crate::problem::Problem;

/// A plugin attached to a running JVM.
#[derive(Debug)]
pub struct AttachedPlugin {
    agent: Agent,
    pid: i32,
    plugin: &'static str,
    /// Whether the agent was there before.
    guest: bool,
    /// The snapshot, as this process sees it.
    snapshot: PathBuf,
    /// Folder for what is made here.
    pub output: PathBuf,
}

impl AttachedPlugin {
    /// Loads the agent into the JVM `pid`, with this plugin alone; or enables the plugin in the agent
    /// that is there, which then forgets what it recorded for the plugin.
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
        let plugins = if settings.configuration().file.is_some() {
            vec![]
        } else {
            vec![plugin.into()]
        };
        let checked = CheckedOptions::new(settings, &plugins, Some(run.to_owned()))?;
        let (mut agent, guest) = match Agent::find(pid)? {
            Ok(agent) => (agent, true),
            Err(_) => {
                agent::load(pid, &checked)?;
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
            guest,
            output: checked.output,
        })
    }

    /// Ends what [`AttachedPlugin::begin`] began.
    ///
    /// # Errors
    /// If the agent does not answer though the JVM is there.
    pub fn end(mut self) -> Result<Ended, Problem> {
        let dump = match self.leave() {
            Err(problem) if is_alive(self.pid) => return Err(problem),
            Err(_) => None, // the JVM has ended meanwhile, and completed what it recorded
            Ok(dump) => dump,
        };
        Ok(Ended {
            snapshot: self.snapshot,
            dump,
        })
    }

    /// How far it had recorded, if the agent goes on.
    fn leave(&mut self) -> Result<Option<Dump>, Problem> {
        if !self.is_needed()? {
            let off: Off = self.agent.ask_for(&Request::Off)?;
            eprint!("{}", failures(&off.failed));
            return Ok(None);
        }
        let plugin = self.plugin.to_owned();
        let change: Change = self.agent.ask_for(&Request::Disable { plugin })?;
        eprint!("{}", failures(&change.failed));
        self.agent.ask_for(&Request::Dump).map(Some)
    }

    /// Whether the agent has other plugins: it was there before, or another one was enabled meanwhile.
    fn is_needed(&mut self) -> Result<bool, Problem> {
        if self.guest {
            return Ok(true);
        }
        let status: Status = self.agent.ask_for(&Request::Status)?;
        let patches: Patches = self.agent.ask_for(&Request::Patches)?;
        let others = status
            .plugins
            .iter()
            .filter(|plugin| plugin.name != self.plugin && plugin.state == PluginState::On);
        if others.count() + patches.patches.len() == 0 {
            return Ok(false);
        }
        let pid = self.pid;
        eprintln!(
            "classhook: the agent stays in {pid} for what was asked of it meanwhile; `classhook off {pid}` ends that"
        );
        Ok(true)
    }
}

/// What a visit leaves.
#[derive(Debug)]
pub struct Ended {
    /// The snapshot, as this process sees it.
    pub snapshot: PathBuf,
    /// What it holds of the visit, if the agent goes on recording to it.
    pub dump: Option<Dump>,
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
        ("--config", settings.configuration().file.is_some()),
        ("--output", settings.output.is_some() && plugin == "trace"), // events are not copied
        ("--on-error", settings.configuration().on_error.is_some()),
        ("--log", settings.change.log.is_some()),
    ];
    if let Some((option, _)) = of_the_agent.iter().find(|(_, given)| *given) {
        return Err(agent::already_there()
            .with(
                "found",
                format!("{option}, which is a setting of the whole agent"),
            )
            .with("help", "leave it out; `classhook reload` gives it other settings, and `classhook off` ends it"));
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
    let settings = settings.plugins().clone().into();
    let request = Request::Enable {
        plugin: plugin.to_owned(),
        options: Some(CheckedOptions::change(&settings, &[])?),
    };
    let change: Change = agent.ask_for(&request)?;
    eprint!("{}", failures(&change.failed));
    Ok(())
}
