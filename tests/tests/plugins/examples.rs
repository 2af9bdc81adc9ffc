//! The example plugins work as their page shows.

use crate::support::documents::{assert_shown, blocks, shell_with};
use e2e_tests::java::Java;
use e2e_tests::{artifacts, jdks, scratch, workspace};
use std::os::unix::fs::symlink;

#[test]
fn examples_work_as_their_page_shows() {
    let folder = scratch();
    let link = |to, name: &str| symlink(to, folder.path().join(name)).expect("linked");
    link(workspace::root().join("examples"), "examples");
    link(artifacts::path("h2"), "h2.jar");
    let components = workspace::target("bundled/examples");
    for entry in components.read_dir().expect("run `cargo xtask plugins`") {
        let file = entry.expect("an entry").path();
        let name = file.file_name().and_then(|name| name.to_str());
        link(file.clone(), name.expect("a name"));
    }
    let page = "docs/examples.md";
    let script = blocks(page, "sh").join("\n");
    let printed = shell_with(&jdks::newest(), folder.path(), &script, &[]);
    assert_shown(page, &printed);
}

#[test]
fn plugin_that_changes_no_class_says_so_at_the_end() {
    let folder = scratch();
    let plugin = workspace::target("bundled/examples/sql-timer.wasm");
    let run = |select: &str| {
        let program = Java::program(workspace::classhook()).folder(folder.path());
        let words = ["run", "--grant", "probes", "--select", select, "--plugin"];
        let program = program.arguments(&words).argument(&plugin).argument("--");
        let program = program
            .argument(jdks::newest().tool("java"))
            .argument("-cp");
        program
            .argument(crate::support::agent::classes())
            .arguments(&["Life", "end"])
            .run()
    };
    let seen = run("**");
    seen.assert_success().assert_stderr(
        "warning[H0415]: plugin sql-timer changed no class: it requested nothing for the ",
    );
    let unseen = run("no.such.**");
    unseen.assert_success().assert_stderr(
        "plugin sql-timer changed no class: no loaded class matched its selectors and yours",
    );
}
