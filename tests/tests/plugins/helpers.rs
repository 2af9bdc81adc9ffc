//! Helper classes of plugins: defined once in each loader, before the first class whose code names them.

use crate::support::command::{LATE, classhook};
use e2e_tests::instrumented::instrument;
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::servant::Servant;
use e2e_tests::{javac, scratch, workspace};
use std::path::{Path, PathBuf};

/// The output of `Called`, without and with the hundred that `Tally` adds for each call so far.
const PLAIN: &str = "11";
const FIRST: &str = "111";

fn compile(folder: &Path) -> PathBuf {
    let sources = ["java/raw/Called.java", "java/helpers/Loaders.java"];
    let sources = sources.map(workspace::test_file);
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    javac::compile(&jdks::newest(), &sources, folder, &["--release", "11"])
}

fn program(jdk: &Jdk, classes: &Path, main: &str) -> Java {
    let options = ["-Xverify:all", "-Xcheck:jni"];
    let java = Java::new(jdk).options(&options).options(&LATE);
    java.class_path(&[classes]).main(main)
}

/// Writes a `classhook.toml` for the plugin with this `request`, and for coverage on request.
fn settings(folder: &Path, request: &str, coverage: bool) -> PathBuf {
    let component = workspace::target("bundled/tests/requests.wasm");
    let file = folder.join("classhook.toml");
    let coverage = if coverage {
        "[[plugin]]\nuse = \"coverage\"\n\n"
    } else {
        ""
    };
    let text = format!(
        "[agent]\noutput = {folder:?}\n\n{coverage}[[plugin]]\nuse = {component:?}\n\
         grant = [\"probes\", \"raw\", \"rewrite\", \"structure\", \"helpers\"]\n\
         select = [\"Called$Target\", \"Loaders$O*\"]\n\n[plugin.config]\nrequest = {request:?}\n"
    );
    std::fs::write(&file, text).expect("the test's folder is writable");
    file
}

fn run(jdk: &Jdk, classes: &Path, main: &str, folder: &Path, request: &str) -> Run {
    let config = settings(folder, request, true);
    let options = format!("config={}", config.display());
    let run = program(jdk, classes, main).agent(Some(&options)).run();
    run.assert_success();
    run
}

#[test]
fn helper_class_exists_before_the_code_that_names_it_and_is_not_reported() {
    for jdk in jdks::main_two() {
        for request in ["helpers", "helpers-and-hits", "helpers-and-structure"] {
            let folder = scratch();
            let classes = compile(folder.path());
            let run = run(&jdk, &classes, "Called", folder.path(), request);
            assert_eq!(run.stdout.trim(), FIRST, "{request}: {}", run.report());
            assert_eq!(run.stderr, "", "{request}");
            let report = classhook(&["report", &folder.path().display().to_string()]);
            report.assert_success();
            let told = report.report();
            assert!(
                told.contains("Called$Target") && !told.contains("Tally"),
                "{told}"
            );
        }
    }
}

#[test]
fn each_loader_has_a_helper_class_of_its_own_in_any_order() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let classes = compile(folder.path());
        let plain = program(&jdk, &classes, "Loaders").run();
        plain.assert_success();
        assert_eq!(plain.stdout.trim(), "{22=40}", "{}", plain.report());
        // 11 and 11, plus a hundred for the first call and two hundred for the second.
        let run = run(&jdk, &classes, "Loaders", folder.path(), "helpers");
        assert_eq!(run.stdout.trim(), "{322=40}", "{}", run.report());
    }
}

/// Requests for helper classes that would end the program, with the code and the cause that the user reads.
const WRONG: [(&str, &str, &str); 5] = [
    (
        "helpers-of-the-future",
        "H0319",
        "java.lang.UnsupportedClassVersionError",
    ),
    (
        "helpers-without-the-method",
        "H0317",
        "the method subtract(I)I of its helper class $Classhook$",
    ),
    (
        "helpers-with-another-method",
        "H0317",
        "where it is not static (IncompatibleClassChangeError)",
    ),
    (
        "helpers-in-part",
        "H0317",
        "the class Tally needs its nested class Tally$Step",
    ),
    (
        "helpers-of-two-versions",
        "H0317",
        "which has no such method (NoSuchMethodError)",
    ),
];

#[test]
fn class_whose_helper_the_jvm_would_not_link_has_the_edits_of_the_others() {
    for (request, code, cause) in WRONG {
        for jdk in jdks::main_in_turn(request) {
            let folder = scratch();
            let classes = compile(folder.path());
            let run = run(&jdk, &classes, "Called", folder.path(), request);
            assert_eq!(run.stdout.trim(), PLAIN, "{request}: {}", run.report());
            let told = format!(
                "warning[{code}]: plugin `requests` failed on Called$Target; the class was loaded with the edits of the others alone"
            );
            let count = run.stderr.matches(&told).count();
            assert_eq!(count, 1, "{told}: {}", run.report());
            assert!(run.stderr.contains(cause), "{cause}: {}", run.report());
            let report = classhook(&["report", &folder.path().display().to_string()]);
            assert!(
                report.stdout.contains("Called$Target"),
                "{}",
                report.report()
            );
        }
    }
}

#[test]
fn loaded_class_gets_a_helper_which_stays_and_is_found_again() {
    for jdk in jdks::main_two() {
        let folder = scratch();
        let classes = compile(folder.path());
        let mut servant = Servant::of(&program(&jdk, &classes, "Called").argument("wait"));
        let config = settings(folder.path(), "helpers", false);
        let pid = servant.pid().to_string();
        let config = config.to_str().expect("a path that is text");
        assert_eq!(servant.ask("both"), PLAIN, "{jdk}");
        for (first, second) in [(FIRST, "211"), ("311", "411")] {
            classhook(&["attach", &pid, "--config", config]).assert_success();
            assert_eq!(servant.ask("both"), first, "{jdk}");
            assert_eq!(servant.ask("both"), second, "{jdk}");
            classhook(&["off", &pid]).assert_success();
            assert_eq!(servant.ask("both"), PLAIN, "{jdk}");
        }
        assert_eq!(servant.end().code, Some(0));
    }
}

/// Returns the names of the helper classes' files in a folder.
fn helpers_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    let mut names: Vec<_> = names
        .filter(|name| name.starts_with("$Classhook$"))
        .collect();
    names.sort();
    names
}

#[test]
fn helper_classes_are_written_beside_the_classes_that_need_them() {
    let folder = scratch();
    let classes = compile(folder.path());
    let archive = folder.path().join("app.jar");
    javac::jar(&jdks::newest(), &classes, ".", "", &archive);
    let config = settings(folder.path(), "helpers", false);
    for (input, out) in [(&classes, "written"), (&archive, "written.jar")] {
        let out = folder.path().join(out);
        let words = [input, Path::new("-o"), &out, Path::new("--config"), &config];
        instrument(&words).run().assert_success();
        if out.is_dir() {
            let found = helpers_in(&out);
            assert_eq!(found.len(), 2, "{found:?}");
            assert!(found[0].ends_with("$Tally$Step.class"), "{found:?}");
        }
        for jdk in jdks::main_two() {
            let run = program(&jdk, &out, "Called").run();
            run.assert_success();
            assert_eq!(run.stdout.trim(), FIRST, "{}", run.report());
            let run = program(&jdk, &out, "Loaders").run();
            assert!(run.stdout.contains("322="), "{}", run.report());
        }
    }
}
