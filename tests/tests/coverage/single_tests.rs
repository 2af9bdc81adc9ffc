//! Coverage of single tests, marked by JUnit's platform or by a command, and queried by line and by change.

use crate::support::agent::snapshot;
use crate::support::command::{classhook, json};
use e2e_tests::java::{Java, Run};
use e2e_tests::servant::{self, Servant};
use e2e_tests::workspace::{self, test_file};
use e2e_tests::{artifacts, javac, jdks, maven_plugin, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A framework that runs tests: the folders with the program and its tests, its libraries, and its command.
struct Framework {
    sources: &'static [&'static str],
    libraries: &'static [&'static str],
    main: &'static str,
    arguments: &'static [&'static str],
}

const JUNIT: Framework = Framework {
    sources: &["java/junit"],
    libraries: &["junit"],
    main: "org.junit.platform.console.ConsoleLauncher",
    arguments: &["execute", "--disable-banner", "--scan-class-path"],
};

const TESTNG: Framework = Framework {
    sources: &["java/junit/main", "java/testng"],
    libraries: &["testng", "jcommander", "slf4j-api"],
    main: "org.testng.TestNG",
    arguments: &[
        "-usedefaultlisteners",
        "false",
        "-parallel",
        "none",
        "-testclass",
    ],
};

/// Runs a program's tests once with the listener. The snapshot is in the folder `out`.
fn tested(folder: &Path, framework: &Framework, tests: Option<&str>) {
    let jdk = jdks::newest();
    let listener = folder.join("classhook-tests.jar");
    let jar = maven_plugin::listener_jar(&jdk, &folder.join("listener"));
    std::fs::write(&listener, jar).expect("a writable folder");
    let sources = framework.sources.iter();
    let sources: Vec<PathBuf> = sources
        .flat_map(|folder| javac::sources_in(&test_file(folder)))
        .collect();
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    let mut class_path = artifacts::paths(framework.libraries);
    let joined = std::env::join_paths(&class_path).expect("paths without colons");
    let options = ["-cp", joined.to_str().expect("text")];
    let classes = javac::compile(&jdk, &sources, folder, &options);
    class_path.extend([listener, classes.clone()]);
    let class_path: Vec<&PathBuf> = class_path.iter().collect();
    let options = format!(
        "output={},select=com.acme.**;!com.acme.*Test",
        folder.join("out").display()
    );
    let run = Java::new(&jdk)
        .agent(Some(&options))
        .class_path(&class_path)
        .main(framework.main)
        .arguments(framework.arguments)
        .argument(tests.map_or(classes, PathBuf::from))
        .folder(folder)
        .run();
    run.assert_success();
    let warnings = run.stderr.matches("warning[").count();
    assert_eq!(warnings, 0, "{}", run.report());
}

/// Runs JUnit's tests with the listener. Returns the folder with the program's sources.
pub(super) fn junit(folder: &Path) -> PathBuf {
    tested(folder, &JUNIT, None);
    test_file("java/junit/main")
}

fn git(repository: &Path, words: &[&str]) {
    let author = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    let mut git = Command::new("git");
    git.args(author).args(words).current_dir(repository);
    let output = git.output().expect("git is installed");
    assert!(output.status.success(), "{words:?}: {output:?}");
}

/// Runs the command in the repository, whose parent has the snapshot.
fn asked(repository: &Path, words: &[&str]) -> Run {
    Java::program(workspace::classhook())
        .arguments(words)
        .argument("../out")
        .folder(repository)
        .run()
}

#[track_caller]
fn tests_for(repository: &Path, place: &str, expected: &[&str]) -> Run {
    let run = asked(repository, &["tests-for", place]);
    run.assert_success();
    assert_eq!(
        run.stdout.lines().collect::<Vec<_>>(),
        expected,
        "{}",
        run.report()
    );
    run
}

const SUM: &str = "main/com/acme/Sum.java";

/// Replaces a text in a file, and queries the affected tests.
fn affected(repository: &Path, (file, from, to): (&str, &str, &str), code: i32) -> Run {
    git(repository, &["checkout", "--quiet", "."]);
    let path = repository.join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text.contains(from), "{from}");
    std::fs::write(&path, text.replacen(from, to, 1)).expect("a writable folder");
    let run = asked(repository, &["affected", "--diff", "HEAD"]);
    run.assert_exit(code);
    run
}

#[test]
fn each_test_of_junit_is_found_by_line_and_by_change() {
    let folder = scratch();
    tested(folder.path(), &JUNIT, None);
    let repository = folder.path().join("repository");
    for part in ["main", "test"] {
        let from = test_file("java/junit").join(part).join("com/acme");
        let to = repository.join(part).join("com/acme");
        std::fs::create_dir_all(&to).expect("a writable folder");
        for file in javac::sources_in(&from) {
            let name = file.file_name().expect("a file");
            std::fs::copy(&file, to.join(name)).expect("a writable folder");
        }
    }
    git(&repository, &["init", "--quiet"]);
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "--quiet", "--message", "all"]);
    let at = |line: u32| format!("{SUM}:{line}");

    let [adds, again, divides, zero] = [
        "com.acme.SumTest#adds",
        "com.acme.SumTest#addsAgain",
        "com.acme.SumTest#divides",
        "com.acme.ZeroTest#zero",
    ];
    tests_for(&repository, &at(7), &[adds, again]);
    tests_for(&repository, &at(14), &[divides]);
    tests_for(&repository, "Sum.java:12", &[zero]);
    tests_for(&repository, "com/acme/Shared.java:7", &["com.acme.SumTest"]);
    tests_for(&repository, &at(18), &[]).assert_stderr("no test executed the line");
    asked(&repository, &["tests-for", "Sum.java:16"])
        .assert_exit(2)
        .assert_stderr("error[H0691]")
        .assert_stderr("nearest  line");

    let all = [adds, again, divides, zero];
    let changes: [(&str, &str, &str, &[&str]); 7] = [
        (SUM, "a + b", "b + a", &[adds, again]),
        (
            SUM,
            "        return a / b",
            "        a++;\n        return a / b",
            &[divides, zero],
        ),
        (
            SUM,
            "    static int unused",
            "    static int one;\n\n    static int unused",
            &all,
        ),
        (SUM, "new Shared()", "new Shared() {}", &all),
        (SUM, "return 1;", "return 2;", &[]),
        (
            SUM,
            "        return 1;",
            "        // one\n        return 1;",
            &[],
        ),
        (
            "test/com/acme/ZeroTest.java",
            "divide(7, 0)",
            "divide(8, 0)",
            &[zero],
        ),
    ];
    for (file, from, to, expected) in changes {
        let run = affected(&repository, (file, from, to), 0);
        let found: Vec<&str> = run.stdout.lines().collect();
        let methods: Vec<&str> = found
            .iter()
            .copied()
            .filter(|test| test.contains('#'))
            .collect();
        let expected_classes = match file.starts_with("test") {
            true => vec!["com.acme.ZeroTest"],
            false => expected.to_vec(),
        };
        match found == expected_classes {
            true => {}
            false => assert_eq!(methods, expected, "{to}: {}", run.report()),
        }
    }
    std::fs::write(repository.join("data.json"), "{}").expect("a writable folder");
    git(&repository, &["add", "data.json"]);
    std::fs::write(repository.join("main/com/acme/New.java"), "class New {}").expect("writable");
    let run = affected(&repository, (SUM, "a + b", "b + a"), 3);
    assert_eq!(run.stdout.lines().collect::<Vec<_>>(), [adds, again]);
    for part in ["H0692", "data.json", "New.java"] {
        run.assert_stderr(part);
    }
}

/// Returns LCOV's records about the lines of `Sum.java` in the section of a test.
fn lines_of(tracefile: &str, test: &str) -> Vec<String> {
    let begin = format!("TN:{test}\nSF:");
    let mut sections = tracefile.split_inclusive("end_of_record\n");
    let is_it = |section: &&str| section.starts_with(&begin) && section.contains("Sum.java\n");
    let section = sections.find(is_it).unwrap_or_default();
    let lines = section.lines().filter(|line| line.starts_with("DA:"));
    lines.map(|line| line[3..].to_owned()).collect()
}

#[test]
fn reports_name_the_tests_of_each_line() {
    let folder = scratch();
    let sources = junit(folder.path());
    let run = Java::program(workspace::classhook())
        .arguments(&[
            "report",
            "out",
            "--per-test",
            "--html",
            "html",
            "--lcov",
            "lcov.info",
            "--sources",
        ])
        .argument(&sources)
        .folder(folder.path())
        .run();
    run.assert_success();
    let read = |file: &str| std::fs::read_to_string(folder.path().join(file)).expect(file);
    let tracefile = read("lcov.info");
    let sum = |test| lines_of(&tracefile, test);
    let adds = sum("com_acme_SumTest__adds");
    assert!(
        adds.contains(&"7,1".to_owned()) && adds.contains(&"14,0".to_owned()),
        "{tracefile}"
    );
    let zero = sum("com_acme_ZeroTest__zero");
    assert!(
        zero.contains(&"12,1".to_owned()) && zero.contains(&"7,0".to_owned()),
        "{tracefile}"
    );
    assert!(sum("").contains(&"18,0".to_owned()), "{tracefile}");
    assert!(
        tracefile.contains("TN:com_acme_SumTest\n"),
        "what its tests share: {tracefile}"
    );
    let page = read("html/pkg/com.acme/src-Sum.java.html");
    let named = "2 tests</summary><ul><li>com.acme.SumTest#adds<li>com.acme.SumTest#addsAgain</ul></details><code>";
    let line = page
        .lines()
        .find(|line| line.contains("id=L7 "))
        .unwrap_or_default();
    assert!(line.contains(named) || page.contains(named), "{page}");
}

#[test]
fn each_test_of_testng_includes_its_set_up_and_tear_down() {
    let folder = scratch();
    tested(folder.path(), &TESTNG, Some("com.acme.SumNgTest"));
    let names = |class: &str| format!("com.acme.SumNgTest{class}");
    let [adds, divides, zero, class] = ["#adds", "#divides", "#zero", ""].map(names);
    for (place, expected) in [
        ("Sum.java:7", vec![adds.as_str()]),
        ("Sum.java:14", vec![&divides]),
        ("Sum.java:12", vec![&zero]),
        ("Sum.java:18", vec![]),
        ("Shared.java:7", vec![&class]),
        ("Shared.java:11", vec![&adds, &zero]),
    ] {
        tests_for(&folder.path().join("listener"), place, &expected);
    }
}

#[test]
fn tests_marked_by_commands_have_the_code_executed_meanwhile() {
    let folder = scratch();
    let options = format!("output={},select=Servant$Steps", folder.path().display());
    let mut servant = Servant::of(&servant::java(&jdks::newest(), &[]).agent(Some(&options)));
    let pid = servant.pid().to_string();
    let tell = |words: &[&str]| json(&[&["test", &pid][..], words].concat())["under_way"].clone();
    servant.ask("steps a");
    assert_eq!(tell(&["one"]), serde_json::json!(["one"]));
    servant.ask("steps ab");
    assert_eq!(tell(&["two"]), serde_json::json!(["one", "two"]));
    servant.ask("steps c");
    assert_eq!(tell(&["one", "--end"]), serde_json::json!(["two"]));
    servant.ask("steps d");
    classhook(&["test", &pid, "one", "--end"])
        .assert_exit(2)
        .assert_stderr("error[H0709]");
    assert_eq!(servant.end().code, Some(0));
    let snapshot = snapshot(folder.path());
    let tests = snapshot.tests.iter().map(|hits| hits.tests.join("+"));
    assert_eq!(tests.collect::<Vec<_>>(), ["", "one", "one+two", "two"]);
    let count = |test: usize| -> usize {
        let classes = snapshot.tests[test].classes.iter();
        classes.map(|(_, probes)| probes.len()).sum()
    };
    assert!(count(1) > count(0) && count(2) > 0 && count(3) > 0);
    let total = snapshot.classes.iter().flat_map(|class| &class.probes);
    assert!(total.filter(|hit| **hit).count() >= count(1) + count(2));
}
