//! Patches without the full effect in a loaded class: they are adapted, or refused, or reported if forced.

use crate::support::command::LATE;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::Servant;
use e2e_tests::{javac, scratch, workspace};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// `Lazy`, and one class that it loads on request.
struct Program {
    folder: TempDir,
    servant: Servant,
    class: &'static str,
    options: Vec<&'static str>,
    jdk: Jdk,
}

impl Program {
    fn start(jdk: &Jdk, class: &'static str, options: &[&'static str]) -> Self {
        let folder = scratch();
        let lazy = workspace::test_file("java/patch/Lazy.java");
        let sources = [lazy, source(class)];
        let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
        let classes = javac::compile(&compiler(jdk, options), &sources, folder.path(), options);
        let java = Java::new(jdk)
            .option("-XX:+IgnoreUnrecognizedVMOptions")
            .options(&LATE)
            .class_path(&[classes])
            .folder(folder.path());
        Self {
            servant: Servant::of(&java.main("Lazy")),
            folder,
            class,
            options: options.to_vec(),
            jdk: jdk.clone(),
        }
    }

    fn ask(&mut self) -> String {
        self.servant.ask(self.class)
    }

    /// Returns the source with some texts replaced.
    fn changed(&self, changes: &[(&str, &str)]) -> PathBuf {
        let mut text = std::fs::read_to_string(source(self.class)).expect("readable");
        for (from, to) in changes {
            assert!(text.contains(from), "{from} in {text}");
            text = text.replace(from, to);
        }
        let folder = tempfile::tempdir_in(self.folder.path())
            .expect("a folder")
            .keep();
        let file = folder.join(self.class).with_extension("java");
        std::fs::write(&file, text).expect("written");
        file
    }

    /// Compiles a changed source.
    fn compiled(&self, changes: &[(&str, &str)]) -> PathBuf {
        let file = self.changed(changes);
        let folder = file.parent().expect("a folder").to_path_buf();
        let compiler = compiler(&self.jdk, &self.options);
        javac::compile(&compiler, &[&file], &folder, &self.options)
    }

    fn patch(&self, words: &[&str]) -> Run {
        Java::program(workspace::classhook())
            .folder(self.folder.path())
            .variable("JAVA_HOME", &jdks::newest().home)
            .argument("patch")
            .argument(self.servant.pid().to_string())
            .arguments(words)
            .run()
    }

    fn patch_classes(&self, changes: &[(&str, &str)], more: &[&str]) -> Run {
        let classes = self.compiled(changes);
        let classes = classes.to_string_lossy();
        self.patch(&[&[&*classes], more].concat())
    }

    fn roll_back(&self) -> Run {
        Java::program(workspace::classhook())
            .folder(self.folder.path())
            .argument("rollback")
            .argument(self.servant.pid().to_string())
            .run()
    }

    #[track_caller]
    fn assert_answers(&mut self, expected: &str) {
        assert_eq!(self.ask(), expected, "{}", self.jdk);
    }

    #[track_caller]
    fn end(self) {
        let left = self.servant.end();
        assert_eq!(left.code, Some(0), "{}", left.stderr);
    }
}

/// Returns the newest compiler for programs that run on every JVM, otherwise the JVM's own.
fn compiler(jdk: &Jdk, options: &[&str]) -> Jdk {
    match options == EIGHT {
        true => jdks::newest(),
        false => jdk.clone(),
    }
}

fn source(class: &str) -> PathBuf {
    workspace::test_file(&format!("java/patch/effects/{class}.java"))
}

/// Compiler options for every JVM.
const EIGHT: [&str; 3] = ["--release", "8", "-Xlint:-options"];

const FIRST: &str = r#"held.add(() -> "first");"#;
const THIRD: &str = r#"held.add(() -> "third");"#;

/// A compiler numbers lambdas in their order, so another order exchanges their numbers.
#[test]
fn lambdas_that_the_program_holds_keep_their_code() {
    for jdk in jdks::all() {
        let mut program = Program::start(jdk, "Held", &EIGHT);
        program.assert_answers("first second third");
        let moved = [(FIRST, THIRD), ("\"third\");\n    }", "\"first\");\n    }")];
        let run = program.patch_classes(&moved, &[]);
        run.assert_success();
        assert!(
            run.stdout.contains("as in the loaded class"),
            "{}",
            run.report()
        );
        program.assert_answers("first second third");
        let edited = [("\"second\"", "\"edited\"")];
        program.patch_classes(&edited, &[]).assert_success();
        program.assert_answers("first edited third");
        program.roll_back().assert_success();
        program.assert_answers("first second third");
        program.end();
    }
}

/// A lambda that the new class does not have stays for the objects that the program holds.
#[test]
fn removed_lambda_stays_and_an_added_one_gets_another_name() {
    for jdk in jdks::all() {
        let mut program = Program::start(jdk, "Held", &EIGHT);
        program.assert_answers("first second third");
        let other = r#"held.add(() -> "other"); held.add(() -> "first");"#;
        let emptied = ("if (held == null)", "if (held.size() == 3)");
        let changes = [(FIRST, other), (THIRD, "")];
        let run = program.patch_classes(&changes, &[]);
        run.assert_success();
        assert!(run.stdout.contains("stays"), "{}", run.report());
        program.assert_answers("first second third");
        program
            .patch_classes(&[&changes[..], &[emptied]].concat(), &[])
            .assert_success();
        program.assert_answers("other first second");
        program.end();
    }
}

const RED: &str = "case RED:\n                return \"red\";";
const GREEN: &str = "case GREEN:\n                return \"green\";";
const BLUE_FIRST: &str = "case BLUE:\n                return \"blue\";\n            case RED:\n                return \"red\";";
const WHITE_FIRST: &str = "case WHITE:\n                return \"white\";\n            case RED:\n                return \"red\";";

/// The numbers of the cases are in another class, whose initialiser does not run again.
#[test]
fn switch_over_an_enum_takes_the_branches_of_the_new_source() {
    for jdk in jdks::all() {
        let mut program = Program::start(jdk, "Switched", &EIGHT);
        program.assert_answers("red green other other");
        let run = program.patch_classes(&[(RED, BLUE_FIRST)], &[]);
        run.assert_success();
        assert!(run.stdout.contains("keeps its numbers"), "{}", run.report());
        program.assert_answers("red green blue other");
        // Frames of former code, and frames after a rollback, read the same numbers.
        program.roll_back().assert_success();
        program.assert_answers("red green other other");
        program
            .patch_classes(&[(RED, WHITE_FIRST)], &[])
            .assert_success();
        program.assert_answers("red green other white");
        let swapped = [
            (RED, "case NONE:"),
            (GREEN, RED),
            ("case NONE:", GREEN),
            ("\"red\"", "\"RED\""),
        ];
        program.patch_classes(&swapped, &[]).assert_success();
        program.assert_answers("RED green other other");
        program.end();
    }
}

#[test]
fn switch_whose_numbers_are_not_in_the_patch_is_refused() {
    let jdk = jdks::newest();
    let mut program = Program::start(&jdk, "Switched", &EIGHT);
    program.assert_answers("red green other other");
    let classes = program.compiled(&[(RED, BLUE_FIRST)]);
    let class = classes.join("Switched.class");
    program
        .patch(&[&class.to_string_lossy()])
        .assert_exit(2)
        .assert_stderr("patch Switched$1, too");
    program.assert_answers("red green other other");
    program.end();
}

/// A switch whose class was not initialised gets its numbers from the new class.
#[test]
fn switch_that_has_not_run_yet_gets_the_new_numbers() {
    for jdk in jdks::main_two() {
        let mut program = Program::start(&jdk, "Switched", &EIGHT);
        program
            .patch_classes(&[(RED, BLUE_FIRST)], &[])
            .assert_success();
        program.assert_answers("red green blue other");
        program.end();
    }
}

#[test]
fn values_that_are_set_once_are_refused_unless_that_is_forced() {
    for jdk in jdks::all() {
        let mut program = Program::start(jdk, "Constant", &EIGHT);
        program.assert_answers("limit 10 start 1");
        program
            .patch_classes(&[("LIMIT = 10", "LIMIT = 20")], &[])
            .assert_exit(2)
            .assert_stderr("the constant LIMIT changed")
            .assert_stderr("--force");
        program
            .patch_classes(&[("start = 1", "start = 2")], &[])
            .assert_exit(2)
            .assert_stderr("static initialiser");
        program.assert_answers("limit 10 start 1");
        let forced = [("start = 1", "start = 2"), ("limit", "forced")];
        program
            .patch_classes(&forced, &["--force"])
            .assert_success()
            .assert_stderr("warning[H0731]")
            .assert_stderr("static initialiser");
        program.assert_answers("forced 10 start 1");
        program.end();
    }
}

#[test]
fn frame_that_never_returns_is_refused_and_others_are_reported() {
    for jdk in jdks::main_two() {
        let mut program = Program::start(&jdk, "Endless", &EIGHT);
        program.assert_answers("original");
        let forever = ("while (true) {", "while (true) { pause();");
        program
            .patch_classes(&[forever], &[])
            .assert_exit(2)
            .assert_stderr("forever()V never returns in thread worker");
        program
            .patch_classes(&[forever, ("original", "forced")], &["--force"])
            .assert_success()
            .assert_stderr("warning[H0731]");
        program.assert_answers("forced");
        program.roll_back().assert_success();
        let run = program.patch_classes(&[("while (!ends) {", "while (!ends) { pause();")], &[]);
        run.assert_success();
        let told =
            "whileItRuns()V runs in thread worker, which executes the former code until it returns";
        assert!(run.stdout.contains(told), "{}", run.report());
        // An unchanged method may have open frames.
        let word = program.patch_classes(&[("original", "patched")], &[]);
        word.assert_success();
        program.assert_answers("patched");
        program.end();
    }
}

/// JVM TI does not list virtual threads, most of which are on no carrier.
#[test]
fn frames_of_virtual_threads_are_refused_and_reported_as_those_of_platform_threads() {
    let jdk = jdks::newest();
    let mut program = Program::start(&jdk, "Virtual", &[]);
    program.assert_answers("original");
    let forever = ("while (true) {", "while (true) { pause();");
    program
        .patch_classes(&[forever], &["--check"])
        .assert_exit(2)
        .assert_stderr("forever()V never returns in virtual thread #");
    program
        .patch_classes(&[forever, ("original", "forced")], &["--force"])
        .assert_success()
        .assert_stderr("warning[H0731]")
        .assert_stderr("\"endless\"");
    program.assert_answers("forced");
    program.roll_back().assert_success();
    let run = program.patch_classes(&[("while (!ends) {", "while (!ends) { pause();")], &[]);
    run.assert_success();
    for told in [
        "whileItRuns()V runs in virtual thread #",
        " \"worker\", virtual thread #",
        ", 2 more virtual threads, which executes the former code until it returns",
    ] {
        assert!(run.stdout.contains(told), "{told}: {}", run.report());
    }
    program.roll_back().assert_success();
    // An unchanged method may have open frames.
    let word = program.patch_classes(&[("original", "patched")], &[]);
    word.assert_success();
    assert!(!word.stdout.contains("virtual thread"), "{}", word.report());
    program.assert_answers("patched");
    program.end();
}

#[test]
fn anonymous_classes_that_change_places_are_refused() {
    for jdk in jdks::main_two() {
        let mut program = Program::start(&jdk, "Anonymous", &EIGHT);
        program.assert_answers("one two");
        let swapped = [
            ("one()", "none()"),
            ("two()", "one()"),
            ("none()", "two()"),
            ("\"one\"", "\"none\""),
            ("\"two\"", "\"one\""),
            ("\"none\"", "\"two\""),
            ("held = two()", "held = one()"),
            ("held + \" \" + one()", "held + \" \" + two()"),
        ];
        let run = program.patch_classes(&swapped, &[]);
        run.assert_exit(2);
        // Each of the two classes has the cause once.
        let causes = run.stderr.matches("were renumbered").count();
        assert_eq!(causes, 2, "{}", run.report());
        program.assert_answers("one two");
        program.end();
    }
}

/// Before Java 11, a nested class reaches private members through numbered methods of the enclosing class.
#[test]
fn accessors_that_are_numbered_anew_keep_their_numbers() {
    for jdk in jdks::main_two() {
        let mut program = Program::start(&jdk, "Accessed", &EIGHT);
        program.assert_answers("one two");
        let run = program.patch_classes(&[("one + \" \" + two", "two + \" \" + one")], &[]);
        run.assert_success();
        program.assert_answers("two one");
        program.end();
    }
}

/// Frameworks read the names of parameters by reflection.
#[test]
fn source_is_compiled_with_the_options_of_the_loaded_class() {
    for jdk in jdks::main_two() {
        for (options, name) in [
            (
                &["--release", "17", "-parameters", "-g:lines"][..],
                "firstName",
            ),
            (&["--release", "17"], "arg0"),
        ] {
            let mut program = Program::start(&jdk, "Named", options);
            program.assert_answers(&format!("original {name} 1"));
            let source = program.changed(&[("original", "patched")]);
            let run = program.patch(&["--source", &source.to_string_lossy()]);
            run.assert_success();
            let same = "Named$Pair (app): runs this code already";
            assert!(run.stdout.contains(same), "{}", run.report());
            program.assert_answers(&format!("patched {name} 1"));
            program.end();
        }
    }
}

#[test]
fn source_without_a_change_replaces_nothing() {
    for jdk in jdks::main_two() {
        let mut program = Program::start(&jdk, "Named", &["--release", "17"]);
        program.assert_answers("original arg0 1");
        let source = program.changed(&[]);
        let run = program.patch(&["--source", &source.to_string_lossy()]);
        run.assert_success();
        assert!(run.stdout.contains("nothing to do"), "{}", run.report());
        program.end();
    }
}
