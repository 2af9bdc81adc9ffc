//! The program `Shop`, and the commands of tests of advice.

use super::command::classhook;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::{javac, scratch, workspace};
use std::path::{Path, PathBuf};

/// The output of `Shop` itself.
pub const OWN: &str = "129 2.5 2 full no name 3 hello ann 3 2";

/// Returns the source of an advice, or of `Shop`.
pub fn file(name: &str) -> PathBuf {
    workspace::test_file(&format!("java/advice/{name}.java"))
}

/// Compiles the program for the oldest release.
pub fn shop(folder: &Path) -> PathBuf {
    let options = ["--release", "8", "-Xlint:-options"];
    javac::compile(&jdks::newest(), &[&file("Shop")], folder, &options)
}

/// Returns 8, 11, 17, 21 and 25, as far as they are installed. Some have no compiler.
pub fn every_release() -> Vec<Jdk> {
    let others = [11, 17, 21, 25].into_iter().filter_map(jdks::release);
    jdks::eight().into_iter().chain(others).collect()
}

/// Returns 8, 17 and 25.
pub fn oldest_and_main_two() -> Vec<Jdk> {
    jdks::eight().into_iter().chain(jdks::main_two()).collect()
}

/// Writes an advice into the program with `classhook instrument`. Returns the result, and the folder of the classes.
pub fn instrumented(folder: &Path, name: &str) -> (Run, PathBuf) {
    let (classes, out, advice) = (shop(folder), folder.join("advised"), file(name));
    let text = |path: &Path| path.to_str().expect("text").to_owned();
    let (classes, shown, advice) = (text(&classes), text(&out), text(&advice));
    let words = ["instrument", &classes, "-o", &shown, "--advice", &advice];
    (classhook(&words), out)
}

/// Runs the program from this folder, without an agent.
pub fn run_from(jdk: &Jdk, classes: &PathBuf) -> Run {
    let program = Java::new(jdk).options(&["-Xverify:all"]);
    program.class_path(&[classes]).main("Shop").run()
}

/// Writes the source `A.java`, in which `body` follows an import of one line. Returns the result of
/// `classhook advice check` with it.
pub fn checked(body: &str) -> Run {
    let folder = scratch();
    let classes = shop(folder.path());
    let source = folder.path().join("A.java");
    let text = format!("import io.github.classhook.advice.*;\n{body}\n");
    std::fs::write(&source, text).expect("written");
    let (source, classes) = (
        source.to_str().expect("text"),
        classes.to_str().expect("text"),
    );
    classhook(&["advice", "check", source, "--classes", classes])
}
