//! `cargo xtask ci`: exactly what the CI runs, and nothing that it does not.

use crate::workspace::{Workspace, say, step};
use crate::{test, tidy};
use anyhow::Result;
use std::time::Instant;

/// Runs every check, the quick ones first; the last is the README's own test command.
pub fn run(workspace: &Workspace) -> Result<()> {
    let began = Instant::now();
    step(
        "formatting",
        &mut workspace.cargo(["fmt", "--all", "--check"]),
    )?;
    tidy::run(workspace, &tidy::Options::default())?;
    // The release profile here too: build scripts and macros are then compiled once for lints, docs and tests.
    let mut clippy = workspace.cargo([
        "clippy",
        "--quiet",
        "--release",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]);
    step("lints", &mut clippy)?;
    let mut documentation =
        workspace.cargo(["doc", "--quiet", "--release", "--workspace", "--no-deps"]);
    step(
        "documentation",
        documentation.env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    test::run(workspace, &test::Options::default())?;
    say(format!(
        "ci: everything passed in {:.1} min",
        began.elapsed().as_secs_f64() / 60.0
    ));
    Ok(())
}
