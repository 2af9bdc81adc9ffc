//! Groups of commands in `classhook --help`. clap has one list of subcommands only.

use std::fmt::Write;

use clap::Command;

/// A heading, and the commands below it in their order.
pub type Group = (&'static str, &'static [&'static str]);

/// The groups in the order of the help.
pub const GROUPS: [Group; 7] = [
    (
        "Measure",
        &["coverage", "trace", "profile", "run", "collect"],
    ),
    (
        "Look into a running JVM",
        &["ps", "top", "watch", "status", "classes", "patches", "dump"],
    ),
    (
        "Change a running JVM",
        &[
            "attach", "enable", "disable", "reload", "reset", "test", "patch", "rollback", "off",
        ],
    ),
    (
        "Reports",
        &["report", "check", "merge", "tests-for", "affected"],
    ),
    (
        "Without a JVM",
        &["instrument", "explain", "inspect", "verify"],
    ),
    ("Plugins", &["advice", "plugin", "compile-plugin"]),
    ("Set up", &["doctor", "error", "completions"]),
];

/// Column of the help text behind the names.
const COLUMN: usize = 16;

/// Returns the help template of `classhook`: about, usage, the groups, options, and the examples in `--help`.
#[must_use]
pub fn help_template(classhook: &Command) -> String {
    let header = classhook.get_styles().get_header();
    let literal = classhook.get_styles().get_literal();
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (heading, names) in GROUPS {
        let _ = writeln!(text, "\n{header}{heading}:{header:#}"); // a string takes everything
        for name in names {
            let about = classhook
                .find_subcommand(name)
                .and_then(Command::get_about)
                .map(ToString::to_string)
                .unwrap_or_default();
            let _ = writeln!(text, "  {literal}{name:<COLUMN$}{literal:#}{about}");
        }
    }
    text + &format!(
        "\n{header}Options:{header:#}\n{{options}}\n\n\
         `classhook help COMMAND` shows the options of a command.{{after-help}}"
    )
}
