//! `classhook dump`: what a running JVM has recorded so far.

use std::path::PathBuf;

use clap::Args;
use control::Request;
use control::message::Dump as Answer;

use crate::agent::{Agent, read};
use crate::args::Target;
use crate::problem::Problem;
use crate::show::show;

const AFTER_HELP: &str = "\
Everything recorded up to now is in the snapshot afterwards; the JVM goes on recording to it.
With --to, a copy is made that does not change any more.

Examples:
  classhook dump 4711
  classhook dump 4711 --to now.hook && classhook report now.hook --html html";

/// Writes what a running JVM has recorded so far.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Dump {
    /// Whom to ask.
    #[command(flatten)]
    pub target: Target,
    /// Copy the snapshot to this file
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,
}

impl Dump {
    /// Asks, copies, and prints where the snapshot is.
    ///
    /// # Errors
    /// If there is no agent to ask, it cannot write, or the copy cannot be made.
    pub fn run(&self) -> Result<u8, Problem> {
        let mut agent = Agent::connect(self.target.pid)?;
        let answer = agent.ask(&Request::Dump)?;
        let dump: Answer = read(answer.clone())?;
        let snapshot = agent.path(&dump.snapshot);
        if let Some(to) = &self.to {
            copy(&snapshot, to)?;
        }
        if self.target.json {
            show(&format!("{answer:#}\n"))?;
        } else {
            show(&format!(
                "{}\n",
                self.to.as_ref().unwrap_or(&snapshot).display()
            ))?;
        }
        Ok(0)
    }
}

/// A copy of a snapshot that its JVM goes on writing to.
pub(super) fn copy(snapshot: &std::path::Path, to: &std::path::Path) -> Result<(), Problem> {
    let mut from =
        std::fs::File::open(snapshot).map_err(|error| Problem::unreadable(snapshot, &error))?;
    let copied = std::fs::File::create(to).and_then(|mut to| std::io::copy(&mut from, &mut to));
    copied
        .map(drop)
        .map_err(|error| Problem::unwritable(to, &error))
}
