//! The parts of a plugin's cost for a class: the check of its name, the plugin's own code, and the splice. Measured are
//! the bundled plugins, and those that `classhook plugin new` creates in each language.

use crate::jdks::Jdk;
use crate::workspace::{Workspace, in_path, output_of, say};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// A language of projects, and its tool besides cargo.
const LANGUAGES: [(&str, Option<&str>); 4] = [
    ("rust", None),
    ("c", Some("clang")),
    ("python", Some("componentize-py")),
    ("js", Some("componentize-js")),
];
const MODULE: &str = "jrt:java.base";

/// µs of CPU time for a class.
#[derive(Debug, PartialEq)]
struct Costs {
    select: f64,
    plugin: f64,
    splice: f64,
    /// The total of a plugin that requests nothing.
    nothing: f64,
}

/// Measures and prints. A language without its compiler is left out, with a line that says so.
pub fn run(workspace: &Workspace, jdk: &Jdk, folder: &Path, rounds: u32) -> Result<()> {
    say("bench plugins: languages");
    let command = |words: &[&str]| {
        let mut command = Command::new(workspace.product("classhook"));
        command.arg("plugin").args(words).current_dir(folder);
        command.env("JAVA_HOME", &jdk.home);
        command.env("PATH", e2e_tests::workspace::path_with_compilers());
        output_of(&mut command)
    };
    let rounds = rounds.to_string();
    let costs = |plugin: &str| {
        let words = ["bench", plugin, "--classes", MODULE, "--rounds", &rounds];
        let text = command(&words)?;
        read(&text).with_context(|| format!("expected the table of `plugin bench`, found {text}"))
    };
    println!(
        "\n{:<40}{:>10}{:>10}{:>10}",
        format!("us/class, {MODULE} of JDK {}", jdk.version),
        "select",
        "wasm",
        "splice"
    );
    let line = |title: &str, found: &Costs| {
        let Costs {
            select,
            plugin,
            splice,
            ..
        } = found;
        println!("{title:<40}{select:>10.2}{plugin:>10.2}{splice:>10.2}");
    };
    for bundled in ["coverage", "trace"] {
        let found = costs(bundled)?;
        if bundled == "coverage" {
            println!(
                "{:<40}{:>30.2}",
                "a plugin that asks for nothing, in all", found.nothing
            );
        }
        line(bundled, &found);
    }
    for (language, compiler) in LANGUAGES {
        let missing = compiler.filter(|name| !is_there(workspace, name));
        if let Some(compiler) = missing {
            say(format!("{language} is left out: there is no {compiler}"));
            continue;
        }
        let project = format!("bench-{language}");
        if !folder.join(&project).exists() {
            command(&["new", "--lang", language, &project])?;
        }
        line(&format!("plugin new --lang {language}"), &costs(&project)?);
    }
    Ok(())
}

/// Checks for a program in `PATH` or in the folders of the tests.
fn is_there(workspace: &Workspace, program: &str) -> bool {
    let ours = ["clang/bin", "python/bin", "javascript/node_modules/.bin"];
    let mut ours = ours
        .iter()
        .map(|folder| workspace.target(folder).join(program));
    in_path(program).is_some() || ours.any(|file| file.exists())
}

/// Parses the numbers at the end of the lines of `plugin bench`.
fn read(table: &str) -> Option<Costs> {
    let numbers = |title: &str| {
        let mut lines = table.lines();
        let line = lines.find_map(|line| line.split_once(title))?;
        let numbers = line.1.split_whitespace().map(str::parse::<f64>);
        numbers.collect::<std::result::Result<Vec<_>, _>>().ok()
    };
    let asked = numbers(", asked")?;
    Some(Costs {
        select: *numbers(", by names alone")?.first()?,
        plugin: *asked.get(1)?,
        splice: *asked.get(2)?,
        nothing: *numbers("a plugin that asks for nothing")?.first()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_read_off_the_table() {
        let table = "2 classes of 1.0 KB on average, µs for a class\n\
            \x20                   in all    plugin    splice   changed\n\
            mine, by names alone     0.05\n\
            mine, asked             12.50      8.25      4.25         2\n\
            mine, known              4.25                4.25         2\n\
            a plugin that asks for nothing  1.75                      0\n";
        let expected = Costs {
            select: 0.05,
            plugin: 8.25,
            splice: 4.25,
            nothing: 1.75,
        };
        assert_eq!(read(table), Some(expected));
        assert_eq!(read("nothing of the kind"), None);
    }
}
