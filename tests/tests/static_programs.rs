//! Programs instrumented before they run do the same as with the agent, and record the same.

use e2e_tests::jdks::Jdk;
use e2e_tests::programs::{self, Program};
use e2e_tests::{instrumented, scratch};
use probes::{Snapshot, SnapshotClass, merge};
use std::collections::BTreeMap;
use std::path::Path;

/// Instruments a program for each of its JDKs, and compares class by class what was hit.
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
    if workload.class_path().is_empty() {
        return; // a module of the JDK, which no jar holds
    }
    let instrumented = instrumented::class_path(workload.class_path(), &folder.join("static"));
    let (by_agent, by_itself) = (folder.join("by-agent"), folder.join("by-itself"));
    let java = workload.java(folder, "run").option("-Xverify:all");
    let expected = java.coverage(&by_agent).run();
    std::fs::remove_dir_all(folder.join("run")).expect("the test's own folder");
    let found = instrumented::run(&workload, &instrumented, folder, &by_itself);
    found.assert_success();
    assert_eq!(
        found.stdout, expected.stdout,
        "{} on {}: another output",
        program.name, jdk.feature
    );
    let (expected, found) = (hits(&by_agent), hits(&by_itself));
    let originals = hits(&instrumented.baseline);
    assert!(
        found.len() > 3,
        "{} on {} recorded something",
        program.name,
        jdk.feature
    );
    let mut differing = Vec::new();
    for (key, none) in &originals {
        let (expected, found) = (expected.get(key), found.get(key));
        if expected.unwrap_or(none) != found.unwrap_or(none) {
            differing.push((key, number(expected), number(found)));
        }
    }
    assert!(
        program.reflective || differing.is_empty(),
        "{} on {}: {} of {} classes differ, agent and static: {:?}",
        program.name,
        jdk.feature,
        differing.len(),
        originals.len(),
        &differing[..differing.len().min(10)]
    );
    assert!(
        found.keys().all(|key| originals.contains_key(key)),
        "what is recorded is what was instrumented"
    );
}

fn number(probes: Option<&Vec<bool>>) -> Option<usize> {
    Some(probes?.iter().filter(|hit| **hit).count())
}

/// Which probes of which class were hit, by all snapshots of a folder.
fn hits(folder: &Path) -> BTreeMap<(String, u64), Vec<bool>> {
    let snapshots = std::fs::read_dir(folder)
        .expect("snapshots were written")
        .map(|entry| {
            let snapshot = Snapshot::read(&entry.expect("a readable entry").path());
            let snapshot = snapshot.expect("a whole snapshot");
            assert!(snapshot.complete, "ended in good order");
            snapshot
        });
    let merged = merge(snapshots);
    assert!(merged.conflicts.is_empty(), "{:?}", merged.conflicts);
    let class = |class: SnapshotClass| ((class.name, class.fingerprint), class.probes);
    merged.classes.into_iter().map(class).collect()
}

e2e_tests::for_every_program!(check);
