//! CDS, AppCDS and the AOT cache stay in use with the agent.

use crate::support::agent::{classes, hits, snapshot};
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, scratch};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Packs a jar of the test classes, because archives take no classes from folders.
fn jar(jdk: &Jdk, folder: &Path) -> PathBuf {
    javac::jar(jdk, classes(), ".", "", &folder.join("app.jar"))
}

/// Runs a program and returns the names of the classes that came from an archive.
fn archived(java: Java, log: &Path) -> BTreeSet<String> {
    java.option(format!("-Xlog:class+load:file={}", log.display()))
        .main("Life")
        .argument("end")
        .run()
        .assert_success();
    let text = std::fs::read_to_string(log).expect("a class-load log");
    let classes: BTreeSet<String> = text
        .lines()
        .filter(|line| line.contains("source: shared objects file"))
        .filter_map(|line| {
            line.split(" source:")
                .next()?
                .split_whitespace()
                .last()
                .map(str::to_owned)
        })
        // names of lambda classes contain an address
        .filter(|name| !name.contains("0x"))
        .collect();
    assert!(
        classes.len() > 300,
        "only {} archived classes in {}",
        classes.len(),
        log.display()
    );
    classes
}

/// Checks that the JVM of `prepare` loads the same classes from its archive with the agent as without, except for
/// instrumented ones.
fn check(jdk: &Jdk, prepare: impl Fn(Java) -> Java) {
    let folder = scratch();
    let out = folder.path().join("out");
    let plain = archived(prepare(Java::new(jdk)), &folder.path().join("plain.log"));
    let agent = archived(
        prepare(Java::new(jdk).coverage(&out)),
        &folder.path().join("agent.log"),
    );
    let lost: Vec<&String> = plain
        .difference(&agent)
        .filter(|name| !name.starts_with("Life"))
        .collect();
    assert!(
        lost.is_empty(),
        "{jdk} no longer takes from the archive: {lost:?}"
    );
    let snapshot = snapshot(&out);
    assert_eq!(snapshot.summary.failed, 0, "{:?}", snapshot.failures);
    let (hit, all) = hits(&snapshot, "Life");
    assert!(hit > 0 && hit < all, "{jdk}: {hit} of {all}");
}

#[test]
fn default_archive_stays_in_use() {
    for jdk in jdks::main_two() {
        check(&jdk, |java| {
            java.option("-Xshare:auto").class_path(&[classes()])
        });
    }
}

#[test]
fn dynamic_archive_of_the_application_stays_in_use() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let (jar, archive) = (jar(&jdk, folder.path()), folder.path().join("app.jsa"));
        let dump = format!("-XX:ArchiveClassesAtExit={}", archive.display());
        Java::new(&jdk)
            .option(dump)
            .class_path(&[&jar])
            .main("Life")
            .argument("end")
            .run()
            .assert_success();
        let archive = format!("-XX:SharedArchiveFile={}", archive.display());
        check(&jdk, |java| java.option(&archive).class_path(&[&jar]));
    }
}

#[test]
fn aot_cache_stays_in_use_and_its_classes_are_covered() {
    for jdk in jdks::main_two().iter().filter(|jdk| jdk.feature >= 25) {
        let folder = scratch();
        let (jar, cache) = (jar(jdk, folder.path()), folder.path().join("app.aot"));
        let dump = format!("-XX:AOTCacheOutput={}", cache.display());
        Java::new(jdk)
            .option(dump)
            .class_path(&[&jar])
            .main("Life")
            .argument("end")
            .run()
            .assert_success();
        let cache = format!("-XX:AOTCache={}", cache.display());
        check(jdk, |java| {
            java.options(&[&cache, "-XX:AOTMode=on"])
                .class_path(&[&jar])
        });
    }
}
