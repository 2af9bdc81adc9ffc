//! Commands and code in the documents work as shown.

use crate::support::documents::{assert_shown, assert_similar, blocks, shell, shell_with};
use crate::support::projects::{Shared, cargo, place};
use e2e_tests::java::Java;
use e2e_tests::jdks;
use e2e_tests::{scratch, workspace};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// The first pages of the guide, whose commands go on in one folder in this order.
const FIRST_STEPS: [&str; 4] = [
    "docs/get-started/coverage.md",
    "docs/get-started/trace.md",
    "docs/get-started/patch.md",
    "docs/get-started/profile.md",
];
/// The pages about plugins, whose commands go on in one folder in this order.
const PLUGIN_GUIDE: [&str; 4] = [
    "docs/get-started/plugin.md",
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
fn first_steps_do_what_their_pages_show() {
    for jdk in jdks::main_two() {
        let folder = checkout();
        for page in FIRST_STEPS {
            // A command that fails must not leave the program behind that runs in the background.
            let script = format!(
                "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n{}",
                blocks(page, "sh").join("\n")
            );
            let printed = shell(&jdk, folder.path(), &script);
            assert_shown(page, &printed);
            assert_similar(page, &printed);
        }
        let hello = folder.path().join("target/hello");
        assert_holds(&hello.join("recorded/html/index.html"), "bank");
        assert_holds(&hello.join("jacoco.xml"), "<class name=\"bank/Account\"");
        assert_holds(&hello.join("lcov.info"), "SF:");
        assert_holds(&hello.join("loaded/html/index.html"), "bank");
        assert_holds(&hello.join("trace.svg"), "bank.Bank.transfer");
        assert_holds(&hello.join("cpu.svg"), "Numbers.isPrime");
    }
}

#[test]
fn advice_does_what_its_pages_show() {
    const PAGES: [&str; 4] = [
        "docs/how-to/advice.md",
        "docs/how-to/from-btrace.md",
        "docs/how-to/from-byteman.md",
        "docs/how-to/from-bytebuddy.md",
    ];
    for jdk in jdks::main_two() {
        for page in PAGES {
            let folder = checkout();
            let printed = shell(&jdk, folder.path(), &blocks(page, "sh").join("\n"));
            assert_shown(page, &printed);
        }
    }
}

#[test]
fn first_steps_without_an_agent_measure_the_same() {
    let recipe = blocks("docs/static.md", "sh").swap_remove(0);
    let summary = blocks(FIRST_STEPS[0], "text").swap_remove(0);
    let total = summary.lines().last().expect("a table has a last line");
    let jdk = jdks::newest();
    let folder = checkout();
    let compile = "javac -g -d target/hello/classes examples/bank/src/bank/*.java examples/bank/src-11/bank/*.java";
    let printed = shell(&jdk, folder.path(), &format!("{compile}\n{recipe}"));
    assert!(
        printed.lines().any(|found| found == total),
        "{total}\n{printed}"
    );
}

#[test]
fn commands_of_the_guide_have_the_options_that_they_show() {
    let mut checked = 0;
    for page in pages() {
        for command in commands(&page) {
            let (subcommand, options) = options_of(&command);
            let help = Command::new(workspace::classhook())
                .args(&subcommand)
                .arg("--help")
                .env("COLUMNS", "1000")
                .output()
                .expect("the command runs");
            let help = String::from_utf8_lossy(&help.stdout);
            for option in options {
                checked += 1;
                let is_listed = help
                    .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-')
                    .any(|word| word == option);
                assert!(is_listed, "{page}: {command}: no {option} in\n{help}");
            }
        }
    }
    assert!(checked > 150, "{checked}");
}

/// Returns the pages of the guide, from its table of contents.
fn pages() -> Vec<String> {
    let summary = std::fs::read_to_string(workspace::root().join("docs/SUMMARY.md"));
    let summary = summary.expect("the table of contents");
    let links = summary.split("](").skip(1);
    let files = links.filter_map(|rest| rest.split(')').next());
    files.map(|file| format!("docs/{file}")).collect()
}

/// Returns the commands of a page that start with `classhook`, each on one line.
fn commands(page: &str) -> Vec<String> {
    let blocks = ["sh", "text", "bash"].map(|language| blocks(page, language).join("\n"));
    let text = blocks.join("\n").replace("\\\n", " ");
    let lines = text.lines().map(|line| line.trim_start_matches("$ "));
    lines
        .filter(|line| line.starts_with("classhook ") && !line.starts_with("classhook PID"))
        .map(str::to_owned)
        .collect()
}

/// Returns the subcommand of a command, and its own options without their values.
fn options_of(command: &str) -> (Vec<&str>, Vec<&str>) {
    let own = command.split(" -- ").next().unwrap_or_default();
    let own = own.split(['|', '#', '>']).next().unwrap_or_default();
    let words: Vec<&str> = own.split_whitespace().skip(1).collect();
    let count = match words[0] {
        "plugin" | "advice" => 2,
        _ => 1,
    };
    let (subcommand, rest) = words.split_at(count);
    let options = rest.iter().filter(|word| word.starts_with("--"));
    let names = options.filter_map(|word| word.split('=').next());
    (subcommand.to_vec(), names.collect())
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
        "plugin-projects/templates/rust/src/lib.rs",
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
