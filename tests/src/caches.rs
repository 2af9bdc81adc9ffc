//! The caches of plugins that programs of tests use: neither the user nor an earlier run has filled them.

use crate::workspace;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The variable that leads Classhook to its cache.
pub const VARIABLE: &str = "XDG_CACHE_HOME";

static HOME: LazyLock<PathBuf> = LazyLock::new(|| {
    let all = workspace::target("test-caches");
    remove_left(&all);
    let home = all.join(std::process::id().to_string());
    fs::create_dir_all(&home).expect("target/ is writable");
    home
});

/// Returns the value of [`VARIABLE`] for the programs that this process starts.
pub fn home() -> &'static Path {
    &HOME
}

/// Removes the caches of ended processes.
fn remove_left(all: &Path) {
    let folders = fs::read_dir(all).into_iter().flatten().flatten();
    let ended = folders.filter(|folder| !Path::new("/proc").join(folder.file_name()).exists());
    ended.for_each(|folder| drop(fs::remove_dir_all(folder.path())));
}
