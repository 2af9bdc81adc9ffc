//! `classhook reset`: a running JVM forgets what it recorded.

use clap::Args;
use control::Request;
use control::message::Reset as Answer;

use crate::args::Target;
use crate::problem::Problem;

const AFTER_HELP: &str = "\
What was hit before is in no later report; what is hit from now on is, also if it was hit before.

Examples:
  classhook reset 4711
  classhook reset 4711 --plugin coverage";

/// Lets a running JVM forget what it recorded.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Reset {
    /// Whom to ask.
    #[command(flatten)]
    pub target: Target,
    /// Only what this plugin's probes recorded
    #[arg(long, value_name = "NAME")]
    pub plugin: Option<String>,
}

impl Reset {
    /// Asks and prints how many probes begin anew.
    ///
    /// # Errors
    /// If there is no agent to ask, or no such plugin.
    pub fn run(&self) -> Result<u8, Problem> {
        let plugin = self.plugin.clone();
        self.target
            .answer(&Request::Reset { plugin }, |answer: &Answer| {
                format!("{} probes begin anew\n", answer.probes)
            })
    }
}
