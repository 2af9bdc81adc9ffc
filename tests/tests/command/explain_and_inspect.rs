//! `classhook explain` and `verify` with a JDK's own classes, and with misbehaving plugins.

use e2e_tests::java::{Java, Run};
use e2e_tests::workspace::{classhook, target, test_file};
use e2e_tests::{javac, jdks, scratch};
use std::path::Path;

fn command(words: &[&str]) -> Run {
    Java::program(classhook()).arguments(words).run()
}

#[test]
fn modules_of_the_jdk_are_verified_as_they_are_and_instrumented() {
    for jdk in jdks::main_two() {
        let run = Java::program(classhook())
            .variable("JAVA_HOME", &jdk.home)
            .arguments(&[
                "verify",
                "jrt:java.logging",
                "jrt:java.sql",
                "--plugin",
                "coverage",
            ])
            .run();
        run.assert_success();
        let count = |what: &str| {
            let mut lines = run
                .stdout
                .lines()
                .filter_map(|line| line.trim().split_once("  "));
            let found = lines.find(|(_, found)| *found == what);
            found.map_or(0, |(count, _)| count.parse::<u32>().expect("a count"))
        };
        assert!(count("classes") > 100, "on {jdk}: {}", run.stdout);
        assert_eq!(
            count("classes"),
            count("cafebabe agrees"),
            "on {jdk}: {}",
            run.stdout
        );
        let changed = count("changed, and passed the self-check");
        assert!(changed > 80, "on {jdk}: {}", run.stdout);
        assert_eq!(
            changed,
            count("cafebabe agrees afterwards"),
            "on {jdk}: {}",
            run.stdout
        );
    }
}

#[test]
fn explain_of_a_jdk_class_is_found_by_name() {
    let jdk = jdks::newest();
    let run = Java::program(classhook())
        .variable("JAVA_HOME", &jdk.home)
        .arguments(&[
            "explain",
            "coverage",
            "--in",
            "jrt:java.logging",
            "java.util.logging.Level",
        ])
        .run();
    run.assert_success();
    assert!(
        run.stdout.contains("class java/util/logging/Level "),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("+ coverage: hit 0 "), "{}", run.stdout);
}

/// Writes settings that let the tests' plugin do this deed.
fn settings(folder: &Path, deed: &str) -> String {
    let plugin = target("bundled/tests/misbehaving.wasm");
    let text = format!(
        "[[plugin]]\nuse = \"{}\"\ngrant = [\"probes\"]\n[plugin.config]\ndeed = \"{deed}\"\n",
        plugin.display()
    );
    let path = folder.join("classhook.toml");
    std::fs::write(&path, text).expect("written");
    path.to_string_lossy().into_owned()
}

#[test]
fn a_plugin_that_traps_is_explained_and_verified_as_a_failure() {
    let folder = scratch();
    let source = folder.path().join("Victim.java");
    std::fs::write(
        &source,
        "class Victim { void work() {} }\nclass Other { void work() {} }\n",
    )
    .expect("written");
    let classes = javac::compile(
        &jdks::newest(),
        &[&source],
        folder.path(),
        &["--release", "11"],
    );
    let config = settings(folder.path(), "trap");
    let plugin = target("bundled/tests/misbehaving.wasm");
    let plugin = plugin.to_string_lossy();
    let class = |name: &str| classes.join(name).to_string_lossy().into_owned();

    let explain = ["explain", &plugin, "--config", &config];
    let other = command(&[&explain[..], &[&class("Other.class")]].concat());
    other.assert_success();
    assert_eq!(
        other.stdout.matches("+ misbehaving: hit").count(),
        2,
        "{}",
        other.stdout
    );
    let victim = command(&[&explain[..], &[&class("Victim.class")]].concat());
    assert_eq!(victim.status.code(), Some(1), "{}", victim.stderr);
    victim.assert_stderr("warning[H0311]: plugin `misbehaving` failed on Victim");

    let places = classes.to_string_lossy();
    let verify = command(&["verify", &places, "--plugin", &plugin, "--config", &config]);
    assert_eq!(verify.status.code(), Some(1), "{}", verify.stderr);
    verify.assert_stderr("warning[H0634]: ");
    assert!(
        verify.stdout.contains("        1  failed in the plugin"),
        "{}",
        verify.stdout
    );
    assert!(
        verify.stdout.contains("        1  changed, and"),
        "{}",
        verify.stdout
    );
}

#[test]
fn settings_for_another_plugin_are_refused() {
    let folder = scratch();
    let config = settings(folder.path(), "trap");
    let class = test_file("java/Idle.java").to_string_lossy().into_owned();
    let run = command(&[
        "verify", &class, "--plugin", "coverage", "--config", &config,
    ]);
    assert_eq!(run.status.code(), Some(2), "{}", run.stderr);
    run.assert_stderr("error[H0105]: ");
}
