//! `classhook rollback`: undoes patches.

use agent_connection::agent::Agent;
use agent_connection::decoded_answers::read_escaped;
use clap::Args;
use control::Request;
use control::patch::{ClassState, Patched, Rollback as Patches};
use errors::{Error, codes};
use standard_streams::show::{show, show_json};

use super::patch::{line, warn_of_quick_compiler};
use crate::args::Target;

const AFTER_HELP: &str = "\
Without an ID, the newest patch is undone. A class with an older patch then runs the code of that patch, other classes
their original code.

Examples:
  classhook rollback 4711
  classhook rollback 4711 3
  classhook rollback 4711 --all";

/// Undoes patches of a running JVM.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Rollback {
    /// The running JVM.
    #[command(flatten)]
    pub target: Target,
    /// Undo the patch with this number; `classhook patches` lists them [default: the newest]
    #[arg(value_name = "ID", conflicts_with = "all")]
    pub id: Option<u32>,
    /// Undo all patches
    #[arg(long)]
    pub all: bool,
}

impl Rollback {
    /// Undoes the patches and prints the state of each class.
    ///
    /// # Errors
    /// If the JVM has no agent, the patch does not exist (`H0722`), or the JVM refuses (`H0720`).
    pub fn run(&self) -> Result<u8, Error> {
        let which = match (self.all, self.id) {
            (true, _) => Patches::All,
            (false, Some(id)) => Patches::Id(id),
            (false, None) => Patches::Last,
        };
        let mut agent = Agent::connect(self.target.pid)?;
        let answer = agent.ask(&Request::Rollback { which })?;
        if self.target.json {
            show_json(&answer)?;
        }
        let patched: Patched = read_escaped(answer)?;
        if patched.ids.is_empty() {
            let refused = patched
                .classes
                .iter()
                .filter(|class| class.state == ClassState::Refused);
            let problem = Error::mistake(
                codes::H0720,
                "the JVM refuses to undo the patch; nothing was changed",
            );
            return Err(refused.fold(problem, |problem, class| {
                problem.with("class", line(class).trim())
            }));
        }
        if !self.target.json {
            let ids: Vec<String> = patched.ids.iter().map(u32::to_string).collect();
            let lines: String = patched.classes.iter().map(line).collect();
            show(&format!("taken back: patch {}\n{lines}", ids.join(", ")))?;
        }
        warn_of_quick_compiler(&patched);
        Ok(0)
    }
}
