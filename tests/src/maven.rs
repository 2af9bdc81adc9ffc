//! Maven: its distribution, and a local repository with all files that the builds of the tests need.

use crate::workspace::{target, test_file};
use crate::{artifacts, javac};
use std::path::PathBuf;

/// A file of the repository.
#[derive(Debug, Clone)]
pub struct File {
    /// Its path below the root of Maven Central.
    pub path: String,
    /// Its digest.
    pub sha256: String,
}

/// Returns the files that `maven-repository.sha256` lists.
///
/// # Panics
/// If a line is not a digest and a path.
pub fn files() -> Vec<File> {
    let text = std::fs::read_to_string(test_file("maven-repository.sha256"));
    listed(&text.expect("tests/maven-repository.sha256 is there"))
}

/// Parses a list of files.
///
/// # Panics
/// If a line is not a digest and a path.
pub fn listed(text: &str) -> Vec<File> {
    let file = |line: &str| {
        let (sha256, path) = line.split_once("  ").expect("a digest and a path");
        File {
            path: path.to_owned(),
            sha256: sha256.to_owned(),
        }
    };
    text.lines().map(file).collect()
}

/// Returns the local repository that `cargo xtask setup` fills.
pub fn local_repository() -> PathBuf {
    target("maven-local")
}

/// Returns Maven's folder, unpacked at the first call.
///
/// # Panics
/// If it was not fetched.
pub fn home() -> PathBuf {
    let archive = artifacts::path("maven");
    let name = archive.file_stem().and_then(|name| name.to_str());
    let name = name.and_then(|name| name.strip_suffix("-bin"));
    let name = name.expect("apache-maven-VERSION-bin.zip");
    let home = target("maven").join(name);
    if !home.is_dir() {
        let scratch = crate::scratch();
        let file = std::fs::File::open(&archive).expect("it was fetched");
        let mut archive = zip::ZipArchive::new(file).expect("an archive");
        archive.extract(scratch.path()).expect("room on the disk");
        std::fs::create_dir_all(target("maven")).expect("target/ is writable");
        // Another test may have unpacked it first.
        if let Err(error) = std::fs::rename(scratch.path().join(name), &home) {
            assert!(home.is_dir(), "{}: {error}", home.display());
        }
    }
    home
}

/// Returns Maven's jars, against which plugins are compiled.
pub fn libraries() -> Vec<PathBuf> {
    javac::files_with_extension(&home().join("lib"), "jar")
}
