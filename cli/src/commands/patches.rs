//! `classhook patches`: lists the patches of a running JVM.

use std::fmt::Write;

use clap::Args;
use control::Request;
use control::patch::{LoaderState, PatchState, Patches as Answer};
use errors::Error;

use super::patch::named;
use crate::args::Target;

/// Lists the patches of a running JVM.
#[derive(Debug, Args)]
pub struct Patches {
    /// The running JVM.
    #[command(flatten)]
    pub target: Target,
}

/// Printed digits of a digest.
const DIGITS: usize = 12;

impl Patches {
    /// Prints the list, the newest patch last.
    ///
    /// # Errors
    /// If the JVM has no agent.
    pub fn run(&self) -> Result<u8, Error> {
        self.target.answer(&Request::Patches, describe)
    }
}

/// Returns `waiting until the class is loaded`, `applied` or `refused: CAUSE`.
fn state_text(state: &LoaderState) -> String {
    match state.state {
        PatchState::Waiting => "waiting until the class is loaded".to_owned(),
        PatchState::Applied => "applied".to_owned(),
        PatchState::Refused => format!("refused: {}", state.why),
    }
}

fn describe(answer: &Answer) -> String {
    if answer.patches.is_empty() {
        return "there is no patch\n".to_owned();
    }
    let mut text = String::new();
    for patch in &answer.patches {
        let _ = write!(text, "patch {} by user {}", patch.id, patch.uid);
        let _ = match patch.note.is_empty() {
            true => writeln!(text),
            false => writeln!(text, ": {}", patch.note),
        };
        for class in &patch.classes {
            let digest: String = class.digest.chars().take(DIGITS).collect();
            for state in &class.states {
                let more = if class.covered {
                    ", covered by a newer patch"
                } else {
                    ""
                };
                let name = named(&class.class, &state.loader);
                let _ = writeln!(text, "  {digest}  {name}: {}{more}", state_text(state));
            }
            if class.states.is_empty() {
                let _ = writeln!(text, "  {digest}  {}: was unloaded", class.class);
            }
        }
    }
    let _ = writeln!(text, "log: {}", answer.log);
    text
}
