//! Counters of source constructs: small programs whose comments state the lines of a report with `--counters source`.

use e2e_tests::cases::Lines;
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::workspace::{self, test_file};
use e2e_tests::{artifacts, javac, programs, scratch};
use jacoco_files::XmlReport;
use std::path::{Path, PathBuf};

/// A program that ran: the reported classes, and others.
struct Program<'a> {
    jdk: &'a Jdk,
    source: PathBuf,
    package: &'a str,
    main: &'a str,
    classes: &'a Path,
    others: Vec<PathBuf>,
}

impl Program<'_> {
    /// Runs the program in a folder, and compares the report with the comments of the source.
    #[track_caller]
    fn check(&self, folder: &Path, at_least: usize) {
        let [snapshots, xml] = ["snapshots", "source.xml"].map(|name| folder.join(name));
        let mut class_path = vec![self.classes.to_path_buf()];
        class_path.extend(self.others.iter().cloned());
        let class_path: Vec<&PathBuf> = class_path.iter().collect();
        let options = format!("output={},select=counted.**", snapshots.display());
        let java = Java::new(self.jdk).agent(Some(&options));
        let run = java
            .option("-Xverify:all")
            .class_path(&class_path)
            .main(self.main)
            .run();
        run.assert_success();
        let report = Java::program(workspace::classhook())
            .arguments(&["report", "--counters", "source"])
            .argument(&snapshots)
            .argument("--classes")
            .argument(self.classes)
            .argument("--xml")
            .argument(&xml);
        let run = report.run();
        run.assert_success();
        assert!(
            run.stdout.contains("counted: the code of the source"),
            "{}",
            run.report()
        );
        let text = std::fs::read_to_string(&self.source).expect("a source");
        let lines = Lines::read(&text);
        assert!(lines.count() >= at_least, "{} comments", lines.count());
        let report = XmlReport::read(&xml);
        let differences = lines.differences(self.package, &self.source, &report);
        assert_eq!(differences, Vec::<String>::new(), "{:?}", self.jdk);
    }
}

fn record_patterns(jdk: &Jdk, classes: &Path, folder: &Path) {
    let program = Program {
        jdk,
        source: test_file("counted/java/RecordPatterns.java"),
        package: "counted",
        main: "counted.RecordPatterns",
        classes,
        others: Vec::new(),
    };
    program.check(folder, 38);
}

#[test]
fn record_patterns_match_or_do_not_and_cases_are_those_of_the_source() {
    for jdk in jdks::full().iter().filter(|jdk| jdk.feature >= 21) {
        let folder = scratch();
        let source = test_file("counted/java/RecordPatterns.java");
        let classes = javac::compile(jdk, &[&source], folder.path(), &["-g"]);
        record_patterns(jdk, &classes, folder.path());
    }
}

/// javac of JDK 21 emits other code for them: `javac -g -d tests/counted/java21
/// tests/counted/java/RecordPatterns.java`.
#[test]
fn record_patterns_of_jdk_21_are_counted_as_on_newer_ones() {
    let folder = scratch();
    record_patterns(&jdks::newest(), &test_file("counted/java21"), folder.path());
}

/// Eclipse's compiler has the return of a `switch` expression on the line of the `switch`, javac on that of the last
/// case. It reads the components again for each case on the same record.
#[test]
fn record_patterns_of_eclipse_match_or_do_not_as_those_of_javac() {
    let (folder, jdk) = (scratch(), jdks::newest());
    let text = std::fs::read_to_string(test_file("counted/java/RecordPatterns.java"));
    let source = folder.path().join("RecordPatterns.java");
    let [read, other] = ["Square two) -> 2; // ", "// partly"];
    let text = text.expect("a source").replace(other, "// missed");
    let text = text.replace(&format!("{read}missed"), &format!("{read}partly"));
    std::fs::write(&source, text).expect("a writable folder");
    let classes = folder.path().join("classes");
    let main = "org.eclipse.jdt.internal.compiler.batch.Main";
    let compiler = [artifacts::path("ecj")];
    compile(
        &jdk,
        &compiler,
        main,
        &["--release", "21", "-g"],
        &classes,
        &source,
    );
    let program = Program {
        jdk: &jdk,
        source,
        package: "counted",
        main: "counted.RecordPatterns",
        classes: &classes,
        others: Vec::new(),
    };
    program.check(folder.path(), 38);
}

#[test]
fn inline_functions_that_tests_call_and_last_lines_of_suspend_functions_are_covered() {
    let (folder, jdk) = (scratch(), jdks::newest());
    let [classes, tests] = ["main", "test"].map(|part| folder.path().join(part));
    let sources = |part: &str| {
        let place = test_file("counted/kotlin").join(part);
        javac::files_with_extension(&place, "kt")
    };
    programs::kotlinc(&jdk, &sources("main"), &[], &[], &classes);
    // The tests are compiled together with the program's sources. In the class path the program's classes come first.
    let all = [sources("main"), sources("test")].concat();
    programs::kotlinc(&jdk, &all, &[], &[], &tests);
    let program = Program {
        jdk: &jdk,
        source: test_file("counted/kotlin/main/Inlined.kt"),
        package: "counted",
        main: "counted.tests.InlinedTestKt",
        classes: &classes,
        others: vec![tests, artifacts::path("kotlin-stdlib")],
    };
    program.check(folder.path(), 28);
}

/// The JDK that runs compilers of languages other than Java.
fn jdk_of_compilers() -> Jdk {
    jdks::main_two()
        .into_iter()
        .next()
        .unwrap_or_else(jdks::newest)
}

fn compile(
    jdk: &Jdk,
    artifacts: &[PathBuf],
    main: &str,
    words: &[&str],
    classes: &Path,
    source: &Path,
) {
    std::fs::create_dir_all(classes).expect("a writable folder");
    let compiler = Java::new(jdk)
        .class_path(artifacts)
        .main(main)
        .arguments(words);
    let run = compiler
        .argument("-d")
        .argument(classes)
        .argument(source)
        .run();
    run.assert_success();
}

#[test]
fn members_that_the_compiler_of_scala_generates_are_left_out() {
    let (folder, jdk) = (scratch(), jdk_of_compilers());
    let compiler = artifacts::paths(&["scala-compiler", "scala-library", "scala-reflect"]);
    let library = artifacts::path("scala-library");
    let (classes, source) = (
        folder.path().join("classes"),
        test_file("counted/scala/Members.scala"),
    );
    let words = ["-cp", library.to_str().expect("text")];
    compile(
        &jdk,
        &compiler,
        "scala.tools.nsc.Main",
        &words,
        &classes,
        &source,
    );
    let program = Program {
        jdk: &jdk,
        source,
        package: "counted",
        main: "counted.Main",
        classes: &classes,
        others: vec![library],
    };
    program.check(folder.path(), 50);
}

#[test]
fn members_that_the_compiler_of_scala_3_generates_are_left_out() {
    let (folder, jdk) = (scratch(), jdk_of_compilers());
    let libraries = artifacts::paths(&["scala3-library", "scala-library"]);
    let compiler = [
        "scala3-compiler",
        "scala3-interfaces",
        "scala3-tasty",
        "scala-asm",
    ];
    let compiler = [artifacts::paths(&compiler), libraries.clone()].concat();
    let (classes, source) = (
        folder.path().join("classes"),
        test_file("counted/scala3/Members.scala"),
    );
    let joined = std::env::join_paths(&libraries).expect("paths without colons");
    let words = ["-classpath", joined.to_str().expect("text")];
    let main = "dotty.tools.dotc.Main";
    compile(&jdk, &compiler, main, &words, &classes, &source);
    let program = Program {
        jdk: &jdk,
        source,
        package: "counted",
        main: "counted.Main",
        classes: &classes,
        others: libraries,
    };
    program.check(folder.path(), 60);
}

#[test]
fn members_that_aspectj_generates_are_left_out_and_advice_counts() {
    let (folder, jdk) = (scratch(), jdk_of_compilers());
    let tools = artifacts::path("aspectjtools");
    let (classes, source) = (
        folder.path().join("classes"),
        test_file("counted/aspectj/Bank.aj"),
    );
    let words = ["-11", "-g", "-cp", tools.to_str().expect("text")];
    let compiler = [tools.clone()];
    compile(
        &jdk,
        &compiler,
        "org.aspectj.tools.ajc.Main",
        &words,
        &classes,
        &source,
    );
    let program = Program {
        jdk: &jdk,
        source,
        package: "counted/aspects",
        main: "counted.aspects.Bank",
        classes: &classes,
        others: vec![tools],
    };
    program.check(folder.path(), 18);
}
