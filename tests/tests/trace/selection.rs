//! A trace shows exactly the methods that its selectors chose in the JVM, for every form of selector.

use super::lines::Rounds;
use crate::support::command::classhook;
use e2e_tests::java::Run;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, scratch, workspace};
use std::path::{Path, PathBuf};

/// Selectors, and their choice of `f`, `g` and `h` with the number of calls.
fn chosen(classes: &Path) -> [(String, &'static [(&'static str, u64)]); 5] {
    let derived = &[("Derived.g", 10)];
    let annotated = &[("Annotated.h", 30)];
    let all = &[("Base.f", 20), ("Derived.g", 10), ("Annotated.h", 30)];
    [
        ("<:Selected$Base".to_owned(), derived),
        ("@Selected$Marked".to_owned(), annotated),
        ("loader:app".to_owned(), all),
        (format!("location:{}", classes.display()), all),
        ("Selected$D*".to_owned(), derived),
    ]
}

fn compiled(jdk: &Jdk, folder: &Path) -> PathBuf {
    let source = workspace::test_file("java/selection/Selected.java");
    javac::compile(jdk, &[&source], folder, &["--release", "11"])
}

/// Runs the program under a command of these words.
fn ran(jdk: &Jdk, classes: &Path, words: &[&str]) -> Run {
    let program = jdk.tool("java");
    let (program, classes) = (program.to_string_lossy(), classes.to_string_lossy());
    let mut all = words.to_vec();
    all.extend(["--", &program, "-cp", &classes, "Selected"]);
    let run = classhook(&all);
    run.assert_success();
    run
}

/// Returns the methods `f`, `g` and `h` of a table with their calls, in the order of `Base`, `Derived`, `Annotated`.
fn shown(table: &str) -> Vec<(&str, u64)> {
    let calls = |name: &'static str| {
        let row = format!("Selected${name} ");
        let rows = table.lines().filter_map(|line| line.strip_prefix(&row));
        let calls = rows.filter_map(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        Some((name, calls.sum::<u64>())).filter(|(_, calls)| *calls > 0)
    };
    let names = ["Base.f", "Derived.g", "Annotated.h"];
    names.into_iter().filter_map(calls).collect()
}

#[test]
fn calls_of_the_classes_that_the_agent_selected_are_shown() {
    let methods = ["--methods", "Selected$*.?"];
    for jdk in jdks::main_two() {
        let folder = scratch();
        let classes = compiled(&jdk, folder.path());
        for (selector, expected) in chosen(&classes) {
            let output = scratch();
            let output = output.path().to_string_lossy();
            let select = ["--select", &selector];
            let run = ran(
                &jdk,
                &classes,
                &[&["trace", "-o", &output][..], &select, &methods].concat(),
            );
            assert_eq!(shown(&run.stdout), expected, "{selector}: {}", run.report());
            let run = ran(&jdk, &classes, &[&["top"][..], &select, &methods].concat());
            assert_eq!(shown(&run.stdout), expected, "{selector}: {}", run.report());
        }
    }
}

/// The event file of a trace of everything has all facts that selectors need, except places.
#[test]
fn an_event_file_is_cut_to_the_classes_that_selectors_choose() {
    let jdk = jdks::newest();
    let (folder, output) = (scratch(), scratch());
    let classes = compiled(&jdk, folder.path());
    let output = output.path().to_string_lossy();
    let everything = ["trace", "-o", &output, "--methods", "Selected$*.?"];
    ran(&jdk, &classes, &everything);
    for (selector, expected) in chosen(&classes) {
        let run = classhook(&["report", &output, "--select", &selector]);
        if selector.starts_with("location:") {
            run.assert_exit(2).assert_stderr("error[H0606]");
            run.assert_stderr("event files have no locations of classes");
            continue;
        }
        run.assert_success();
        assert_eq!(shown(&run.stdout), expected, "{selector}: {}", run.report());
    }
    let nothing = classhook(&["report", &output, "--select", "@NoSuch"]);
    nothing.assert_exit(2).assert_stderr("error[H0671]");
}

/// The names in the constant pool of a loaded class tell that it has no such supertype or annotation. The outer class
/// has the name of the supertype among those of its instructions.
#[test]
fn loaded_classes_without_the_supertype_or_annotation_are_not_retransformed() {
    let cases: [(&str, &str, &[&str]); 2] = [
        ("<:Selected$Base", "Derived", &["Annotated"]),
        ("@Selected$Marked", "Annotated", &["Base", "Derived"]),
    ];
    let jdks = jdks::main_two();
    let each = jdks.iter().flat_map(|jdk| cases.map(|case| (jdk, case)));
    for (jdk, (selector, changed, kept)) in each {
        let folder = scratch();
        let classes = compiled(jdk, folder.path());
        let log = folder.path().join("redefined.txt");
        let logged = format!("-Xlog:redefine+class*=info:file={}", log.display());
        let rounds = Rounds::with(jdk, &classes, "Selected", &[&logged]);
        let run = classhook(&["trace", &rounds.pid, "--select", selector, "--for", "200ms"]);
        run.assert_success();
        rounds.end();
        let log = std::fs::read_to_string(&log).expect("the log");
        let is_redefined = |class: &str| log.contains(&format!("redefined name=Selected${class},"));
        assert!(is_redefined(changed), "{selector} on {jdk}: {log}");
        for kept in kept {
            assert!(!is_redefined(kept), "{selector}, {kept} on {jdk}: {log}");
        }
    }
}
