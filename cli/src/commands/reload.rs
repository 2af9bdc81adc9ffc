//! `classhook reload`: another configuration for the agent in a running JVM.

use clap::Args;

use crate::answers;
use crate::application;
use crate::args::{Change, Plugins, Settings, Target};
use crate::checked_options::CheckedOptions;
use crate::metaspace::Metaspace;
use crate::problem::Problem;
use crate::progress;
use crate::unmatched;

const AFTER_HELP: &str = "\
The new configuration takes the place of the former one as a whole: classes with edits of the former are
retransformed, and so are loaded classes that are selected now. Where it records to stays as it is.

Examples:
  classhook reload 4711 --config classhook.toml
  classhook reload 4711 --plugin coverage --select 'com.acme.orders.**'";

/// Gives the agent in a running JVM another configuration.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Reload {
    /// Whom to ask.
    #[command(flatten)]
    pub target: Target,
    /// Which plugins work.
    #[command(flatten)]
    pub plugins: Plugins,
    /// The options of the agent.
    #[command(flatten)]
    pub change: Change,
    /// The check of the metaspace.
    #[command(flatten)]
    pub metaspace: Metaspace,
}

impl Reload {
    /// Asks and prints what came of it.
    ///
    /// # Errors
    /// If there is no agent to ask, or the configuration is wrong; the former then stays.
    pub fn run(&self) -> Result<u8, Problem> {
        let pid = self.target.pid;
        let settings: Settings = self.change.clone().into();
        let mut settings = application::narrowed(pid, &self.plugins.names, &settings)?;
        settings.metaspace = self.metaspace;
        let (request, _compiled) = CheckedOptions::change(&settings, &self.plugins.names, pid)?;
        let code = progress::answer(&self.target, &request, answers::change)?;
        unmatched::warn(pid, settings.plugins())?;
        Ok(code)
    }
}
