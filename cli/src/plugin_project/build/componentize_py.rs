//! Components of projects in Python, by componentize-py.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::failure::{not_built, not_startable};
use super::folder;
use crate::launch::find_program;
use crate::problem::Problem;

const PROGRAM: &str = "componentize-py";
const HELP: &str = "install it, for example in an environment of its own: python3 -m venv tools; tools/bin/pip install componentize-py; export PATH=\"$PWD/tools/bin:$PATH\"; components that are built need none of it";

/// What stands in front of the component's path: the interface with what of it the plugin wants, and where modules are.
/// Python's own requests for files, clocks and the like become traps.
const WORDS: [&str; 15] = [
    "--quiet",
    "--wit-path",
    "classhook-sdk/wit",
    "--wit-path",
    "world.wit",
    "--world",
    "plugin:of-your-own/transform",
    "componentize",
    "--stub-wasi",
    "--python-path",
    ".",
    "--python-path",
    "classhook-sdk",
    "plugin",
    "--output",
];

/// Makes the component, unless it is newer than the project's sources: that takes some seconds.
///
/// # Errors
/// If componentize-py cannot be started (`H0683`), or there is a mistake in the sources (`H0684`).
pub fn build(folder: &Path) -> Result<PathBuf, Problem> {
    let component = folder::component(folder)?;
    if folder::is_newest(&component, folder, &["py", "wit"]) {
        return Ok(component);
    }
    let Some(program) = find_program(PROGRAM.as_ref()) else {
        return Err(not_startable(PROGRAM, "no such program in PATH", HELP));
    };
    let target = folder.join("target");
    fs::create_dir_all(&target).map_err(|error| Problem::unwritable(&target, &error))?;
    let status = Command::new(std::path::absolute(&program).unwrap_or(program))
        .args(WORDS)
        .arg(Path::new("target").join(component.file_name().unwrap_or_default()))
        .current_dir(folder)
        .env("RUST_BACKTRACE", "0") // of its own, behind the reason
        .stdin(Stdio::null())
        .status();
    let status = status.map_err(|error| not_startable(PROGRAM, &error.to_string(), HELP))?;
    if status.success() {
        return Ok(component);
    }
    let found = format!("{PROGRAM} ended with {status}; its lines are above");
    Err(not_built(folder).with("found", found))
}
