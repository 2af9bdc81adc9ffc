//! Patches that add members and classes: a patched program behaves as the new one that is started afresh.

use crate::support::command::LATE;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::Servant;
use e2e_tests::{javac, scratch, workspace};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A running program of the sources in `before`, and the classes of those in `after`.
struct Program {
    folder: TempDir,
    servant: Servant,
    jdk: Jdk,
    after: PathBuf,
}

impl Program {
    fn start(jdk: &Jdk, name: &str, release: u32) -> Self {
        let folder = scratch();
        let before = classes(name, "before", release, folder.path());
        let after = classes(name, "after", release, folder.path());
        let java = java(jdk, &[&before]).folder(folder.path());
        Self {
            servant: Servant::of(&java.main("Lazy")),
            folder,
            jdk: jdk.clone(),
            after,
        }
    }

    /// Returns the answer of a class.
    fn ask(&mut self, class: &str) -> String {
        self.servant.ask(class)
    }

    fn run(&self, command: &str, arguments: &[&str]) -> Run {
        Java::program(workspace::classhook())
            .folder(self.folder.path())
            .argument(command)
            .argument(self.servant.pid().to_string())
            .arguments(arguments)
            .run()
    }

    fn patch(&self, more: &[&str]) -> Run {
        let after = self.after.to_string_lossy();
        self.run("patch", &[&[&*after], more].concat())
    }

    /// Returns the answer of the new program, started afresh.
    fn fresh(&self, class: &str) -> String {
        let lazy = self.after.parent().expect("a folder").to_path_buf();
        let lazy = lazy.join("../before/classes");
        let java = java(&self.jdk, &[&self.after, &lazy]);
        let mut servant = Servant::of(&java.folder(self.folder.path()).main("Lazy"));
        let answer = servant.ask(class);
        servant.end();
        answer
    }

    #[track_caller]
    fn end(self) {
        let left = self.servant.end();
        assert_eq!(left.code, Some(0), "{}", left.stderr);
        assert!(
            !left.stderr.contains("classhook: warning"),
            "{}",
            left.stderr
        );
    }
}

fn java(jdk: &Jdk, class_path: &[&Path]) -> Java {
    Java::new(jdk)
        .option("-XX:+IgnoreUnrecognizedVMOptions")
        .option("-Xverify:all")
        .options(&LATE)
        .class_path(class_path)
}

/// Compiles the sources of one version, with `Lazy` in the first one.
fn classes(name: &str, version: &str, release: u32, folder: &Path) -> PathBuf {
    let sources = workspace::test_file(&format!("java/patch/companions/{name}/{version}"));
    let mut sources = javac::sources_in(&sources);
    if version == "before" {
        sources.push(workspace::test_file("java/patch/Lazy.java"));
    }
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    let options = ["--release", &release.to_string(), "-Xlint:-options"];
    javac::compile(&jdks::newest(), &sources, &folder.join(version), &options)
}

/// Patches a program on each JVM, with class files for Java 8 and for the JVM itself, and rolls the patch back.
#[track_caller]
fn assert_like_fresh(name: &str, releases: impl Fn(u32) -> Vec<u32>) {
    for jdk in jdks::all() {
        for release in releases(jdk.feature) {
            let told = format!("{name} for Java {release} in {jdk}");
            let mut program = Program::start(jdk, name, release);
            let old = program.ask(name);
            let new = program.fresh(name);
            assert_ne!(old, new, "{told}");
            program.patch(&["--check"]).assert_success();
            assert_eq!(program.ask(name), old, "{told}");
            program.patch(&[]).assert_success();
            assert_eq!(program.ask(name), new, "{told}");
            program.run("rollback", &[]).assert_success();
            assert_eq!(program.ask(name), old, "{told}");
            program.patch(&[]).assert_success();
            assert_eq!(program.ask(name), new, "{told}");
            program.end();
        }
    }
}

fn eight_and_own(feature: u32) -> Vec<u32> {
    match feature {
        8 => vec![8],
        feature => vec![8, feature],
    }
}

#[test]
fn added_methods_static_fields_and_lambdas_behave_as_in_the_new_class() {
    assert_like_fresh("Members", eight_and_own);
}

#[test]
fn added_nested_and_anonymous_classes_behave_as_in_the_new_class() {
    assert_like_fresh("Nested", eight_and_own);
}

#[test]
fn members_with_more_access_are_reached_from_other_classes() {
    assert_like_fresh("Wider", eight_and_own);
}

#[test]
fn interface_gets_default_and_static_methods() {
    assert_like_fresh("Contract", eight_and_own);
}

/// Objects and classes outside the patch still use members that the new class does not have.
#[test]
fn removed_and_moved_members_stay_for_classes_outside_the_patch() {
    for jdk in jdks::all() {
        for release in eight_and_own(jdk.feature) {
            let mut program = Program::start(jdk, "Removed", release);
            let old = program.ask("Removed");
            let untouched = program.ask("Untouched");
            let run = program.patch(&[]);
            run.assert_success();
            assert!(run.stdout.contains("stays"), "{}", run.report());
            assert_eq!(program.ask("Untouched"), untouched, "{jdk}");
            assert_eq!(program.ask("Removed"), program.fresh("Removed"), "{jdk}");
            program.run("rollback", &[]).assert_success();
            assert_eq!(program.ask("Removed"), old, "{jdk}");
            program.end();
        }
    }
}

/// Of two releases, the classes whose code differs are patched, and those that these use are defined.
#[test]
fn patch_of_two_releases_touches_only_what_differs() {
    for jdk in jdks::main_two() {
        let mut program = Program::start(&jdk, "Nested", jdk.feature);
        program.ask("Nested");
        let after = program.after.to_string_lossy().into_owned();
        let before = program.folder.path().join("before/classes");
        let before = before.to_string_lossy();
        let run = program.run("patch", &[&before, &after]);
        run.assert_success();
        assert!(
            run.stdout.contains("Nested$Added: defined"),
            "{}",
            run.report()
        );
        assert!(!run.stdout.contains("Lazy"), "{}", run.report());
        assert_eq!(program.ask("Nested"), program.fresh("Nested"));
        program
            .run("patch", &[&before, &before])
            .assert_exit(2)
            .assert_stderr("H0727");
        program.end();
    }
}

/// A class of the patch that needs a refused class is refused with it.
#[test]
fn class_that_uses_a_member_of_a_refused_class_is_refused() {
    let jdk = jdks::newest();
    let mut program = Program::start(&jdk, "Refused", 17);
    let old = program.ask("Refused");
    program
        .patch(&[])
        .assert_exit(2)
        .assert_stderr("the instance field extra was added")
        .assert_stderr(
            "RefusedUser (app): it uses a member added to Refused, which cannot be patched",
        );
    assert_eq!(program.ask("Refused"), old);
    let run = program.patch(&["--partial"]);
    run.assert_success();
    assert_eq!(program.ask("Refused"), "old user other patched");
    program.end();
}
