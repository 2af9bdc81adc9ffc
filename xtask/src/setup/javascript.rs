//! componentize-js from npm, which builds a component from a plugin in JavaScript.

use crate::workspace::{Workspace, in_path, output_of, say};
use anyhow::{Context, Result};
use std::process::Command;

/// The version that the tests were written with; `plugin-projects/templates/js/package.json` names it too.
const PACKAGE: &str = "@bytecodealliance/componentize-js@0.23.0";

/// Provides the program in `PATH` or in `target/javascript`.
pub fn componentize_js(workspace: &Workspace) -> Result<()> {
    let home = workspace.target("javascript");
    let is_there = home.join("node_modules/.bin/componentize-js").is_file();
    if is_there || in_path("componentize-js").is_some() {
        return Ok(());
    }
    say(format!("fetching {PACKAGE}"));
    std::fs::create_dir_all(&home)?;
    let words = ["install", "--no-audit", "--no-fund", PACKAGE];
    let fetched = output_of(Command::new("npm").args(words).arg("--prefix").arg(&home));
    fetched.map(drop).with_context(|| {
        format!("expected componentize-js in PATH (it makes components of plugins in JavaScript), and could not fetch it: npm install {PACKAGE}")
    })
}
