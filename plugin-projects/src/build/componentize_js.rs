//! Builds components of JavaScript projects with componentize-js.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use errors::Error;

use super::componentize::Componentizer;

/// Uses the plugin's part of the interface, and disables JavaScript's system interfaces.
const COMPONENTIZE_JS: Componentizer = Componentizer {
    program: "componentize-js",
    installed: Some("node_modules/.bin/componentize-js"), // the location of npm
    help: "install Node.js, and then run `npm install` in the project's folder; built components do not need it",
    sources: ["js", "wit"],
    words: &[
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
    ],
};
/// The world and the interface, and their targets for componentize-js.
const WIT: [(&str, &str); 2] = [
    ("world.wit", "target/wit/world.wit"),
    (
        "classhook-sdk/wit/plugin.wit",
        "target/wit/deps/classhook/plugin.wit",
    ),
];

/// As [`Componentizer::build`].
///
/// # Errors
/// As [`Componentizer::build`].
pub fn build(folder: &Path) -> Result<PathBuf, Error> {
    COMPONENTIZE_JS.build(folder, lay_out)
}

fn lay_out(folder: &Path) -> io::Result<()> {
    for (from, to) in WIT {
        let to = folder.join(to);
        fs::create_dir_all(to.parent().unwrap_or(folder))?;
        fs::copy(folder.join(from), to)?;
    }
    Ok(())
}
