//! Component path and freshness of a project in a folder.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use errors::Error;

/// Returns the component's path for a project without a manifest: it has the name of the folder.
pub fn component(folder: &Path) -> Result<PathBuf, Error> {
    let whole = fs::canonicalize(folder).map_err(|error| Error::unreadable(folder, &error))?;
    let name = whole.file_name().unwrap_or_default().to_string_lossy();
    Ok(folder.join("target").join(format!("{name}.wasm")))
}

/// Folders without sources of the project.
const OTHERS: [&str; 2] = ["target", "node_modules"];

/// Checks whether a component is newer than every source with one of these extensions, and than
/// each folder with such sources, because a removed source changes its folder. Returns false if the
/// times are unknown.
pub fn is_newest(component: &Path, folder: &Path, extensions: &[&str]) -> bool {
    let made = fs::metadata(component).and_then(|component| component.modified());
    match (made, newest(folder, extensions)) {
        (Ok(made), Ok(Some(newest))) => newest < made,
        _ => false,
    }
}

/// Returns the time of the last change of a source.
fn newest(folder: &Path, extensions: &[&str]) -> io::Result<Option<SystemTime>> {
    let mut found = None;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let has =
            |name: Option<&OsStr>, all: &[&str]| all.iter().any(|one| name == Some(one.as_ref()));
        let changed = if path.is_dir() && !has(path.file_name(), &OTHERS) {
            let within = newest(&path, extensions)?;
            let folder = fs::metadata(&path)?.modified()?;
            within.map(|source| source.max(folder))
        } else if has(path.extension(), extensions) {
            Some(fs::metadata(&path)?.modified()?)
        } else {
            None
        };
        found = found.max(changed);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::fs::File;
    use std::time::Duration;

    /// Sets the time of a file or folder, in seconds.
    fn changed(path: &Path, seconds: u64) {
        let file = File::open(path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
            .unwrap();
    }

    #[test]
    fn component_is_outdated_after_a_source_is_added_changed_or_removed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let (component, source) = (folder.join("target/x.wasm"), folder.join("src/x.c"));
        for file in [&component, &source, &folder.join("classhook/table.csv")] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let is_newest = |found: &Path| super::is_newest(found, folder, &["c", "h"]);
        changed(&component, 10);
        for (of_source, of_folder, expected) in
            [(9, 9, true), (11, 9, false), (9, 11, false), (10, 9, false)]
        {
            changed(&source, of_source);
            changed(&folder.join("src"), of_folder);
            assert_eq!(is_newest(&component), expected, "{of_source} {of_folder}");
        }
        changed(&source, 9);
        changed(&folder.join("src"), 9);
        assert!(!is_newest(&folder.join("target/y.wasm")));
        fs::remove_file(&source).unwrap();
        assert!(!is_newest(&component), "no source is known");
    }
}
