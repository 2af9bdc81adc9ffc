//! What a folder says of the project in it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::problem::Problem;

/// Where the component of a project goes that no file names: it has the name of the folder.
pub fn component(folder: &Path) -> Result<PathBuf, Problem> {
    let whole = fs::canonicalize(folder).map_err(|error| Problem::unreadable(folder, &error))?;
    let name = whole.file_name().unwrap_or_default().to_string_lossy();
    Ok(folder.join("target").join(format!("{name}.wasm")))
}
