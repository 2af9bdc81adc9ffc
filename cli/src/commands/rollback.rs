//! `classhook rollback`: patches taken back.

use clap::Args;
use control::Request;
use control::patch::{ClassState, Patched, Rollback as Which};

use super::patch::{line, warn_of_quick_compiler};
use crate::agent::Agent;
use crate::args::Target;
use crate::problem::Problem;
use crate::show::{read_escaped, show, show_json};

const AFTER_HELP: &str = "\
Without a number the newest patch is taken back. A class that an older patch covers runs that one's code again, others their own.

Examples:
  classhook rollback 4711
  classhook rollback 4711 3
  classhook rollback 4711 --all";

/// Takes patches of a running JVM back.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Rollback {
    /// Whom to ask.
    #[command(flatten)]
    pub target: Target,
    /// The patch, as `classhook patches` numbers it [default: the newest]
    #[arg(value_name = "ID", conflicts_with = "all")]
    pub id: Option<u32>,
    /// Every patch
    #[arg(long)]
    pub all: bool,
}

impl Rollback {
    /// Asks and prints what came of each class.
    ///
    /// # Errors
    /// If there is no agent to ask, no such patch (`H0722`), or the JVM refuses (`H0720`).
    pub fn run(&self) -> Result<u8, Problem> {
        let which = match (self.all, self.id) {
            (true, _) => Which::All,
            (false, Some(id)) => Which::Id(id),
            (false, None) => Which::Last,
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
            let problem = Problem::user(
                "H0720",
                "the JVM does not take the patch back; nothing was changed",
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
