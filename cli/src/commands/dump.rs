//! `classhook dump`: what a running JVM has recorded so far.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use control::Request;
use control::message::Dump as Answer;
use probes::Summary;

use crate::agent::Agent;
use crate::args::{Target, place};
use crate::outputs::atomic;
use crate::problem::Problem;
use crate::show::{path, read, show, show_json};

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
    #[arg(long, value_name = "FILE", value_parser = place())]
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
            copy(&dump, &snapshot, to)?;
        }
        if self.target.json {
            show_json(&answer)?;
        } else {
            show(&format!(
                "{}\n",
                path(self.to.as_ref().unwrap_or(&snapshot))
            ))?;
        }
        Ok(0)
    }
}

/// A copy of what a dump has written, complete in itself; the JVM goes on writing to the snapshot.
pub(crate) fn copy(dump: &Answer, snapshot: &Path, to: &Path) -> Result<(), Problem> {
    let from = File::open(snapshot).map_err(|error| Problem::unreadable(snapshot, &error))?;
    let classes = &dump.classes;
    let summary = Summary {
        seen: classes.seen,
        selected: classes.selected,
        transformed: classes.changed,
        failed: classes.failed,
        skipped_methods: classes.skipped_methods,
        ..Summary::default()
    };
    let copied = atomic::create(to).and_then(|mut to| {
        std::io::copy(&mut from.take(dump.length), &mut to)?;
        probes::end_copy(&mut to, &summary)
    });
    copied.map_err(|error| Problem::unwritable(to, &error))
}
