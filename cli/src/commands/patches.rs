//! `classhook patches`: what is patched in a running JVM.

use std::fmt::Write;

use clap::Args;
use control::Request;
use control::patch::{LoaderState, PatchState, Patches as Answer};

use super::patch::named;
use crate::args::Target;
use crate::problem::Problem;

/// Lists the patches in a running JVM.
#[derive(Debug, Args)]
pub struct Patches {
    /// Whom to ask.
    #[command(flatten)]
    pub target: Target,
}

/// Digits of a digest that are shown.
const DIGITS: usize = 12;

impl Patches {
    /// Asks and prints the list, the newest patch last.
    ///
    /// # Errors
    /// If there is no agent to ask.
    pub fn run(&self) -> Result<u8, Problem> {
        self.target.answer(&Request::Patches, describe)
    }
}

/// A state as text: `waiting`, `applied`, `refused: why`.
fn said(state: &LoaderState) -> String {
    match state.state {
        PatchState::Waiting => "waiting until it is loaded".to_owned(),
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
        let _ = writeln!(
            text,
            "patch {} by user {}  {}",
            patch.id, patch.uid, patch.note
        );
        for class in &patch.classes {
            let digest: String = class.digest.chars().take(DIGITS).collect();
            for state in &class.states {
                let more = if class.covered {
                    ", covered by a newer patch"
                } else {
                    ""
                };
                let name = named(&class.class, &state.loader);
                let _ = writeln!(text, "  {digest}  {name}: {}{more}", said(state));
            }
            if class.states.is_empty() {
                let _ = writeln!(text, "  {digest}  {}: was unloaded", class.class);
            }
        }
    }
    let _ = writeln!(text, "log: {}", answer.log);
    text
}
