//! `classhook reload`: another configuration for the agent in a running JVM.

use clap::Args;
use control::Request;

use crate::answers;
use crate::args::{Change, Plugins, Target};
use crate::checked_options::CheckedOptions;
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
}

impl Reload {
    /// Asks and prints what came of it.
    ///
    /// # Errors
    /// If there is no agent to ask, or the configuration is wrong; the former then stays.
    pub fn run(&self) -> Result<u8, Problem> {
        let (settings, pid) = (self.change.clone().into(), self.target.pid);
        let (options, _compiled) = CheckedOptions::change(&settings, &self.plugins.names, pid)?;
        let request = Request::Reload { options };
        let code = progress::answer(&self.target, &request, answers::change)?;
        unmatched::warn(pid)?;
        Ok(code)
    }
}
