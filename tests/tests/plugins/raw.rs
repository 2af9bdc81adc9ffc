//! Plugins with a rewriter of their own: the JVM runs the class file that the plugin returns.

use crate::support::command::{LATE, classhook};
use e2e_tests::instrumented::instrument;
use e2e_tests::java::Java;
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::Servant;
use e2e_tests::{javac, scratch, workspace};
use std::path::{Path, PathBuf};

/// The output of `tests/java/raw/Called.java`, unchanged and with `both` passing 2.
const PLAIN: &str = "11";
const REPLACED: &str = "21";

fn compile(folder: &Path) -> PathBuf {
    let source = workspace::test_file("java/raw/Called.java");
    javac::compile(&jdks::newest(), &[&source], folder, &["--release", "11"])
}

fn program(jdk: &Jdk, classes: &Path) -> Java {
    let options = ["-Xverify:all", "-Xcheck:jni"];
    let java = Java::new(jdk).options(&options).options(&LATE);
    java.class_path(&[classes]).main("Called")
}

/// Writes a `classhook.toml` for coverage and the plugin with this `request`.
fn settings(folder: &Path, request: &str) -> PathBuf {
    let component = workspace::target("bundled/tests/requests.wasm");
    let file = folder.join("classhook.toml");
    let text = format!(
        "[agent]\noutput = {folder:?}\n\n[[plugin]]\nuse = \"coverage\"\n\n[[plugin]]\nuse = {component:?}\n\
         grant = [\"probes\", \"raw\", \"rewrite\", \"structure\", \"helpers\"]\nselect = [\"Called$Target\"]\n\n\
         [plugin.config]\nrequest = {request:?}\n"
    );
    std::fs::write(&file, text).expect("the test's folder is writable");
    file
}

#[test]
fn class_file_of_a_plugin_runs_and_is_covered() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let classes = compile(folder.path());
        let config = settings(folder.path(), "replace");
        let options = format!("config={}", config.display());
        let run = program(&jdk, &classes).agent(Some(&options)).run();
        run.assert_success();
        assert_eq!(run.stdout.trim(), REPLACED, "{}", run.report());
        let output = folder.path().display().to_string();
        let report = classhook(&["report", &output]);
        // One method has other code than the reported file, so it is not measured.
        report.assert_exit(3).assert_stderr("H0625");
        assert!(
            report.stdout.contains("Called$Target"),
            "{}",
            report.report()
        );
    }
}

#[test]
fn class_file_that_does_not_fit_leaves_the_class_to_the_others() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let classes = compile(folder.path());
        for request in [
            "replace-with-nothing",
            "replace-with-another-class",
            "replace-with-code-that-does-not-fit",
        ] {
            let config = settings(folder.path(), request);
            let options = format!("config={}", config.display());
            let run = program(&jdk, &classes).agent(Some(&options)).run();
            run.assert_success();
            assert_eq!(run.stdout.trim(), PLAIN, "{request}: {}", run.report());
            assert!(run.stderr.contains("H0317"), "{request}: {}", run.report());
        }
    }
}

#[test]
fn class_file_of_a_plugin_is_written_before_the_program_runs() {
    let folder = scratch();
    let classes = compile(folder.path());
    let out = folder.path().join("instrumented");
    let config = settings(folder.path(), "replace");
    let words = [
        &classes,
        Path::new("-o"),
        &out,
        Path::new("--embed"),
        Path::new("--config"),
        &config,
    ];
    // Coverage does not measure the method that the plugin replaced.
    let run = instrument(&words).run();
    run.assert_exit(3)
        .assert_stderr("warning[H0411]: Called$Target.both()I is not measured")
        .assert_stderr("plugin `requests` replaced its code");
    for jdk in jdks::main_two() {
        let run = program(&jdk, &out).run();
        run.assert_success();
        assert_eq!(run.stdout.trim(), REPLACED, "{}", run.report());
    }
}

#[test]
fn class_file_of_a_plugin_is_installed_in_a_running_jvm_and_removed() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let classes = compile(folder.path());
        let mut servant = Servant::of(&program(&jdk, &classes).argument("wait"));
        let config = settings(folder.path(), "replace");
        let pid = servant.pid().to_string();
        let config = config.to_str().expect("a path that is text");
        classhook(&["attach", &pid, "--config", config]).assert_success();
        assert_eq!(servant.ask("both"), REPLACED, "{jdk}");
        classhook(&["off", &pid]).assert_success();
        assert_eq!(servant.ask("both"), PLAIN, "{jdk}");
        assert_eq!(servant.end().code, Some(0));
    }
}
