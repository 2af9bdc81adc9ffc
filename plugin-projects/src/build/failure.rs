//! Errors of builds without a component.

use std::path::Path;

use errors::{Error, codes};

/// Returns the error for a fault of the project.
pub fn not_built(folder: &Path) -> Error {
    Error::mistake(
        codes::H0684,
        format!("cannot build a component from {}", folder.display()),
    )
}

/// Returns the error for a missing or broken program. `help` names its installation.
pub fn not_startable(program: &str, found: &str, help: &str) -> Error {
    Error::mistake(codes::H0683, format!("{program} cannot be started"))
        .with("found", found)
        .with("help", help)
}
