//! Hostile plugins (`host/tests/hostile`) in real JVMs: the program's output is unchanged, and the cause is reported.
//!
//! Each run takes a part of them, a nightly run another one each day; `cargo xtask corpus` takes all.

#[path = "../../../host/tests/hostile/assembly.rs"]
mod assembly;
#[path = "../../../host/tests/hostile/cases.rs"]
mod cases;
#[path = "../../../host/tests/hostile/class_files.rs"]
mod class_files;

use cases::{Case, Expected};
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks::{self, Jdk};
use e2e_tests::rotation::is_turn_of;
use e2e_tests::{javac, scratch, workspace};
use std::fmt::Write;
use std::path::Path;

/// Number of nightly runs after which each plugin had its turn.
const PARTS: usize = 12;
/// Most loadable plugins in one JVM.
const TOGETHER: usize = 20;

/// The program's output.
const PLAIN: &str = "11";

/// Writes the component of each case, and returns the tables of a `classhook.toml`.
fn settings(folder: &Path, cases: &[(usize, Case)]) -> String {
    let mut text = format!("[agent]\noutput = {:?}\n", folder.join("out"));
    for (number, case) in cases {
        let file = folder.join(format!("case-{number}.wasm"));
        std::fs::write(&file, case.assembly.component()).expect("the test's folder is writable");
        let _ = write!(
            text,
            "\n[[plugin]]\nuse = {file:?}\ngrant = [\"probes\", \"rewrite\", \"structure\", \"raw\", \"helpers\"]\n"
        );
    }
    text
}

/// Runs the program with these plugins and asserts its unchanged output.
fn run(jdk: &Jdk, folder: &Path, cases: &[(usize, Case)]) -> Run {
    let source = workspace::test_file("java/raw/Called.java");
    let options = ["--release", "11"];
    let classes = javac::compile(&jdks::newest(), &[&source], folder, &options);
    let file = folder.join("classhook.toml");
    std::fs::write(&file, settings(folder, cases)).expect("the test's folder is writable");
    let java = Java::new(jdk).options(&["-Xverify:all", "-Xcheck:jni"]);
    let java = java.variable("XDG_CACHE_HOME", folder.join("cache"));
    let java = java.class_path(&[&classes]).main("Called");
    let run = java
        .agent(Some(&format!("config={}", file.display())))
        .run();
    run.assert_success();
    assert_eq!(run.stdout.trim(), PLAIN, "{}", run.report());
    assert!(!run.stderr.contains('\u{1b}'), "{}", run.report());
    // The limit of a plugin's log, times the few that log without end, and the causes of all.
    assert!(run.stderr.len() < 1 << 20, "{} bytes", run.stderr.len());
    run
}

/// Returns the difference between the expected and the reported cause of a loaded plugin, if any.
fn differs(number: usize, case: &Case, run: &Run) -> Option<String> {
    let failed = format!("plugin `case-{number}` failed on ");
    let mut messages = run.stderr.split("classhook: ");
    let told = messages
        .find(|message| message.contains(&failed))
        .unwrap_or_default();
    let has = |code: &str| told.starts_with(&format!("warning[{code}]"));
    let is_expected = match case.expected {
        Expected::Fine => told.is_empty(),
        Expected::Fails(code, text) => has(code) && told.contains(text),
        Expected::Bounded => told.is_empty() || ["H0312", "H0313", "H0315"].into_iter().any(has),
        Expected::NotLoaded(code, text) => {
            run.stderr.contains(&format!("error[{code}]")) && run.stderr.contains(text)
        }
    };
    let Case { name, expected, .. } = case;
    (!is_expected).then(|| format!("{number}, {name}: expected {expected:?}, found {told:?}"))
}

#[test]
fn hostile_plugins_leave_the_program_unchanged() {
    let all = cases::anywhere().into_iter().chain(cases::elsewhere());
    let turn = all
        .enumerate()
        .filter(|(number, _)| is_turn_of("hostile plugins", *number, PARTS));
    let (alone, together): (Vec<_>, Vec<_>) =
        turn.partition(|(_, case)| matches!(case.expected, Expected::NotLoaded(..)));
    assert!(alone.len() + together.len() >= 14);
    let alone = alone.chunks(1);
    for jdk in jdks::main_in_turn("hostile plugins") {
        let groups = alone.clone().chain(together.chunks(TOGETHER));
        for cases in groups {
            let folder = scratch();
            let run = run(&jdk, folder.path(), cases);
            let wrong = cases
                .iter()
                .filter_map(|(number, case)| differs(*number, case, &run));
            let wrong: Vec<String> = wrong.collect();
            assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), run.report());
        }
    }
}
