//! Builds components with the tools of each language.

mod cargo;
mod clang;
mod componentize;
mod componentize_js;
mod componentize_py;
mod failure;
mod folder;

use std::path::{Path, PathBuf};

use errors::Error;

use super::language::Language;

/// Compiles the project in a folder. Its component is the file `NAME.wasm` in its folder `target`.
///
/// # Errors
/// If the folder holds no project (`H0682`), a tool cannot be started (`H0683`), or it builds no
/// component (`H0684`).
pub fn build(folder: &Path) -> Result<PathBuf, Error> {
    match Language::of(folder)? {
        Language::Rust => cargo::build(folder),
        Language::C => clang::build(folder),
        Language::Python => componentize_py::build(folder),
        Language::Js => componentize_js::build(folder),
    }
}

/// Runs the tests in the project's language. Their output goes to this command's output.
///
/// # Errors
/// As [`build`], and if a test fails (`H0685`).
pub fn test(folder: &Path) -> Result<(), Error> {
    match Language::of(folder)? {
        Language::Rust => cargo::test(folder),
        Language::C | Language::Python | Language::Js => Ok(()), // their tests are plans
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_without_a_project_is_a_user_error() {
        let folder = tempfile::tempdir().unwrap();
        for problem in [
            build(folder.path()).unwrap_err(),
            test(folder.path()).unwrap_err(),
        ] {
            assert!(problem.to_string().starts_with("error[H0682]"), "{problem}");
        }
    }
}
