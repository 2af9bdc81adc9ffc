//! Patches made from Java sources, and for classes that are not loaded yet.

use crate::support::command::LATE;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::Servant;
use e2e_tests::{javac, scratch, workspace};
use std::path::{Path, PathBuf};
use std::process::Command;

fn file(name: &str) -> PathBuf {
    workspace::test_file(&format!("java/patch/{name}.java"))
}

/// `Nested` with another word, as a source in a folder.
fn nested(word: &str, folder: &Path) -> PathBuf {
    let text = std::fs::read_to_string(file("Nested")).expect("readable");
    let changed = folder.join(word);
    std::fs::create_dir_all(&changed).expect("a folder");
    let changed = changed.join("Nested.java");
    let text = text.replace("\"original\"", &format!("\"{word}\""));
    std::fs::write(&changed, text).expect("written");
    changed
}

/// A JVM of `home` that runs `Lazy`, compiled for this release.
fn lazy(home: &Path, jdk: &Jdk, release: &str, folder: &Path) -> Servant {
    let sources = [file("Lazy"), file("Nested")];
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    let classes = javac::compile(jdk, &sources, folder, &["--release", release]);
    let java = Java::program(home.join("bin/java")).options(&LATE);
    Servant::of(&java.class_path(&[classes]).main("Lazy"))
}

/// Runs the command on this JVM, with a `JAVA_HOME`.
fn classhook(servant: &Servant, folder: &Path, java_home: &Jdk, words: &[&str]) -> Run {
    Java::program(workspace::classhook())
        .folder(folder)
        .variable("JAVA_HOME", &java_home.home)
        .argument(words[0])
        .argument(servant.pid().to_string())
        .arguments(&words[1..])
        .run()
}

/// Compilers before Java 11 give a nested class access by methods, later ones by nest mates: the shapes differ.
#[test]
fn source_is_compiled_for_the_release_of_the_class_that_it_replaces() {
    for jdk in jdks::main_two() {
        for release in ["8", "17"] {
            let folder = scratch();
            let mut lazy = lazy(&jdk.home, &jdk, release, folder.path());
            assert_eq!(lazy.ask("Nested"), "original");
            let source = nested("patched", folder.path());
            let words = ["patch", "--source", &source.to_string_lossy()];
            classhook(&lazy, folder.path(), &jdk, &words).assert_success();
            assert_eq!(lazy.ask("Nested"), "patched", "release {release} on {jdk}");
            assert_eq!(lazy.end().code, Some(0));
        }
    }
}

#[test]
fn jvm_without_a_compiler_gets_classes_of_a_newer_one_that_it_can_read() {
    let jdk = jdks::release(17).expect("the JDK that the tests need");
    let folder = scratch();
    let runtime = folder.path().join("runtime");
    let mut jlink = Command::new(jdk.tool("jlink"));
    jlink.args(["--add-modules", "java.base", "--output"]);
    let linked = jlink.arg(&runtime).status().expect("jlink starts");
    assert!(linked.success() && !runtime.join("bin/javac").exists());
    let mut lazy = lazy(&runtime, &jdk, "17", folder.path());
    assert_eq!(lazy.ask("Nested"), "original");
    let source = nested("patched", folder.path());
    let words = ["patch", "--source", &source.to_string_lossy()];
    classhook(&lazy, folder.path(), &jdks::newest(), &words).assert_success();
    assert_eq!(lazy.ask("Nested"), "patched");
    assert_eq!(lazy.end().code, Some(0));
}

#[test]
fn patch_waits_for_a_class_that_is_not_loaded_yet() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let mut lazy = lazy(&jdk.home, &jdk, "17", folder.path());
        let source = nested("patched", folder.path());
        let words = ["patch", "--source", &source.to_string_lossy()];
        let run = classhook(&lazy, folder.path(), &jdk, &words);
        run.assert_success();
        let told = "Nested: is not loaded; patched when it is";
        assert!(run.stdout.contains(told), "{}", run.report());
        assert_eq!(lazy.ask("Nested"), "patched", "{jdk}");
        classhook(&lazy, folder.path(), &jdk, &["rollback"]).assert_success();
        assert_eq!(lazy.ask("Nested"), "original", "{jdk}");
        let left = lazy.end();
        assert_eq!((left.code, left.stderr.as_str()), (Some(0), ""));
    }
}

/// When it comes it turns out that it has another shape: the program goes on with its own class, and that is told.
#[test]
fn patch_of_another_shape_that_waited_leaves_the_class_as_it_is() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let mut lazy = lazy(&jdk.home, &jdk, "17", folder.path());
        let source = nested("patched", folder.path());
        let text = std::fs::read_to_string(&source).expect("readable");
        let text = text.replace("\"patched\";", "\"patched\", other;");
        std::fs::write(&source, text).expect("written");
        let words = ["patch", "--source", &source.to_string_lossy()];
        classhook(&lazy, folder.path(), &jdk, &words).assert_success();
        assert_eq!(lazy.ask("Nested"), "original", "{jdk}");
        let left = lazy.end();
        assert_eq!(left.code, Some(0));
        assert!(left.stderr.contains("Nested"), "{}", left.stderr);
    }
}
