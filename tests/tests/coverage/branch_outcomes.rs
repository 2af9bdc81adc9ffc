//! The HTML report names the outcomes of a decision that never occurred, which LCOV and JaCoCo's counters cannot.

use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::workspace::{classhook, test_file};
use e2e_tests::{javac, scratch};

/// Runs a program under `coverage`, and compares its page with the comments at the ends of lines.
fn check(jdk: &Jdk, program: &str) {
    let folder = scratch();
    let folder = folder.path();
    let source = test_file("java/branches").join(format!("{program}.java"));
    let sources = folder.join("src/branches");
    std::fs::create_dir_all(&sources).expect("a folder");
    std::fs::copy(&source, sources.join(format!("{program}.java"))).expect("copied");
    let classes = javac::compile(jdk, &[&source], folder, &["-g"]);
    let classes = classes.to_string_lossy();
    let java = jdk.tool("java");
    let main = format!("branches.{program}");
    let words = [
        "coverage",
        "--classes",
        &classes,
        "--sources",
        "src",
        "--html",
        "html",
        "--",
        &java.to_string_lossy(),
        "-cp",
        &classes,
        &main,
    ];
    let run = Java::program(classhook()).folder(folder).arguments(&words);
    run.run().assert_success();
    let page = folder.join(format!("html/pkg/branches/src-{program}.java.html"));
    let page = std::fs::read_to_string(page).expect("a page");
    let text = std::fs::read_to_string(&source).expect("a source");
    let mut named = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let expected = line.split_once(" // ").map(|(_, words)| words);
        let expected = expected.filter(|words| *words != "all");
        let said = said(&page, number);
        assert_eq!(
            said.as_deref(),
            expected,
            "JDK {}, {number}: {line}",
            jdk.feature
        );
        named += usize::from(expected.is_some());
    }
    assert!(named > 0, "{program} has comments");
}

/// Returns the outcomes that a page names at a line.
fn said(page: &str, number: usize) -> Option<String> {
    let line = page.split(&format!("<div id=L{number}")).nth(1)?;
    let line = line.split("</div>").next()?;
    let tip = line.split("data-tip=\"").nth(1)?.split('"').next()?;
    let (_, outcomes) = tip.split_once(" branches missed: ")?;
    Some(outcomes.replace("&quot;", "\"").replace("&#39;", "'"))
}

#[test]
fn outcomes_that_never_occurred_are_named_for_each_line() {
    for jdk in jdks::main_two() {
        check(&jdk, "Outcomes");
        if jdk.feature >= 21 {
            check(&jdk, "Patterns");
        }
    }
}
