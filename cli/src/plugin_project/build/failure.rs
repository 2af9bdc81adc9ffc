//! Why there is no component.

use std::path::Path;

use crate::problem::Problem;

/// The project is the cause.
pub fn not_built(folder: &Path) -> Problem {
    Problem::user("H0684", format!("{} makes no component", folder.display()))
}

/// A program is missing or broken; `help` says how to install it.
pub fn not_startable(program: &str, found: &str, help: &str) -> Problem {
    Problem::user("H0683", format!("{program} cannot be started"))
        .with("found", found)
        .with("help", help)
}
