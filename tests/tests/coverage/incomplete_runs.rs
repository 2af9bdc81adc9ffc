//! Runs for which a plain 0 % would be wrong: with JaCoCo's agent in front, without the agent, without the classes.

use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::workspace::classhook;
use e2e_tests::{jacoco, javac, scratch};
use std::path::{Path, PathBuf};

const PICK: &str = "public class Pick {
    static int one(int x) { return x > 0 ? 1 : 2; }
    static int two(int x) { return x > 0 ? 3 : 4; }
    public static void main(String[] arguments) {
        int x = arguments.length;
        System.out.println(arguments[0].equals(\"one\") ? one(x) : two(x));
    }
}
";

fn compiled(jdk: &Jdk, folder: &Path) -> PathBuf {
    let source = folder.join("Pick.java");
    std::fs::write(&source, PICK).expect("written");
    javac::compile(jdk, &[&source], folder, &["-g"])
}

/// Runs `classhook coverage` on the classes, with these words.
fn coverage(folder: &Path, words: &[&str]) -> Run {
    command(folder, words).run()
}

fn command(folder: &Path, words: &[&str]) -> Java {
    let words = [&["coverage", "--output", "out"], words].concat();
    Java::program(classhook()).folder(folder).arguments(&words)
}

/// Returns the missed and covered instructions of a method.
fn instructions(xml: &Path, method: &str) -> String {
    let xml = std::fs::read_to_string(xml).expect("a report");
    let method = xml.split(&format!("<method name=\"{method}\"")).nth(1);
    let counter = method.and_then(|rest| rest.split("type=\"INSTRUCTION\" ").nth(1));
    let counter = counter.and_then(|rest| rest.split("/>").next());
    counter.unwrap_or_else(|| panic!("{xml}")).to_owned()
}

#[test]
fn classes_that_jacocos_agent_changed_before_are_measured_all_the_same() {
    for jdk in jdks::main_in_turn("beside JaCoCo") {
        let folder = scratch();
        let folder = folder.path();
        let classes = compiled(&jdk, folder);
        let (java, classes) = (jdk.tool("java"), classes.to_string_lossy().into_owned());
        let java = java.to_string_lossy();
        let option = jacoco::agent_option(&folder.join("jacoco.exec"), None);
        let ran = |method: &str| {
            let words = ["--classes", &classes, "--xml", "all.xml", "--"];
            let program = ["-cp", &classes, "Pick", method];
            // JaCoCo's agent is on the command line of one run, and in the environment of the other.
            let run = match method {
                "one" => {
                    let words = [&words[..], &[&java, option.as_str()], &program].concat();
                    coverage(folder, &words)
                }
                _ => command(folder, &[&words[..], &[&java], &program].concat())
                    .variable("JAVA_TOOL_OPTIONS", &option)
                    .run(),
            };
            run.assert_success();
            let told = "JaCoCo's agent ran in 1 JVM, too: the report includes its data from ";
            assert!(run.stderr.contains(told), "{}", run.report());
            assert!(!run.stderr.contains("H0622"), "{}", run.report());
            ["one", "two"].map(|method| instructions(&folder.join("all.xml"), method))
        };
        let taken = "missed=\"1\" covered=\"5\"".to_owned();
        let missed = "missed=\"6\" covered=\"0\"".to_owned();
        assert_eq!(ran("one"), [taken.clone(), missed.clone()], "{jdk}");
        // JaCoCo's file contains both runs now.
        assert_eq!(ran("two"), [missed, taken], "{jdk}");
    }
}

#[test]
fn jvm_that_cannot_write_is_named_and_the_command_ends_with_3() {
    let jdk = jdks::newest();
    let folder = scratch();
    let folder = folder.path();
    let classes = compiled(&jdk, folder);
    let (java, classes) = (jdk.tool("java"), classes.to_string_lossy().into_owned());
    let java = java.to_string_lossy();
    let one = format!("'{java}' -cp '{classes}' Pick");
    let script = format!("{one} one && rm -r out && touch out && {one} two; rm out");
    let run = coverage(folder, &["--xml", "all.xml", "--", "sh", "-c", &script]);
    assert_eq!(run.status.code(), Some(3), "{}", run.report());
    let named = "(Pick) recorded nothing: its agent could not start";
    assert!(
        run.stderr.contains("warning[H0629]: the JVM "),
        "{}",
        run.report()
    );
    assert!(run.stderr.contains(named), "{}", run.report());
    assert!(
        run.stderr.contains("no snapshot can be written"),
        "{}",
        run.report()
    );
}

#[test]
fn report_of_classes_that_no_jvm_loaded_is_no_success() {
    let jdk = jdks::newest();
    let folder = scratch();
    let folder = folder.path();
    let classes = compiled(&jdk, folder);
    let (java, classes) = (jdk.tool("java"), classes.to_string_lossy().into_owned());
    let java = java.to_string_lossy();
    let other = folder.join("Other.java");
    std::fs::write(
        &other,
        "class Other { public static void main(String[] a) {} }",
    )
    .expect("written");
    let others = javac::compile(&jdk, &[&other], &folder.join("others"), &["-g"]);
    let others = others.to_string_lossy().into_owned();
    let words = ["--classes", &classes, "--", &java, "-cp", &others, "Other"];
    let run = coverage(folder, &words);
    assert_eq!(run.status.code(), Some(3), "{}", run.report());
    assert!(run.stderr.contains("error[H0628]"), "{}", run.report());
    let report = ["report", "out", "--classes", &classes];
    let report = Java::program(classhook()).folder(folder).arguments(&report);
    let report = report.run();
    report.assert_success();
    assert!(
        report.stderr.contains("warning[H0628]"),
        "{}",
        report.report()
    );
    // The remedy works.
    let remedy = "`classhook report FOLDER/*.hook` without --classes";
    assert!(report.stderr.contains(remedy), "{}", report.report());
    let snapshots = javac::files_with_extension(&folder.join("out"), "hook");
    let mut listed = Java::program(classhook()).folder(folder).argument("report");
    for snapshot in snapshots {
        listed = listed.argument(snapshot);
    }
    let listed = listed.run();
    assert!(listed.stdout.contains("\nOther "), "{}", listed.report());
}
