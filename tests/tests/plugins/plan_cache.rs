//! The plan cache: plans of one JVM are known to the next one, and to offline instrumentation.

use crate::support::agent::{classes, java, snapshot};
use e2e_tests::java::{Java, Run};
use e2e_tests::javac::files_with_extension;
use e2e_tests::workspace::classhook;
use e2e_tests::{jdks, scratch};
use std::path::Path;

/// Runs `Life` with coverage, in a JVM with this cache.
fn life(folder: &Path, cache: &Path, more: &str) -> Run {
    let output = folder.join("out");
    let options = format!("output={},log=info{more}", output.display());
    let java = java(&jdks::newest()).agent(Some(&options));
    let run = java
        .variable("XDG_CACHE_HOME", cache)
        .main("Life")
        .argument("end")
        .run();
    run.assert_success();
    run
}

/// Returns the hits and misses in the line at the end.
#[track_caller]
fn counts(run: &Run) -> (u32, u32) {
    let (_, line) = run.stderr.split_once("plan cache: ").expect(&run.stderr);
    let (hits, rest) = line.split_once(" hits, ").expect(line);
    let (misses, _) = rest.split_once(" misses").expect(line);
    let number = |text: &str| text.parse().expect("a number");
    (number(hits), number(misses))
}

#[test]
fn second_jvm_calls_no_plugin_for_a_known_class() {
    let (first, second, off) = (scratch(), scratch(), scratch());
    let cache = first.path().join("cache");
    let (hits, misses) = counts(&life(first.path(), &cache, ""));
    assert!(hits == 0 && misses > 0, "{hits} {misses}");
    assert_eq!(counts(&life(second.path(), &cache, "")), (misses, 0));
    let probes = |folder: &Path| {
        let snapshot = snapshot(&folder.join("out"));
        let classes = snapshot.classes.into_iter();
        let mut probes: Vec<_> = classes.map(|class| (class.name, class.probes)).collect();
        probes.sort();
        probes
    };
    assert_eq!(probes(second.path()), probes(first.path()));
    let unused = off.path().join("cache");
    let run = life(off.path(), &unused, ",plan-cache=off");
    run.assert_stderr("plan cache: off");
    let files = files_with_extension(&unused.join("classhook"), "plans");
    assert!(files.is_empty(), "{files:?}");
}

#[test]
fn jvm_uses_plans_of_offline_instrumentation() {
    let folder = scratch();
    let cache = folder.path().join("cache");
    let settings = folder.path().join("classhook.toml");
    std::fs::write(&settings, "[agent]\nlog = \"info\"\n").expect("a file");
    let instrumented = Java::program(classhook())
        .variable("XDG_CACHE_HOME", &cache)
        .argument("instrument")
        .argument("--config")
        .argument(&settings)
        .argument(classes())
        .argument("-o")
        .argument(folder.path().join("classes"))
        .run();
    instrumented.assert_success();
    let (hits, misses) = counts(&life(folder.path(), &cache, ""));
    assert!(hits > 0 && misses == 0, "{hits} {misses}");
}
