//! Finds `libclasshook.so`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use errors::{Error, codes};

/// File name of the agent's library.
pub const NAME: &str = "libclasshook.so";
const VARIABLE: &str = "CLASSHOOK_AGENT";

/// Finds the agent's library: `CLASSHOOK_AGENT`, or beside this command, or in `../lib`.
pub(crate) fn find() -> Result<PathBuf, Error> {
    let command = std::env::current_exe().ok();
    find_with(
        std::env::var_os(VARIABLE),
        command.as_deref().and_then(Path::parent),
    )
}

fn find_with(variable: Option<OsString>, folder: Option<&Path>) -> Result<PathBuf, Error> {
    let places = places(variable, folder);
    if let Some(found) = places.iter().find(|place| place.is_file()) {
        return std::path::absolute(found).map_err(|error| Error::unreadable(found, &error));
    }
    let mut problem = Error::mistake(
        codes::H0601,
        format!("cannot find the agent library {NAME}"),
    );
    for place in &places {
        problem = problem.with("looked", place.display().to_string());
    }
    Err(problem.with(
        "help",
        format!("put it beside the classhook command or in ../lib, or set {VARIABLE} to its path"),
    ))
}

/// Returns the candidate paths. The variable, if set, is the only one, so that a mistake in it is
/// reported.
fn places(variable: Option<OsString>, folder: Option<&Path>) -> Vec<PathBuf> {
    if let Some(path) = variable.filter(|path| !path.is_empty()) {
        return vec![path.into()];
    }
    let near = |folder: &Path| [folder.join(NAME), folder.join("../lib").join(NAME)];
    folder.into_iter().flat_map(near).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_is_found_beside_the_command_then_in_lib() {
        let root = tempfile::tempdir().unwrap();
        let (bin, lib) = (root.path().join("bin"), root.path().join("lib"));
        std::fs::create_dir(&bin).unwrap();
        std::fs::create_dir(&lib).unwrap();
        std::fs::write(lib.join(NAME), "").unwrap();
        assert!(
            find_with(None, Some(&bin))
                .unwrap()
                .ends_with("lib/libclasshook.so")
        );
        std::fs::write(bin.join(NAME), "").unwrap();
        assert!(
            find_with(None, Some(&bin))
                .unwrap()
                .ends_with("bin/libclasshook.so")
        );
    }

    #[test]
    fn variable_takes_precedence_and_a_wrong_one_is_reported() {
        let root = tempfile::tempdir().unwrap();
        let other = root.path().join("other.so");
        std::fs::write(root.path().join(NAME), "").unwrap();
        std::fs::write(&other, "").unwrap();
        assert_eq!(
            find_with(Some(other.clone().into()), Some(root.path())).unwrap(),
            other
        );
        let error = find_with(Some("/nowhere/x.so".into()), Some(root.path())).unwrap_err();
        assert!(error.to_string().contains("/nowhere/x.so"), "{error}");
    }

    #[test]
    fn missing_library_lists_every_location() {
        let error = find_with(None, Some(Path::new("/nowhere/bin"))).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("/nowhere/bin/libclasshook.so"), "{text}");
        assert!(
            text.contains("/nowhere/bin/../lib/libclasshook.so"),
            "{text}"
        );
        assert_eq!(error.exit(), 2);
    }
}
