//! Gradle, where it is installed: there is no distribution of it on Maven Central.

use std::path::PathBuf;

/// The folder of the installation whose `gradle` is in PATH, if there is one.
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
