//! `classhook disable`: removes the edits of a plugin from a running JVM.

use agent_connection::answers;
use clap::Args;
use control::Request;
use errors::Error;

use crate::args::Target;

const AFTER_HELP: &str = "\
The agent retransforms the classes that the plugin changed, without its edits. The plugin receives no further classes.
Its recorded data stays in the snapshot.

Example:
  classhook disable 4711 coverage";

/// Removes the edits of a plugin from a running JVM.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Disable {
    /// The running JVM.
    #[command(flatten)]
    pub target: Target,
    /// Disable this plugin; `classhook status` lists the plugins
    #[arg(value_name = "NAME")]
    pub plugin: String,
}

impl Disable {
    /// Disables the plugin and prints the change.
    ///
    /// # Errors
    /// If the JVM has no agent, or the agent no such plugin.
    pub fn run(&self) -> Result<u8, Error> {
        let plugin = self.plugin.clone();
        self.target
            .answer_of_change(&Request::Disable { plugin }, answers::change)
    }
}
