//! componentize-js, which makes a component of a plugin in JavaScript, from npm.

use crate::workspace::{Workspace, in_path, output_of, say};
use anyhow::{Context, Result};
use std::process::Command;

/// What the tests were written with; also in `cli/templates/js/package.json`.
const PACKAGE: &str = "@bytecodealliance/componentize-js@0.23.0";

/// Makes sure that it is in `PATH` or in `target/javascript`.
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
