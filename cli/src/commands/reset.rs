//! `classhook reset`: resets the recorded data of a running JVM.

use clap::Args;
use control::Request;
use control::message::Reset as Answer;
use errors::Error;

use crate::args::Target;

const AFTER_HELP: &str = "\
Later reports hold only hits from now on.

Examples:
  classhook reset 4711
  classhook reset 4711 --plugin coverage";

/// Resets the recorded data of a running JVM.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Reset {
    /// The running JVM.
    #[command(flatten)]
    pub target: Target,
    /// Reset only the data of this plugin
    #[arg(long, value_name = "NAME")]
    pub plugin: Option<String>,
}

impl Reset {
    /// Resets the data and prints the number of probes.
    ///
    /// # Errors
    /// If the JVM has no agent, or the agent no such plugin.
    pub fn run(&self) -> Result<u8, Error> {
        let plugin = self.plugin.clone();
        self.target
            .answer(&Request::Reset { plugin }, |answer: &Answer| {
                format!("{} probes begin anew\n", answer.probes)
            })
    }
}
