//! mdBook, which makes the guide.

use crate::workspace::{Workspace, in_path, step};
use anyhow::{Context, Result};
use std::path::PathBuf;

/// The version that the guide is made with.
const VERSION: &str = "0.5.4";

/// Returns the program, from `PATH` or `target/tools`, and builds it if it is missing.
pub fn provide(workspace: &Workspace) -> Result<PathBuf> {
    let tools = workspace.target("tools");
    let program = tools.join("bin/mdbook");
    if program.is_file() {
        return Ok(program);
    }
    if let Some(installed) = in_path("mdbook") {
        return Ok(installed);
    }
    let build = tools.join("build");
    let mut cargo = workspace.cargo(["install", "--locked", "--debug", "--no-default-features"]);
    cargo.args(["--features", "search", "--version", VERSION, "--root"]);
    cargo
        .arg(&tools)
        .arg("mdbook")
        .env("CARGO_TARGET_DIR", &build)
        .env("CARGO_PROFILE_DEV_DEBUG", "0");
    step("building mdBook", &mut cargo).with_context(|| {
        format!("expected mdbook in PATH (it makes the guide), and could not build it: cargo install mdbook --version {VERSION}")
    })?;
    std::fs::remove_dir_all(&build)?;
    Ok(program)
}
