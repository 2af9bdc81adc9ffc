//! A trace shows exactly the methods that its selectors chose in the JVM, for every form of selector.

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
