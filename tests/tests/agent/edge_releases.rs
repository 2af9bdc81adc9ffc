//! JDK 8, the oldest release that the agent supports, and releases newer than 25. `cargo xtask setup` fetches the
//! oldest and `cargo xtask corpus` the others, if Debian's packages are available.

use crate::support::command::{assert_no_agent, classhook};
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::Servant;
use e2e_tests::{jacoco, javac, scratch, workspace};
use std::path::{Path, PathBuf};

fn edge_releases() -> Vec<Jdk> {
    let eight = jdks::eight();
    if eight.is_none() {
        eprintln!("no JVM of release 8 here: `cargo xtask setup` says why");
    }
    let newer = jdks::all().iter().filter(|jdk| jdk.feature > 25).cloned();
    eight.into_iter().chain(newer).collect()
}

fn source() -> PathBuf {
    workspace::test_file("java/eight/Eight.java")
}

fn compiled(folder: &Path) -> PathBuf {
    let options = ["--release", "8", "-Xlint:-options"];
    javac::compile(&jdks::newest(), &[&source()], folder, &options)
}

fn program(jdk: &Jdk, classes: &Path) -> Java {
    Java::new(jdk)
        .option("-Xverify:all")
        .class_path(&[classes])
        .main("Eight")
}

/// Returns the program's answers.
fn talk(java: &Java) -> Vec<String> {
    let mut running = Servant::of(java);
    let answers = ["name", "next", "sum", "other"].map(|line| running.ask(line));
    let left = running.end();
    assert_eq!(left.code, Some(0), "{}", left.stderr);
    assert!(!left.stderr.contains("error["), "{}", left.stderr);
    answers.into()
}

#[test]
fn coverage_on_the_oldest_and_newest_releases_equals_that_of_jacoco() {
    edge_releases().iter().for_each(measured_as_by_jacoco);
}

fn measured_as_by_jacoco(jdk: &Jdk) {
    let folder = scratch();
    let classes = compiled(&folder.path().join("classes"));
    let java = || program(jdk, &classes);
    let plain = talk(&java());
    assert_eq!(plain, ["Counter", "next 2", "sum 6", "what is other?"]);
    let [ours, theirs] = ["ours", "theirs.exec"].map(|name| folder.path().join(name));
    let covered = java().agent(Some(&format!("output={}", ours.display())));
    assert_eq!(talk(&covered), plain);
    let measured = java().option(jacoco::agent_option(&theirs, None));
    assert_eq!(talk(&measured), plain);
    let counters = |recorded: &Path| {
        let csv = recorded.with_extension("csv");
        let classes = classes.to_string_lossy();
        let (recorded, to) = (recorded.to_string_lossy(), csv.to_string_lossy());
        classhook(&["report", &recorded, "--classes", &classes, "--csv", &to]).assert_success();
        std::fs::read_to_string(csv).expect("a report")
    };
    let ours = counters(&ours);
    assert!(ours.contains(",Eight.Counter,"), "{ours}");
    assert_eq!(ours, counters(&theirs));
}

#[test]
fn running_jvm_of_the_oldest_and_newest_releases_is_traced_and_patched_and_left() {
    edge_releases().iter().for_each(traced_and_patched);
}

fn traced_and_patched(jdk: &Jdk) {
    let folder = scratch();
    let classes = compiled(&folder.path().join("classes"));
    let mut running = Servant::of(&program(jdk, &classes));
    let pid = running.pid().to_string();
    assert_eq!(running.ask("next"), "next 1");
    let output = folder.path().join("out");
    let to = output.to_string_lossy();
    let attached = classhook(&[
        "attach", &pid, "--plugin", "trace", "--select", "Eight*", "-o", &to,
    ]);
    attached.assert_success();
    assert_eq!(running.ask("sum"), "sum 6");
    let patch = folder.path().join("Eight.java");
    let text = std::fs::read_to_string(source()).expect("the source");
    std::fs::write(&patch, text.replace("\"next \"", "\"after \"")).expect("written");
    if jdk.feature > jdks::newest().feature {
        // No compiler of the tests supports the release.
        let options = ["--release", "8", "-Xlint:-options"];
        let patched = javac::compile(
            &jdks::newest(),
            &[&patch],
            &folder.path().join("new"),
            &options,
        );
        classhook(&["patch", &pid, &patched.to_string_lossy()]).assert_success();
    } else {
        classhook(&["patch", &pid, "--source", &patch.to_string_lossy()]).assert_success();
    }
    assert!(running.ask("next").starts_with("after "));
    classhook(&["off", &pid]).assert_success();
    assert_no_agent(&pid);
    assert!(running.ask("next").starts_with("next "));
    assert_eq!(running.end().code, Some(0));
    let table = classhook(&["report", &to]);
    assert!(table.stdout.contains("Eight.sum"), "{}", table.report());
}
