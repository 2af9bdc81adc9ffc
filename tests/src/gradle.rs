//! Gradle, if it is installed: Maven Central has no distribution of it.

use std::path::PathBuf;

/// Returns the folder of the installation whose `gradle` is in PATH, if any.
pub fn home() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let programs = std::env::split_paths(&path).map(|folder| folder.join("gradle"));
    let homes = programs.filter_map(|program| {
        let program = program.canonicalize().ok()?;
        Some(program.parent()?.parent()?.to_owned())
    });
    let mut homes = homes.filter(|home| home.join("lib").is_dir());
    homes.next()
}
