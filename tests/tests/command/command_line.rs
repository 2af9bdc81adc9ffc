//! `classhook run`, `coverage` and `report` with real JVMs.

use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::workspace::{agent_library, classhook, test_file};
use e2e_tests::{jacoco, javac, scratch};
use jacoco_files::XmlReport;
use std::path::{Path, PathBuf};

/// A folder with the classes of `Teller.java`. Its name contains characters that shells and option strings treat
/// specially.
struct Bank {
    _scratch: tempfile::TempDir,
    folder: PathBuf,
    jdk: Jdk,
}

impl Bank {
    fn new(jdk: &Jdk) -> Self {
        let scratch = scratch();
        let folder = scratch.path().join("it's, a \\ folder");
        std::fs::create_dir(&folder).expect("the test's folder is writable");
        javac::compile(jdk, &[&test_file("java/agent/Teller.java")], &folder, &[]);
        Self {
            _scratch: scratch,
            folder,
            jdk: jdk.clone(),
        }
    }

    /// Runs `classhook` in the folder. `JAVA` is the JDK's program, and `jvm` in a script runs the test program.
    fn classhook(&self, words: &[&str]) -> Run {
        let java = Java::program(classhook())
            .folder(&self.folder)
            .variable("CLASSHOOK_AGENT", agent_library());
        java.variable("JAVA", self.jdk.tool("java"))
            .arguments(words)
            .run()
    }

    /// Runs `classhook coverage` around a shell script.
    fn coverage(&self, words: &[&str], script: &str) -> Run {
        let script = format!("jvm() {{ \"$JAVA\" -cp classes bank.Teller \"$@\"; }}\n{script}");
        self.classhook(&[&["coverage"], words, &["--", "sh", "-c", &script]].concat())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns missed and covered branches of a method in a report.
    fn branches(&self, xml: &str, method: &str) -> (u32, u32) {
        let text = std::fs::read_to_string(self.path(xml)).expect("the report was written");
        let method = text
            .split(&format!("<method name=\"{method}\""))
            .nth(1)
            .expect("the method is in the report");
        let counter = method
            .split("</method>")
            .next()
            .and_then(|method| method.split("type=\"BRANCH\" ").nth(1));
        let counter = counter.expect("the method has branches");
        let number = |name: &str| {
            let rest = counter.split(&format!("{name}=\"")).nth(1)?;
            rest.split('"').next()?.parse().ok()
        };
        (
            number("missed").expect("a number"),
            number("covered").expect("a number"),
        )
    }
}

#[test]
fn coverage_unites_the_jvms_below_a_script() {
    for jdk in jdks::main_two() {
        let bank = Bank::new(&jdk);
        let run = bank.coverage(&["--xml", "one.xml"], "jvm 1 return");
        run.assert_success();
        assert_eq!(
            bank.branches("one.xml", "payIn"),
            (1, 1),
            "{}",
            run.report()
        );
        let run = bank.coverage(
            &["--xml", "two.xml", "--classes", "classes"],
            "jvm 1 return && jvm -1 return",
        );
        run.assert_success();
        assert_eq!(
            bank.branches("two.xml", "payIn"),
            (0, 2),
            "{}",
            run.report()
        );
        assert!(
            run.stdout.contains("bank.Vault"),
            "the class that was never loaded\n{}",
            run.report()
        );
    }
}

#[test]
fn selection_that_matches_nothing_is_an_error_with_the_nearest_name() {
    let bank = Bank::new(&jdks::newest());
    for (select, nearest) in [
        ("bank.Telller", "nearest  bank.Teller"),
        ("bank", "nearest  bank.** (1 class)"),
        ("loader:foo", "nearest  loaders: app"),
        ("com.nosuch.**", "1 class can be selected"),
    ] {
        let run = bank.coverage(&["--select", select, "--xml", "none.xml"], "jvm 1 return");
        run.assert_exit(2);
        run.assert_stderr("error[H0671]: the selection matches no class");
        run.assert_stderr(nearest);
        assert!(!bank.path("none.xml").exists(), "{}", run.report());
    }
    let run = bank.coverage(
        &["--select", "com.nosuch.**", "--classes", "classes"],
        "jvm 1 return",
    );
    run.assert_exit(2)
        .assert_stderr("2 classes can be selected");
}

#[test]
fn java_gets_the_agent_and_its_exit_code_is_passed_on() {
    for jdk in jdks::main_two() {
        let bank = Bank::new(&jdk);
        let java = jdk.tool("java");
        let java = java.to_str().expect("a path in UTF-8");
        let run = bank.classhook(&[
            "coverage",
            "--xml",
            "c.xml",
            "--",
            java,
            "-cp",
            "classes",
            "bank.Teller",
            "1",
            "exit",
        ]);
        run.assert_exit(5);
        assert!(
            !run.stderr.contains("JAVA_TOOL_OPTIONS"),
            "{}",
            run.report()
        );
        assert_eq!(bank.branches("c.xml", "payIn"), (1, 1), "{}", run.report());
    }
}

#[test]
fn killed_jvm_is_reported_up_to_its_end() {
    let bank = Bank::new(&jdks::newest());
    let run = bank.coverage(
        &["--xml", "c.xml"],
        "exec \"$JAVA\" -cp classes bank.Teller 1 kill",
    );
    run.assert_exit(137).assert_stderr("warning[H0615]");
}

#[test]
fn jdk_tool_gets_the_agent_behind_j() {
    let bank = Bank::new(&jdks::newest());
    let javac = bank.jdk.tool("javac");
    let javac = javac.to_str().expect("a path in UTF-8");
    let run = bank.classhook(&["coverage", "--csv", "c.csv", "--", javac, "-version"]);
    run.assert_success();
    let csv = std::fs::read_to_string(bank.path("c.csv")).expect("the report was written");
    assert!(
        csv.contains(",com.sun.tools.javac.main,Main,"),
        "{}",
        run.report()
    );
}

#[test]
fn report_made_later_equals_jacocos_of_the_same_data() {
    let bank = Bank::new(&jdks::newest());
    let java = bank.jdk.tool("java");
    let java = java.to_str().expect("a path in UTF-8");
    let run = [
        "run",
        "--output",
        "out",
        "--",
        java,
        "-cp",
        "classes",
        "bank.Teller",
        "-1",
        "return",
    ];
    bank.classhook(&run).assert_success();
    let words = [
        "report",
        "out",
        "--classes",
        "classes",
        "--xml",
        "ours.xml",
        "--exec",
        "data.exec",
        "--html",
        "html",
    ];
    bank.classhook(&words).assert_success();
    let theirs = jacoco::report(
        &bank.path("data.exec"),
        &bank.path("classes"),
        &bank.path("theirs.xml"),
    );
    assert_eq!(XmlReport::read(&bank.path("ours.xml")), theirs);
    assert!(Path::new(&bank.path("html/index.html")).is_file());
}
