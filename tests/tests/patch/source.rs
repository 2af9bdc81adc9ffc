//! Patches from Java sources, and of classes that are not loaded yet.

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

/// Writes `Nested` with another word, as a source in a folder.
fn nested(word: &str, folder: &Path) -> PathBuf {
    let text = std::fs::read_to_string(file("Nested")).expect("readable");
    let changed = folder.join(word);
    std::fs::create_dir_all(&changed).expect("a folder");
    let changed = changed.join("Nested.java");
    let text = text.replace("\"original\"", &format!("\"{word}\""));
    std::fs::write(&changed, text).expect("written");
    changed
}

/// Starts a JVM of `home` that runs `Lazy`, compiled for this release.
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

/// Compilers before Java 11 give a nested class access through methods, later ones through nest mates. The shapes
/// differ.
#[test]
fn source_is_compiled_for_the_release_of_the_class_that_it_replaces() {
    for jdk in jdks::main_in_turn("release") {
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
    let source = source.to_string_lossy();
    classhook(&lazy, folder.path(), &jdk, &["patch", &source])
        .assert_exit(2)
        .assert_stderr("error[H0727]")
        .assert_stderr(&format!("with --source {source}"));
    let words = ["patch", "--source", &source];
    classhook(&lazy, folder.path(), &jdks::newest(), &words).assert_success();
    assert_eq!(lazy.ask("Nested"), "patched");
    assert_eq!(lazy.end().code, Some(0));
}

/// A class of a plug-in, whose nested classes use private members of one another.
const GREETER: &str = r#"package plug;
public class Greeter {
    private static class Inner {
        private String word = "original";
    }

    public static String answer() {
        return shared.Words.hello() + " " + new Inner().word;
    }
}
"#;

/// A class of the parent loader that the plug-in uses.
const WORDS: &str = r#"package shared;
public class Words {
    public static String hello() {
        return "hello";
    }
}
"#;

/// Writes a source into a folder of its own.
fn written(folder: &Path, name: &str, text: &str) -> PathBuf {
    std::fs::create_dir_all(folder).expect("a folder");
    let file = folder.join(name);
    std::fs::write(&file, text).expect("written");
    file
}

/// Starts `Plugins`, whose loaders have a jar each. Neither is on the class path.
fn plugins(jdk: &Jdk, release: &str, folder: &Path) -> Servant {
    let part = |name: &str| folder.join(name).join("lib dir");
    let source = |name: &str, class: &str, text: &str| written(&part(name), class, text);
    let words = source("shared", "Words.java", WORDS);
    let greeter = source("plugins", "Greeter.java", GREETER);
    let words = javac::compile(jdk, &[&words], &part("shared"), &["--release", release]);
    let path = words.to_string_lossy();
    let options = ["--release", release, "-cp", &path];
    let greeter = javac::compile(jdk, &[&greeter], &part("plugins"), &options);
    let jar = |classes: &Path, name: &str| {
        javac::jar(jdk, classes, ".", "", &part(name).join("classes.jar"))
    };
    let (shared, own) = (jar(&words, "shared"), jar(&greeter, "plugins"));
    let main = javac::compile(jdk, &[&file("Plugins")], folder, &["--release", "11"]);
    let java = Java::new(jdk).options(&LATE).class_path(&[main]);
    Servant::of(&java.main("Plugins").argument(shared).argument(own))
}

#[test]
fn source_of_a_plug_in_is_compiled_against_the_classes_of_its_loaders() {
    for jdk in jdks::main_in_turn("plug-in") {
        for release in ["8", "17"] {
            let folder = scratch();
            let mut program = plugins(&jdk, release, folder.path());
            assert_eq!(program.ask("plug.Greeter"), "hello original");
            let text = GREETER.replace("original", "patched");
            let source = written(&folder.path().join("new"), "Greeter.java", &text);
            let words = ["patch", "--source", &source.to_string_lossy()];
            classhook(&program, folder.path(), &jdk, &words).assert_success();
            assert_eq!(
                program.ask("plug.Greeter"),
                "hello patched",
                "release {release} on {jdk}"
            );
            assert_eq!(program.end().code, Some(0));
        }
    }
}

#[test]
fn source_that_does_not_compile_leaves_no_agent_behind() {
    let jdk = jdks::newest();
    let folder = scratch();
    let mut program = plugins(&jdk, "17", folder.path());
    assert_eq!(program.ask("plug.Greeter"), "hello original");
    let text = GREETER.replace("hello()", "farewell()");
    let source = written(&folder.path().join("new"), "Greeter.java", &text);
    let words = ["patch", "--source", &source.to_string_lossy()];
    let run = classhook(&program, folder.path(), &jdk, &words);
    run.assert_exit(2)
        .assert_stderr("error[H0726]")
        .assert_stderr("farewell");
    let status = classhook(&program, folder.path(), &jdk, &["status"]);
    status.assert_exit(2).assert_stderr("error[H0701]");
    assert_eq!(program.ask("plug.Greeter"), "hello original");
    assert_eq!(program.end().code, Some(0));
}
