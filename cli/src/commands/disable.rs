//! `classhook disable`: a plugin's edits out of a running JVM.

use clap::Args;
use control::Request;

use crate::answers;
use crate::args::Target;
use crate::problem::Problem;
use crate::progress;

const AFTER_HELP: &str = "\
The classes that it changed are retransformed without its edits, and it sees no class from then on.
What it recorded stays in the snapshot.

Example:
  classhook disable 4711 coverage";

/// Takes a plugin's edits out of a running JVM.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Disable {
    /// Whom to ask.
    #[command(flatten)]
    pub target: Target,
    /// The plugin; `classhook status` lists them
    #[arg(value_name = "NAME")]
    pub plugin: String,
}

impl Disable {
    /// Asks and prints what came of it.
    ///
    /// # Errors
    /// If there is no agent to ask, or no such plugin.
    pub fn run(&self) -> Result<u8, Problem> {
        let plugin = self.plugin.clone();
        progress::answer(&self.target, &Request::Disable { plugin }, answers::change)
    }
}
