//! `classhook reload`: replaces the configuration of the agent in a running JVM.

use agent_connection::answers;
use agent_connection::application;
use agent_launch::checked_options::CheckedOptions;
use agent_launch::settings::Settings;
use clap::Args;
use errors::Error;
use loaded_classes::unmatched;

use crate::args::{ChangeArguments, Plugins, Target};
use crate::metaspace::MetaspaceArgument;

const AFTER_HELP: &str = "\
The new configuration replaces the former one as a whole. The agent retransforms classes with former edits and loaded
classes that are selected now. The output folder stays the same.

Examples:
  classhook reload 4711 --config classhook.toml
  classhook reload 4711 --plugin coverage --select 'com.acme.orders.**'";

/// Replaces the configuration of the agent in a running JVM.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Reload {
    /// The running JVM.
    #[command(flatten)]
    pub target: Target,
    /// The plugins.
    #[command(flatten)]
    pub plugins: Plugins,
    /// The options of the agent.
    #[command(flatten)]
    pub change: ChangeArguments,
    /// The check of the metaspace.
    #[command(flatten)]
    pub metaspace: MetaspaceArgument,
}

impl Reload {
    /// Sends the configuration and prints the change.
    ///
    /// # Errors
    /// If the JVM has no agent, or the configuration is wrong. The former configuration then stays.
    pub fn run(&self) -> Result<u8, Error> {
        let pid = self.target.pid;
        let settings: Settings = self.change.value().into();
        let mut settings = application::restricted(pid, &self.plugins.names, &settings)?;
        settings.metaspace = self.metaspace.value();
        let (request, _compiled) = CheckedOptions::change(&settings, &self.plugins.names, pid)?;
        let code = self.target.answer_of_change(&request, answers::change)?;
        unmatched::warn(pid, settings.plugins())?;
        Ok(code)
    }
}
