//! Fixtures for the tests of the agent: compiled programs, runs under the agent, snapshots.

#![allow(dead_code, reason = "each test file uses its part")]

use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, scratch, workspace};
use probes::Snapshot;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The classes of `tests/java/agent`, compiled once for all tests of this process.
///
/// They are compiled for release 11, except for `Virtual`, which is left out without a JDK 21.
pub fn classes() -> &'static Path {
    static CLASSES: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, classes) = CLASSES.get_or_init(|| {
        let jdk = jdks::newest();
        let folder = scratch();
        let file = |name: &str| workspace::test_file(&format!("java/agent/{name}.java"));
        let old = [file("Life"), file("Loading"), file("Template0000")];
        let old: Vec<&Path> = old.iter().map(PathBuf::as_path).collect();
        let classes = javac::compile(&jdk, &old, folder.path(), &["--release", "17"]);
        if jdk.feature >= 21 {
            let path = classes.to_string_lossy().into_owned();
            javac::compile(&jdk, &[&file("Virtual")], folder.path(), &["-cp", &path]);
        }
        (folder, classes)
    });
    classes
}

/// Returns `java` with the test classes, full verification and JNI checks.
pub fn java(jdk: &Jdk) -> Java {
    Java::new(jdk)
        .options(&["-Xverify:all", "-Xcheck:jni"])
        .class_path(&[classes()])
}

/// Returns the only snapshot in a folder.
#[track_caller]
pub fn snapshot(folder: &Path) -> Snapshot {
    let files = snapshots(folder);
    assert_eq!(
        files.len(),
        1,
        "expected one snapshot in {}, found {files:?}",
        folder.display()
    );
    Snapshot::read(&files[0]).expect("a readable snapshot")
}

/// Returns every snapshot file in a folder.
pub fn snapshots(folder: &Path) -> Vec<PathBuf> {
    javac::files_with_extension(folder, "hook")
}

/// Returns the number of hit probes of a class, and the number of all.
#[track_caller]
pub fn hits(snapshot: &Snapshot, class: &str) -> (usize, usize) {
    let found: Vec<_> = snapshot
        .classes
        .iter()
        .filter(|found| found.name == class)
        .collect();
    assert_eq!(found.len(), 1, "{class} among {:?}", names(snapshot));
    (
        found[0].probes.iter().filter(|hit| **hit).count(),
        found[0].probes.len(),
    )
}

/// Returns the names of a snapshot's classes.
pub fn names(snapshot: &Snapshot) -> Vec<&str> {
    snapshot
        .classes
        .iter()
        .map(|class| class.name.as_str())
        .collect()
}

/// Returns the lines of standard error without the JVM's own warnings and notes about the tests' options.
pub fn noise(run: &Run) -> Vec<&str> {
    let expected = [
        "OpenJDK 64-Bit Server VM warning: Options -Xverify",
        "Picked up ",
        "OpenJDK 64-Bit Server VM warning: Sharing is only supported",
    ];
    run.stderr
        .lines()
        .filter(|line| !expected.iter().any(|start| line.starts_with(start)))
        .collect()
}
