//! `cargo xtask ci`: exactly what the CI runs, and nothing that it does not.

use crate::workspace::{Workspace, say, step};
use crate::{test, tidy};
use anyhow::Result;
use std::time::Instant;

/// Runs every check, the quick ones first; the last is the README's own test command, all of whose crates are linted
/// and documented, with warnings denied, when they are built for it.
pub fn run(workspace: &Workspace) -> Result<()> {
    let began = Instant::now();
    step(
        "formatting",
        &mut workspace.cargo(["fmt", "--all", "--check"]),
    )?;
    tidy::run(workspace, &tidy::Options::default())?;
    let linting = workspace.compiled_by(".ci/rustc-and-lints");
    test::run(&linting, &test::Options::default())?;
    say(format!(
        "ci: everything passed in {:.1} min",
        began.elapsed().as_secs_f64() / 60.0
    ));
    Ok(())
}
