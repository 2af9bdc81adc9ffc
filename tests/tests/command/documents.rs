//! Commands and code in the documents work as shown.

use crate::support::documents::{assert_shown, blocks, shell, shell_with};
use crate::support::projects::{Shared, cargo, place};
use e2e_tests::java::Java;
use e2e_tests::jdks;
use e2e_tests::{scratch, workspace};
use std::os::unix::fs::symlink;
use std::path::Path;

/// The pages about plugins, whose commands go on in one folder in this order.
const PLUGIN_GUIDE: [&str; 3] = [
    "docs/plugins.md",
    "docs/how-to/plugin-languages.md",
    "docs/how-to/plugins-of-others.md",
];

/// Creates a folder that looks like the checkout: examples, built files, and space for the output of commands.
fn checkout() -> tempfile::TempDir {
    let folder = scratch();
    std::fs::create_dir(folder.path().join("target")).expect("made");
    symlink(
        workspace::root().join("examples"),
        folder.path().join("examples"),
    )
    .expect("linked");
    let products = workspace::agent_library();
    let products = products.parent().expect("a folder");
    symlink(products, folder.path().join("target/release")).expect("linked");
    folder
}

#[track_caller]
fn assert_holds(file: &Path, text: &str) {
    let found = std::fs::read_to_string(file)
        .unwrap_or_else(|error| panic!("expected {}: {error}", file.display()));
    assert!(
        found.contains(text),
        "expected {text} in {}",
        file.display()
    );
}

#[test]
fn first_steps_measure_the_bank_with_and_without_the_command() {
    let mut commands = blocks("docs/get-started.md", "sh");
    // the tasks take too long here, and only a reader can choose a JVM to attach to
    commands.retain(|block| !block.contains("cargo xtask") && !block.contains(" PID "));
    let [measure, record_and_report, statically] = commands.as_slice() else {
        panic!("expected three blocks of commands, found {commands:?}");
    };
    let [summary] = blocks("docs/get-started.md", "text")
        .try_into()
        .expect("one block of output");
    for jdk in jdks::main_two() {
        let folder = checkout();
        let target = folder.path().join("target");
        let printed = shell(&jdk, folder.path(), measure);
        for line in summary.lines() {
            assert!(
                printed.lines().any(|found| found == line),
                "on {jdk}: {line}\n{printed}"
            );
        }
        assert_holds(&target.join("hello/html/index.html"), "bank");
        shell(&jdk, folder.path(), record_and_report);
        assert_holds(&target.join("recorded/html/index.html"), "bank");
        assert_holds(
            &target.join("recorded/jacoco.xml"),
            "<class name=\"bank/Account\"",
        );
        let printed = shell(&jdk, folder.path(), statically);
        let total = summary.lines().last().expect("a table has a last line");
        assert!(
            printed.lines().any(|found| found == total),
            "on {jdk}: {total}\n{printed}"
        );
    }
}

#[test]
fn bank_example_runs_and_its_arguments_cover_what_the_day_leaves_out() {
    for jdk in jdks::main_two() {
        let folder = checkout();
        let statements =
            "examples/bank/run 'open ada SAVINGS' 'deposit ada 100' 'interest ada 0.02'";
        let printed = shell(&jdk, folder.path(), statements);
        assert!(printed.contains("interest ada 0.02 -> 2.00"), "{printed}");
        assert_holds(
            &folder.path().join("target/examples/bank/html/index.html"),
            "bank",
        );
    }
}

#[test]
fn options_page_lists_every_key_that_help_prints() {
    let page =
        std::fs::read_to_string(workspace::root().join("docs/options.md")).expect("the page");
    let run = Java::new(&jdks::newest())
        .agent(Some("help"))
        .option("-version")
        .run();
    run.assert_success();
    let keys: Vec<&str> = run
        .stderr
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(['=', ' ']).next())
        .filter(|key| !key.is_empty())
        .collect();
    assert!(keys.len() >= 9, "{keys:?}");
    for key in keys {
        assert!(
            page.contains(&format!("| `{key}` |")),
            "docs/options.md does not list {key}"
        );
    }
}

/// This test is apart from the other projects: cargo builds one at a time, and theirs would wait.
#[test]
fn guide_leads_from_an_empty_folder_to_a_plugin_that_counts() {
    let folder = place("guide");
    let examples = folder.join("examples");
    symlink(workspace::root().join("examples"), examples).expect("linked");
    let variables = cargo();
    let variables = variables
        .each_ref()
        .map(|(name, value)| (*name, value.as_path()));
    let scripts = PLUGIN_GUIDE.map(|page| blocks(page, "sh").join("\n"));
    let script = scripts.join("\n");
    let _shared = Shared("exit_guard");
    let printed = shell_with(&jdks::newest(), &folder, &script, &variables);
    for page in PLUGIN_GUIDE {
        assert_shown(page, &printed);
    }
}

#[test]
fn code_of_the_guide_equals_an_example() {
    let trimmed = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let sources = [
        "examples/plugins/allocations/src/lib.rs",
        "examples/plugins/deprecated-api/src/lib.rs",
        "examples/plugins/exit-guard/src/lib.rs",
        "examples/plugins/frozen-clock/src/lib.rs",
        "examples/plugins/sql-timer/src/lib.rs",
        "examples/plugins/stalls/src/lib.rs",
        "examples/plugins/unclosed-files/src/lib.rs",
        "sdk/testkit/tests/harness.rs",
    ];
    let sources = sources.map(|path| {
        let text = std::fs::read_to_string(workspace::root().join(path));
        trimmed(&text.expect("a source"))
    });
    let pages = PLUGIN_GUIDE
        .into_iter()
        .chain(["docs/how-to/change-code.md", "docs/how-to/jvm-events.md"]);
    let code: Vec<String> = pages.flat_map(|page| blocks(page, "rust")).collect();
    assert!(code.len() >= 9, "{code:?}");
    for block in code {
        let block = trimmed(&block);
        let is_there = sources.iter().any(|source| source.contains(&block));
        assert!(is_there, "expected in an example:\n{block}");
    }
}
