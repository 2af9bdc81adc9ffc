//! Compiling Java sources with a JDK's own compiler.

use crate::jdks::Jdk;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles the sources into `folder/classes` with `-g` and further options, and returns that folder.
///
/// # Panics
/// With the compiler's messages, if it refuses.
pub fn compile(jdk: &Jdk, sources: &[&Path], folder: &Path, options: &[&str]) -> PathBuf {
    let classes = folder.join("classes");
    std::fs::create_dir_all(&classes).expect("the test's folder is writable");
    let mut command = Command::new(jdk.tool("javac"));
    command
        .args(["-g", "-nowarn", "-d"])
        .arg(&classes)
        .args(options)
        .args(sources);
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("failed to start {command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?} failed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    classes
}

/// Packs `what` of a folder (`.` is all of it) into a jar with these lines in its manifest.
///
/// # Panics
/// If that fails.
pub fn jar(jdk: &Jdk, folder: &Path, what: &str, manifest: &str, jar: &Path) -> PathBuf {
    let lines = jar.with_extension("manifest");
    std::fs::write(&lines, manifest).expect("the test's folder is writable");
    let mut command = Command::new(jdk.tool("jar"));
    command.arg("cfm").arg(jar).arg(&lines);
    command.arg("-C").arg(folder).arg(what);
    let status = command.status().expect("jar starts");
    assert!(status.success(), "{command:?}");
    jar.to_path_buf()
}

/// Every `.java` file below a folder, sorted.
pub fn sources_in(folder: &Path) -> Vec<PathBuf> {
    files_with_extension(folder, "java")
}

/// Every file below a folder with this extension, sorted.
pub fn files_with_extension(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .filter_map(Result::ok)
        {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
