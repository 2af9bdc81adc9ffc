//! Gradle's plugin in a real build of several modules, with forked and parallel test JVMs.

use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::maven::local_repository;
use e2e_tests::maven_plugin::{self, VERSION};
use e2e_tests::rotation::everything;
use e2e_tests::workspace::{self, test_file};
use e2e_tests::{gradle, jacoco, javac, scratch};
use jacoco_files::{Execution, XmlReport};
use std::path::Path;

/// Runs `gradle` with these words, offline and without daemon, in a copy of `java/gradle` with the sources of
/// `java/maven`.
fn run(folder: &Path, jdk: &Jdk, words: &[&str]) -> Run {
    let home = gradle::home().expect("Gradle is installed");
    let property = |name: &str, value: &Path| format!("-P{name}={}", value.display());
    Java::program(home.join("bin/gradle"))
        .folder(folder)
        .variable("JAVA_HOME", &jdk.home)
        .variable("XDG_CACHE_HOME", folder.join("cache"))
        .arguments(&["--no-daemon", "--offline", "--parallel", "--stacktrace"])
        .argument("--gradle-user-home")
        .argument(folder.join("gradle-home"))
        .argument(property("localRepository", &local_repository()))
        .argument(property("ourRepository", &maven_plugin::repository()))
        .argument(format!("-PourVersion={VERSION}"))
        .arguments(words)
        .run()
}

#[track_caller]
fn assert_said(run: &Run, part: &str) {
    let is_there = run.stdout.contains(part) || run.stderr.contains(part);
    assert!(is_there, "{part:?}\n{}", run.report());
}

fn snapshots(folder: &Path) -> usize {
    javac::files_with_extension(folder, "hook").len()
}

/// Two builds take a minute of CPU time, so only `cargo xtask corpus` runs them.
#[test]
fn build_has_the_reports_of_jacoco_and_fails_below_its_rules() {
    if !everything() {
        return;
    }
    let jdk = jdks::full().into_iter().find(|jdk| jdk.feature == 17);
    let jdk = jdk.expect("a JDK 17, the last that Gradle 4.4.1 of Debian works on");
    maven_plugin::build(&jdk);
    maven_plugin::build_for_gradle(&jdk, &gradle::home().expect("Gradle is installed"));
    let folder = scratch();
    let folder = folder.path();
    javac::copy(&test_file("java/gradle"), folder);
    for module in ["core", "web"] {
        let sources = Path::new("java/maven").join(module).join("src");
        let sources = test_file(sources.to_str().expect("text"));
        javac::copy(&sources, &folder.join(module).join("src"));
    }

    let all = [
        "test",
        "program",
        "unmeasured",
        "classhookTestReport",
        "all",
        "classhookTestCoverageVerification",
        "integrationTest",
        "classhookIntegrationTestReport",
        "classhookReport",
    ];
    let first = run(
        folder,
        &jdk,
        &[&all[..], &["-Pleast=0.5", "--info"]].concat(),
    );
    first.assert_success();
    assert_said(
        &first,
        "select=!loader:com.acme.Isolating**;!loader:platform;!loader:**$PlatformClassLoader;location:any,\
         plugin=coverage-lines",
    );
    let core = folder.join("core/build");
    assert_eq!(
        snapshots(&core.join("classhook/test.exec")),
        2,
        "one for each JVM"
    );
    assert_eq!(snapshots(&core.join("classhook/program.exec")), 1);
    assert_eq!(snapshots(&core.join("classhook/unmeasured.exec")), 0);
    let reports = core.join("reports/classhook/test");
    for file in ["html/index.html", "classhookTestReport.csv"] {
        assert!(reports.join(file).is_file(), "no {file}");
    }
    let lcov = std::fs::read_to_string(core.join("lcov.info")).expect("a report");
    assert!(
        lcov.contains("SF:core/src/main/java/com/acme/Sum.java"),
        "{lcov}"
    );
    let ours = XmlReport::read(&reports.join("classhookTestReport.xml"));
    let [of_integration, together] =
        [("integrationTest", "IntegrationTest"), ("all", "")].map(|(folder, name)| {
            let folder = core.join("reports/classhook").join(folder);
            let file = |ending: &str| folder.join(format!("classhook{name}Report.{ending}"));
            let exec = Execution::read(&file("exec"));
            assert!(exec.0.keys().any(|class| class.name == "com/acme/Sum"));
            XmlReport::read(&file("xml"))
        });
    // The integration test alone exceeds the limit, and adds nothing negative.
    let branches = |report: &XmlReport, line: u32| {
        let place = format!("/package com/acme/sourcefile Sum.java/line {line}");
        ["mb", "cb"].map(|key| report.number(&place, key))
    };
    for (report, limit, negative) in [
        (&ours, [Some(1), Some(1)], [Some(0), Some(2)]),
        (&of_integration, [Some(1), Some(1)], [Some(1), Some(1)]),
        (&together, [Some(0), Some(2)], [Some(0), Some(2)]),
    ] {
        assert_eq!(branches(report, 16), limit);
        assert_eq!(branches(report, 8), negative);
    }
    names_tests_and_counts_the_source(&core);
    let of_all = XmlReport::read(&folder.join("build/all.xml"));
    assert!(of_all.count() > ours.count());
    let theirs = by_jacoco(folder, &core);
    assert!(theirs.count() > 20);
    assert_eq!(ours.numbers().differences(&theirs), Vec::<String>::new());

    let short = run(
        folder,
        &jdk,
        &["test", all[5], "--continue", "-Pleast=0.99"],
    );
    short.assert_exit(1);
    let expected =
        "Rule violated for bundle web: lines covered ratio is 0.60, but expected minimum is 0.99";
    assert_said(&short, expected);
    assert_said(&short, "Coverage checks have not been met.");
    assert_said(&short, ":core:test UP-TO-DATE");
    counts_only_what_exists(folder, &jdk);
}

fn names_tests_and_counts_the_source(core: &Path) {
    let json = core.join("reports/classhook/integrationTest/classhookIntegrationTestReport.json");
    let json = std::fs::read_to_string(json).expect("a report");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["counted"], "source");
    assert_eq!(json["tests"][0]["name"], "limit", "{json}");
}

/// Verifies with counters that do not exist.
fn counts_only_what_exists(folder: &Path, jdk: &Jdk) {
    let wrong = [
        "-Pleast=0.5",
        "integrationTest",
        "classhookIntegrationTestCoverageVerification",
    ];
    let wrong = run(folder, jdk, &wrong);
    wrong.assert_exit(1);
    assert_said(&wrong, "possible values: jacoco, source");
}

/// Returns JaCoCo's report of the same hits.
fn by_jacoco(folder: &Path, build: &Path) -> XmlReport {
    let exec = folder.join("test.exec");
    let classes = build.join("classes/java/main");
    let report = Java::program(workspace::classhook())
        .arguments(&["report", "--exec"])
        .argument(&exec)
        .argument("--classes")
        .argument(&classes)
        .argument(build.join("classhook/test.exec"));
    report.run().assert_success();
    jacoco::report(&exec, &classes, &folder.join("jacoco.xml")).numbers()
}
