//! What a folder says of the project in it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::problem::Problem;

/// Where the component of a project goes that no file names: it has the name of the folder.
pub fn component(folder: &Path) -> Result<PathBuf, Problem> {
    let whole = fs::canonicalize(folder).map_err(|error| Problem::unreadable(folder, &error))?;
    let name = whole.file_name().unwrap_or_default().to_string_lossy();
    Ok(folder.join("target").join(format!("{name}.wasm")))
}

/// Folders in which no source of the project lies.
const OTHERS: [&str; 2] = ["target", "node_modules"];

/// Whether a component is newer than every source with one of these extensions; not if that is not known.
pub fn is_newest(component: &Path, folder: &Path, extensions: &[&str]) -> bool {
    let made = fs::metadata(component).and_then(|component| component.modified());
    match (made, newest(folder, extensions)) {
        (Ok(made), Ok(Some(newest))) => newest < made,
        _ => false,
    }
}

/// When a source was changed last.
fn newest(folder: &Path, extensions: &[&str]) -> io::Result<Option<SystemTime>> {
    let mut found = None;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let has =
            |name: Option<&OsStr>, all: &[&str]| all.iter().any(|one| name == Some(one.as_ref()));
        let changed = if path.is_dir() && !has(path.file_name(), &OTHERS) {
            newest(&path, extensions)?
        } else if has(path.extension(), extensions) {
            Some(fs::metadata(&path)?.modified()?)
        } else {
            None
        };
        found = found.max(changed);
    }
    Ok(found)
}
