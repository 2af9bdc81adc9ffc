//! `classhook patches`: what is patched in a running JVM.

use std::fmt::Write;

use clap::Args;
use control::Request;
use control::patch::Patches as Answer;

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

fn describe(answer: &Answer) -> String {
    if answer.patches.is_empty() {
        return "no patch is in force\n".to_owned();
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
            let more = match (class.covered, class.waited) {
                (true, _) => "  covered by a newer patch",
                (false, true) => "  was not loaded then",
                (false, false) => "",
            };
            let _ = writeln!(text, "  {digest}  {}{more}", class.class);
        }
    }
    let _ = writeln!(text, "log: {}", answer.log);
    text
}
