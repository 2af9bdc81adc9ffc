//! Patches of classes that are not loaded yet: waiting, applied and refused ones.

use crate::support::command::LATE;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::Servant;
use e2e_tests::{javac, scratch, workspace};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// `Lazy`, which loads a class on request.
struct Lazy {
    folder: TempDir,
    servant: Servant,
    classes: PathBuf,
}

impl Lazy {
    fn start(jdk: &Jdk) -> Self {
        let folder = scratch();
        let file = |name: &str| workspace::test_file(&format!("java/patch/{name}.java"));
        let (lazy, later) = (file("Lazy"), file("Later"));
        let options = ["--release", "8", "-Xlint:-options"];
        let newest = jdks::newest();
        let classes = javac::compile(&newest, &[&lazy, &later], folder.path(), &options);
        let java = Java::new(jdk)
            .option("-XX:+IgnoreUnrecognizedVMOptions")
            .options(&LATE)
            .class_path(&[&classes]);
        let servant = Servant::of(&java.folder(folder.path()).main("Lazy"));
        Self {
            folder,
            servant,
            classes,
        }
    }

    /// Compiles `Later` with one text replaced.
    fn later(&self, from: &str, to: &str) -> PathBuf {
        let text = std::fs::read_to_string(workspace::test_file("java/patch/Later.java"));
        let text = text.expect("readable").replace(from, to);
        self.compiled("Later", &text)
    }

    fn compiled(&self, class: &str, text: &str) -> PathBuf {
        let folder = tempfile::tempdir_in(self.folder.path())
            .expect("a folder")
            .keep();
        let source = folder.join(class).with_extension("java");
        std::fs::write(&source, text).expect("written");
        let options = ["--release", "8", "-Xlint:-options"];
        let made = javac::compile(&jdks::newest(), &[&source], &folder, &options);
        made.join(class).with_extension("class")
    }

    fn run(&self, command: &str, words: &[&str]) -> Run {
        Java::program(workspace::classhook())
            .folder(self.folder.path())
            .argument(command)
            .argument(self.servant.pid().to_string())
            .arguments(words)
            .run()
    }

    fn patch(&self, class: &Path, more: &[&str]) -> Run {
        let class = class.to_string_lossy();
        self.run("patch", &[&[&*class], more].concat())
    }

    #[track_caller]
    fn assert_listed(&self, line: &str) {
        let list = self.run("patches", &[]);
        list.assert_success();
        assert!(list.stdout.contains(line), "{line}\n{}", list.report());
    }

    /// Ends the program and returns its output; it must have run to its end.
    #[track_caller]
    fn end(self) -> String {
        let left = self.servant.end();
        assert_eq!(left.code, Some(0), "{}", left.stderr);
        left.stderr
    }
}

#[test]
fn patch_of_a_class_that_is_not_loaded_is_waiting_until_it_is() {
    for jdk in jdks::all() {
        let mut lazy = Lazy::start(jdk);
        let patched = lazy.later("original", "patched");
        let check = lazy.patch(&patched, &["--check"]);
        check.assert_success();
        assert!(check.stdout.contains("is not loaded"), "{}", check.report());
        let run = lazy.patch(&patched, &[]);
        run.assert_success();
        assert!(run.stdout.contains("patch 1 waits"), "{}", run.report());
        lazy.assert_listed("Later: waiting");
        assert_eq!(lazy.servant.ask("Later"), "patched", "{jdk}");
        lazy.assert_listed("Later (app): applied");
        let back = lazy.run("rollback", &[]);
        assert!(back.stdout.contains("Later (app): runs its former code"));
        assert_eq!(lazy.servant.ask("Later"), "original", "{jdk}");
        assert_eq!(lazy.end(), "", "{jdk}");
    }
}

#[test]
fn patch_that_is_rolled_back_before_its_class_is_loaded_has_no_effect() {
    for jdk in jdks::main_two() {
        let mut lazy = Lazy::start(&jdk);
        let patched = lazy.later("original", "patched");
        lazy.patch(&patched, &[]).assert_success();
        let back = lazy.run("rollback", &[]);
        back.assert_success();
        let told = "Later: was not loaded; its patch no longer waits";
        assert!(back.stdout.contains(told), "{}", back.report());
        assert_eq!(lazy.servant.ask("Later"), "original", "{jdk}");
        assert_eq!(lazy.end(), "");
    }
}

/// The loader's file has another shape than the patch, which shows before the class is loaded.
#[test]
fn patch_of_another_shape_is_refused_before_the_class_is_loaded() {
    for jdk in jdks::all() {
        let mut lazy = Lazy::start(jdk);
        let other = lazy.later("static String word", "int extra; static String word");
        for more in [&["--check"][..], &[]] {
            lazy.patch(&other, more)
                .assert_exit(2)
                .assert_stderr("error[H0720]")
                .assert_stderr("field extra:I was added");
        }
        assert_eq!(lazy.servant.ask("Later"), "original", "{jdk}");
        assert_eq!(lazy.end(), "", "{jdk}");
    }
}

/// The loaded class has another shape than the patch expected: the program continues with its own class.
#[test]
fn class_of_another_shape_than_its_waiting_patch_is_listed_as_refused() {
    for jdk in jdks::main_two() {
        let mut lazy = Lazy::start(&jdk);
        let patched = lazy.later("original", "patched");
        lazy.patch(&patched, &[]).assert_success();
        let other = lazy.later("static String word", "int extra; static String word");
        std::fs::copy(other, lazy.classes.join("Later.class")).expect("replaced");
        assert_eq!(lazy.servant.ask("Later"), "original", "{jdk}");
        lazy.assert_listed("Later (app): refused: field extra:I was removed");
        let back = lazy.run("rollback", &[]);
        back.assert_success();
        let told = "Later (app): unchanged";
        assert!(back.stdout.contains(told), "{}", back.report());
        assert_eq!(lazy.servant.ask("Later"), "original", "{jdk}");
        let said = lazy.end();
        assert!(said.contains("Later") && said.contains("extra"), "{said}");
    }
}

/// An error of the verifier would end the program that loads the class.
#[test]
fn unsound_code_is_never_loaded_even_if_it_is_forced() {
    for jdk in jdks::main_two() {
        let mut lazy = Lazy::start(&jdk);
        let patched = lazy.later("original", "patched");
        let mut bytes = std::fs::read(&patched).expect("readable");
        // `iload_0 ireturn` becomes `aconst_null ireturn`.
        let code = bytes.windows(2).position(|code| code == [0x1a, 0xac]);
        bytes[code.expect("the code")] = 0x01;
        std::fs::write(&patched, bytes).expect("written");
        for more in [&[][..], &["--force"]] {
            let run = lazy.patch(&patched, more);
            run.assert_exit(2).assert_stderr("unsound");
        }
        assert_eq!(lazy.servant.ask("Later"), "original", "{jdk}");
        assert_eq!(lazy.end(), "");
    }
}

#[test]
fn class_that_no_loader_finds_is_refused_with_the_nearest_name() {
    for jdk in jdks::main_two() {
        let mut lazy = Lazy::start(&jdk);
        let text = "public class Latr { public static String answer() { return \"\"; } }";
        let misspelt = lazy.compiled("Latr", text);
        lazy.patch(&misspelt, &["--check"])
            .assert_exit(2)
            .assert_stderr("error[H0730]")
            .assert_stderr("Latr")
            .assert_stderr("nearest  Later\n");
        lazy.patch(&misspelt, &[]).assert_exit(2);
        let elsewhere = lazy.compiled("Later", "package shop; public class Later { }");
        let elsewhere = elsewhere.with_file_name("shop").join("Later.class");
        lazy.patch(&elsewhere, &[])
            .assert_exit(2)
            .assert_stderr("shop.Later")
            .assert_stderr("nearest  Later\n");
        let forced = lazy.patch(&misspelt, &["--force"]);
        forced.assert_success();
        lazy.assert_listed("Latr: waiting");
        assert_eq!(lazy.servant.ask("Later"), "original", "{jdk}");
        assert_eq!(lazy.end(), "");
    }
}

/// Of an existing class and a missing one, a partial patch replaces the first.
#[test]
fn class_that_no_loader_finds_is_left_out_of_a_partial_patch() {
    let jdk = jdks::newest();
    let mut lazy = Lazy::start(&jdk);
    assert_eq!(lazy.servant.ask("Later"), "original");
    let patched = lazy.later("original", "patched");
    let misspelt = lazy.compiled("Latr", "public class Latr { }");
    let misspelt = misspelt.to_string_lossy();
    lazy.patch(&patched, &[&misspelt]).assert_exit(2);
    assert_eq!(lazy.servant.ask("Later"), "original");
    let run = lazy.patch(&patched, &[&misspelt, "--partial"]);
    run.assert_success();
    let told = "Latr: no loader has or finds it";
    assert!(run.stdout.contains(told), "{}", run.report());
    assert_eq!(lazy.servant.ask("Later"), "patched");
    lazy.end();
}
