//! componentize-py from PyPI, which builds a component from a plugin in Python.

use crate::workspace::{Workspace, in_path, output_of, say};
use anyhow::{Context, Result};
use std::process::Command;

/// The version that the tests were written with.
const PACKAGE: &str = "componentize-py==0.25.1";

/// Provides the program in `PATH` or in `target/python/bin`.
pub fn componentize_py(workspace: &Workspace) -> Result<()> {
    let home = workspace.target("python");
    let is_there = home.join("bin/componentize-py").is_file();
    if is_there || in_path("componentize-py").is_some() {
        return Ok(());
    }
    say(format!("fetching {PACKAGE}"));
    let fetched =
        output_of(Command::new("python3").args(["-m", "venv"]).arg(&home)).and_then(|_| {
            output_of(Command::new(home.join("bin/pip")).args(["install", "--quiet", PACKAGE]))
        });
    fetched.map(drop).with_context(|| {
        format!("expected componentize-py in PATH (it makes components of plugins in Python), and could not fetch it: pip install {PACKAGE}")
    })
}
