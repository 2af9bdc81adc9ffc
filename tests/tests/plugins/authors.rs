//! Plugins of users: projects outside the repository, from `classhook plugin new` to the plugin's report.

use crate::support::command::LATE;
use crate::support::projects::{cargo, place};
use e2e_tests::java::{Java, Run};
use e2e_tests::jdks;
use e2e_tests::servant::Servant;
use e2e_tests::workspace::{classhook, root};
use e2e_tests::{scratch, servant};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Runs `classhook plugin` in a folder.
fn plugin(folder: &Path, words: &[&str]) -> Run {
    let variables = cargo();
    let program = Java::program(classhook()).folder(folder).argument("plugin");
    let program = variables.iter().fold(program, |program, (name, value)| {
        program.variable(name, value)
    });
    program.arguments(words).run()
}

/// Returns a built project `mine`, in a folder of its own.
fn project() -> &'static Path {
    static PROJECT: OnceLock<PathBuf> = OnceLock::new();
    PROJECT.get_or_init(|| {
        let folder = place("mine");
        plugin(&folder, &["new", "mine"]).assert_success();
        plugin(&folder, &["build", "mine"]).assert_success();
        folder
    })
}

#[test]
fn running_jvm_is_visited_and_left_unchanged() {
    let folder = project();
    let jdk = jdks::newest();
    let servant = Servant::of(&servant::java(&jdk, &LATE));
    let pid = servant.pid().to_string();
    let words = [
        "run", "mine", &pid, "--for", "1s", "--output", "visited", "--select", "Servant*",
    ];
    let run = plugin(folder, &words);
    run.assert_success()
        .assert_stderr("the plugin `mine` is granted probes");
    assert!(run.stdout.starts_with("mine: calls\n"), "{}", run.report());
    crate::support::command::assert_no_agent(&pid);
    servant.end();
}

#[test]
fn missing_grants_are_reported_before_the_program_starts() {
    let folder = project();
    let run = plugin(
        folder,
        &["run", "mine/target/mine.wasm", "--", "touch", "started"],
    );
    run.assert_exit(2).assert_stderr("error[H0203]");
    let words = [
        "run",
        "mine",
        "--plugin-settings",
        "{\"method\": []}",
        "--",
        "touch",
        "started",
    ];
    plugin(folder, &words)
        .assert_exit(2)
        .assert_stderr("did you mean `methods`?");
    assert!(!folder.join("started").exists());
    let words = ["run", "mine", "--grant", "boot", "--", "true"];
    plugin(folder, &words).assert_stderr("the plugin `mine` is granted probes, boot");
}

#[test]
fn list_shows_loadable_plugins_and_warns_about_others() {
    let folder = project();
    let listed = plugin(folder, &["list", "mine"]);
    listed.assert_success();
    for (name, grants) in [("patch", " rewrite "), ("mine", " probes ")] {
        let found = listed.stdout.lines().find(|line| line.starts_with(name));
        assert!(
            found.is_some_and(|line| line.contains(grants)),
            "{}",
            listed.report()
        );
    }
    let other = scratch();
    std::fs::write(other.path().join("broken.wasm"), b"\0asm\x01\0\0\0").expect("written");
    let listed = plugin(other.path(), &["list"]);
    listed
        .assert_exit(3)
        .assert_stderr("warning[H0687]")
        .assert_stderr("a core module");
}

#[test]
fn wrong_usage_is_an_error_with_a_remedy() {
    let folder = scratch();
    let there = folder.path().join("there");
    std::fs::create_dir(&there).expect("made");
    std::fs::write(there.join("file"), "").expect("written");
    for (words, code) in [
        (&["new", "Mine!"][..], "H0680"),
        (&["new", "there"], "H0681"),
        (&["build", "there"], "H0682"),
        (&["test", "there"], "H0682"),
        (&["run", "nosuch", "--", "java"], "H0682"),
        (&["inspect", "nosuch.wasm"], "H0106"),
    ] {
        plugin(folder.path(), words)
            .assert_exit(2)
            .assert_stderr(&format!("error[{code}]"));
    }
    plugin(folder.path(), &["new", "Mine!"]).assert_stderr("found    `M` in it");
    plugin(folder.path(), &["run", "trace"])
        .assert_exit(2)
        .assert_stderr("-- <COMMAND>...");
    let classes = root().join("examples/plugins/deprecated-api/program");
    let classes = classes.to_str().expect("a name in UTF-8");
    let explained = Java::program(classhook())
        .folder(folder.path())
        .arguments(&["explain", "there", "--in", classes, "**"])
        .run();
    explained.assert_exit(2).assert_stderr("error[H0682]");
    let run = ["run", "--plugin", "there", "--", "touch", "started"];
    let run = Java::program(classhook())
        .folder(folder.path())
        .arguments(&run)
        .run();
    run.assert_exit(2).assert_stderr("error[H0682]");
    assert!(!folder.path().join("started").exists());
    let without = Java::program(classhook())
        .folder(project())
        .variable("PATH", "/nowhere")
        .arguments(&["plugin", "build", "mine"])
        .run();
    without.assert_exit(2).assert_stderr("error[H0683]");
}

#[test]
fn mistakes_in_a_project_are_reported_by_the_compiler_and_the_tests() {
    let folder = place("wrong");
    plugin(&folder, &["new", "wrong"]).assert_success();
    let source = folder.join("wrong/src/lib.rs");
    let text = std::fs::read_to_string(&source).expect("the plugin");
    let doing_nothing = text.replace("plan.count(&[method.entry()], &row)?;", "");
    std::fs::write(&source, doing_nothing).expect("written");
    let run = plugin(&folder, &["test", "wrong"]);
    run.assert_exit(2).assert_stderr("error[H0685]");
    std::fs::write(&source, text.replace("Ok(())", "Ok(1)")).expect("written");
    let run = plugin(&folder, &["build", "wrong"]);
    run.assert_exit(2)
        .assert_stderr("mismatched types")
        .assert_stderr("error[H0684]");
    // The toolchain is complete.
    assert!(!run.stderr.contains("rustup"), "{}", run.report());
}

#[test]
fn part_of_the_toolchain_that_is_missing_is_named() {
    let folder = scratch();
    let (bin, library) = (folder.path().join("bin"), folder.path().join("lib"));
    std::fs::create_dir(&bin).expect("made");
    let run = || {
        let program = Java::program(classhook()).folder(folder.path());
        let program = program.variable("PATH", bin.to_str().expect("a text"));
        program.arguments(&["plugin", "build", "mine"]).run()
    };
    plugin(folder.path(), &["new", "mine"]).assert_success();
    program(&bin.join("cargo"), "exit 101");
    program(&bin.join("rustc"), &format!("echo {}", library.display()));
    let told = run();
    told.assert_exit(2)
        .assert_stderr("error[H0684]")
        .assert_stderr("rustup target add wasm32-unknown-unknown");
    std::fs::create_dir(&library).expect("made");
    run().assert_stderr("the linker wasm-component-ld, which");
    program(&bin.join("wasm-component-ld"), "exit 0");
    assert!(!run().stderr.contains("help"), "nothing is missing");
}

/// Writes a shell script.
fn program(path: &Path, text: &str) {
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).expect("written");
    let permissions = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, permissions).expect("may be run");
}
