//! Programs do the same with the agent as without: output, exit status and the files they make.

use e2e_tests::java::Run;
use e2e_tests::jdks::Jdk;
use e2e_tests::programs::{self, Program, Workload};
use e2e_tests::scratch;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Runs a program on each of its JDKs with full verification.
fn check(name: &str) {
    let program = programs::named(name);
    for jdk in program.jdks() {
        compare(&program, &jdk);
    }
}

fn compare(program: &Program, jdk: &Jdk) {
    let scratch = scratch();
    let folder = scratch.path();
    let workload = program.prepare(jdk, folder);
    let (without, files_without) = run(&workload, folder, None);
    let (mut with, files_with) = run(&workload, folder, Some(&folder.join("snapshots")));
    without.assert_success();
    assert_eq!(with.status, without.status, "{}", with.report());
    assert_eq!(
        with.stdout, without.stdout,
        "{} on {}: another output",
        program.name, jdk.feature
    );
    let told = with.take_remarks().contains(&"H0411");
    assert_eq!(
        with.stderr, without.stderr,
        "{} on {}: another standard error",
        program.name, jdk.feature
    );
    assert_eq!(
        told,
        !program.no_room.is_empty(),
        "{} on {}: methods without room for probes are told of, and no others",
        program.name,
        jdk.feature
    );
    let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(
        names(&files_with),
        names(&files_without),
        "{} on {}: other files",
        program.name,
        jdk.feature
    );
    for (file, bytes) in &files_without {
        assert!(
            files_with[file] == *bytes,
            "{} on {}: {} differs",
            program.name,
            jdk.feature,
            file.display()
        );
    }
}

/// One run, always in the same folder, so that no path in the output differs.
fn run(
    workload: &Workload<'_>,
    folder: &Path,
    coverage: Option<&Path>,
) -> (Run, BTreeMap<PathBuf, Vec<u8>>) {
    let mut java = workload.java(folder, "run").option("-Xverify:all");
    if let Some(snapshots) = coverage {
        java = java.coverage(snapshots);
    }
    let run = java.run();
    let place = folder.join("run");
    let files = files_in(&place);
    std::fs::remove_dir_all(place).expect("the test's own folder");
    (run, files)
}

fn files_in(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).expect("the program's folder") {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path
                    .strip_prefix(folder)
                    .expect("a file below the folder")
                    .to_path_buf();
                found.insert(name, std::fs::read(&path).expect("a readable file"));
            }
        }
    }
    found
}

e2e_tests::for_every_program!(check);
