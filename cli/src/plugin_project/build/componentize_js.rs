//! Components of projects in JavaScript, by componentize-js.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::failure::{not_built, not_startable};
use super::folder;
use crate::launch::find_program;
use crate::problem::Problem;

const PROGRAM: &str = "componentize-js";
/// Where npm puts it.
const INSTALLED: &str = "node_modules/.bin/componentize-js";
const HELP: &str = "install Node.js, and then run `npm install` in the project's folder; components that are built need none of it";

/// The interface with what of it the plugin wants, and none of what JavaScript would ask the system for.
const WORDS: [&str; 12] = [
    "plugin.js",
    "--wit",
    "target/wit",
    "--world-name",
    "transform",
    "--disable",
    "stdio",
    "random",
    "clocks",
    "http",
    "fetch-event",
    "--out",
];
/// The world and the interface, and where componentize-js finds them.
const WIT: [(&str, &str); 2] = [
    ("world.wit", "target/wit/world.wit"),
    (
        "classhook-sdk/wit/plugin.wit",
        "target/wit/deps/classhook/plugin.wit",
    ),
];

/// Makes the component, unless it is newer than the project's sources: that takes half a minute.
///
/// # Errors
/// If componentize-js cannot be started (`H0683`), or there is a mistake in the sources (`H0684`).
pub fn build(folder: &Path) -> Result<PathBuf, Problem> {
    let component = folder::component(folder)?;
    if folder::is_newest(&component, folder, &["js", "wit"]) {
        return Ok(component);
    }
    let program = program(folder)?;
    lay_out(folder).map_err(|error| Problem::unwritable(&folder.join("target/wit"), &error))?;
    let status = Command::new(program)
        .args(WORDS)
        .arg(Path::new("target").join(component.file_name().unwrap_or_default()))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    let status = status.map_err(|error| not_startable(PROGRAM, &error.to_string(), HELP))?;
    if status.success() {
        return Ok(component);
    }
    let found = format!("{PROGRAM} ended with {status}; its lines are above");
    Err(not_built(folder).with("found", found))
}

fn program(folder: &Path) -> Result<PathBuf, Problem> {
    let installed = folder.join(INSTALLED);
    let found = match installed.is_file() {
        true => Some(installed),
        false => find_program(PROGRAM.as_ref()),
    };
    // It is started in the project's folder.
    let found = found.map(|program| std::path::absolute(&program).unwrap_or(program));
    found.ok_or_else(|| not_startable(PROGRAM, "no such program in node_modules or PATH", HELP))
}

fn lay_out(folder: &Path) -> io::Result<()> {
    for (from, to) in WIT {
        let to = folder.join(to);
        fs::create_dir_all(to.parent().unwrap_or(folder))?;
        fs::copy(folder.join(from), to)?;
    }
    Ok(())
}
