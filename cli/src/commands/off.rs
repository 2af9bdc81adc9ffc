//! `classhook off`: the agent leaves a running JVM.

use clap::Args;
use control::Request;
use control::message::Off as Answer;
use trace::numbers::counted;

use crate::answers::{failures, natives, structures};
use crate::args::Target;
use crate::problem::Problem;
use crate::progress;

const AFTER_HELP: &str = "\
Every class is again as it was, the agent's threads have ended, its socket and its hook are gone, and the snapshot is complete.
`classhook attach` brings it back at any time.

Example:
  classhook off 4711";

/// Undoes everything in a running JVM, and leaves it.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Off {
    /// Whom to ask.
    #[command(flatten)]
    pub target: Target,
}

impl Off {
    /// Asks and prints what came of it.
    ///
    /// # Errors
    /// If there is no agent to ask.
    pub fn run(&self) -> Result<u8, Problem> {
        progress::answer(&self.target, &Request::Off, |answer: &Answer| {
            let restored = match answer.restored {
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
