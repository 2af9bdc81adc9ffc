//! `classhook off`: restores all classes of a running JVM and ends the agent.

use agent_connection::answers::{failures, natives, structures};
use clap::Args;
use control::Request;
use control::message::Off as Answer;
use errors::Error;
use trace::numbers::counted;

use crate::args::Target;

const AFTER_HELP: &str = "\
All classes are restored, the agent's threads, socket and hook are removed, and the snapshot is complete.
`classhook attach` loads the agent again at any time.

Example:
  classhook off 4711";

/// Restores all classes of a running JVM and ends the agent.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Off {
    /// The running JVM.
    #[command(flatten)]
    pub target: Target,
}

impl Off {
    /// Ends the agent and prints the restored classes.
    ///
    /// # Errors
    /// If the JVM has no agent.
    pub fn run(&self) -> Result<u8, Error> {
        self.target
            .answer_of_change(&Request::Off, |answer: &Answer| {
                let restored = match answer.restored {
                    0 => "no class was changed".to_owned(),
                    1 => "1 class is again as it was".to_owned(),
                    count => format!("{} are again as they were", counted(count, "class")),
                };
                format!(
                    "{restored}; recorded in {}\n{}{}{}",
                    answer.snapshot,
                    natives(&answer.natives),
                    structures(&answer.structures),
                    failures(&answer.failed)
                )
            })
    }
}
