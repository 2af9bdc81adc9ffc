//! Methods that become long with probes, as generated code does.

use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::workspace::classhook;
use e2e_tests::{javac, scratch};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A class with a branch over `calls` lines that call; it is executed twice, once around them.
fn compiled(jdk: &Jdk, folder: &Path, calls: usize) -> PathBuf {
    let mut text = String::from(
        "public class Long {
    static int sum;
    static boolean done;
    static void put(int k) { sum += k; }
    static void fill() {
        if (!done) {
",
    );
    for number in 0..calls {
        writeln!(text, "            put({number});").expect("a string");
    }
    text.push_str(
        "            done = true;
        }
    }
    public static void main(String[] arguments) {
        fill();
        fill();
        System.out.println(sum);
    }
}
",
    );
    let source = folder.join("Long.java");
    std::fs::write(&source, text).expect("written");
    javac::compile(jdk, &[&source], folder, &["-g"])
}

/// Runs the class under `coverage` with these options.
fn covered(jdk: &Jdk, folder: &Path, classes: &Path, options: &[&str]) -> Run {
    let (java, classes) = (jdk.tool("java"), classes.to_string_lossy().into_owned());
    let java = java.to_string_lossy();
    let first = ["coverage", "--classes", &classes];
    let last = ["--", &java, "-cp", &classes, "Long"];
    let words = [&first[..], options, &last].concat();
    let run = Java::program(classhook()).folder(folder).arguments(&words);
    run.run()
}

/// The counters of a method in JaCoCo's XML.
fn counters(xml: &Path, method: &str) -> Option<String> {
    let xml = std::fs::read_to_string(xml).expect("a report");
    let begin = xml.split(&format!("<method name=\"{method}\"")).nth(1)?;
    Some(begin.split("</method>").next()?.to_owned())
}

fn assert_measured(xml: &Path, lines: usize) {
    let found = counters(xml, "fill").expect("the method");
    for counter in [
        format!("type=\"LINE\" missed=\"0\" covered=\"{lines}\""),
        "type=\"BRANCH\" missed=\"0\" covered=\"2\"".to_owned(),
    ] {
        assert!(found.contains(&counter), "{counter}: {found}");
    }
}

#[test]
fn branch_over_two_thousand_calls_is_measured() {
    for jdk in jdks::main_in_turn("long methods") {
        let folder = scratch();
        let folder = folder.path();
        let classes = compiled(&jdk, folder, 2_500);
        let xml = folder.join("all.xml");
        let run = covered(&jdk, folder, &classes, &["--xml", "all.xml"]);
        run.assert_success();
        assert!(run.stdout.starts_with("3123750\n"), "{}", run.report());
        assert!(!run.stderr.contains("H0411"), "{}", run.report());
        assert_measured(&xml, 2_503);
    }
}

#[test]
fn probes_of_lines_are_left_out_where_they_would_cost_the_method() {
    for jdk in jdks::main_in_turn("long methods with lines") {
        for option in ["--exact-lines", "--hit-counts"] {
            let folder = scratch();
            let folder = folder.path();
            let classes = compiled(&jdk, folder, 2_500);
            let run = covered(&jdk, folder, &classes, &[option, "--xml", "all.xml"]);
            run.assert_success();
            assert!(run.stdout.starts_with("3123750\n"), "{}", run.report());
            let told = "do not fit into it";
            assert!(run.stderr.contains(told), "{}", run.report());
            assert_measured(&folder.join("all.xml"), 2_503);
        }
    }
}

#[test]
fn method_that_cannot_have_probes_is_not_measured_instead_of_missed() {
    for jdk in jdks::main_in_turn("methods without probes") {
        let folder = scratch();
        let folder = folder.path();
        let classes = compiled(&jdk, folder, 5_000);
        let run = covered(&jdk, folder, &classes, &["--output", "out"]);
        run.assert_success();
        assert!(run.stdout.starts_with("12497500\n"), "{}", run.report());
        let named = "the method Long.fill()V, which is not measured: the branch at bci 3";
        assert!(
            run.stdout.contains(&format!("incomplete: {named}")),
            "{}",
            run.report()
        );
        assert!(
            run.stderr.contains("warning[H0625]: Long.fill()V"),
            "{}",
            run.report()
        );

        let words = "report out --html html --json all.json --xml all.xml --markdown all.md";
        let words: Vec<&str> = words.split(' ').collect();
        let report = Java::program(classhook()).folder(folder).arguments(&words);
        report.run().assert_success();
        for file in ["html/index.html", "all.json", "all.md"] {
            let text = std::fs::read_to_string(folder.join(file)).expect("a report");
            assert!(text.contains("Long.fill()V"), "{file}: {text}");
        }
        assert_eq!(counters(&folder.join("all.xml"), "fill"), None);
        assert!(counters(&folder.join("all.xml"), "put").is_some());

        let strict = ["--on-error", "strict", "--output", "strict"];
        let run = covered(&jdk, folder, &classes, &strict);
        assert_eq!(run.status.code(), Some(3), "{}", run.report());
    }
}
