//! Codes of errors and warnings: product sources take them from `error-codes`, and each row of it is in use.

use super::finding::Finding;
use anyhow::Result;
use error_codes::table;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The registry.
const TABLE: &str = "error-codes/src/table.rs";
/// Folders without sources of the product, and the registry itself.
const OTHERS: [&str; 5] = ["tests", "fuzz", "xtask", "examples", "error-codes"];

/// Checks the sources in Rust for literals of codes, and all sources for codes that nothing uses.
pub fn check(root: &Path, files: &[PathBuf], findings: &mut Vec<Finding>) -> Result<()> {
    let mut unused: BTreeSet<&str> = table::ALL.iter().map(|code| code.code).collect();
    for file in files.iter().filter(|file| is_product(file)) {
        let text = std::fs::read_to_string(root.join(file))?;
        let text = without_tests(&text);
        unused.retain(|code| !text.contains(code));
        if file.extension().is_some_and(|extension| extension == "rs") {
            for line in literals(text) {
                let place = format!("{}:{line}", file.display());
                let what = "a literal of a code: take the constant from `errors::codes`, or from `error_codes::table`";
                findings.push(Finding::new(&place, what));
            }
        }
    }
    for code in unused {
        findings.push(Finding::new(TABLE, format!("no source uses {code}")));
    }
    Ok(())
}

/// Checks whether a file is a source of the product, in Rust or Java, that uses codes.
fn is_product(file: &Path) -> bool {
    let first = file.iter().next().and_then(|name| name.to_str());
    let is_source = file
        .extension()
        .is_some_and(|extension| extension == "rs" || extension == "java");
    let is_test = file.ends_with("tests.rs") || file.iter().any(|name| name == "tests");
    is_source && !is_test && !first.is_some_and(|name| OTHERS.contains(&name))
}

/// Returns a source without the module of tests at its end.
fn without_tests(text: &str) -> &str {
    text.split_once("#[cfg(test)]\nmod ")
        .map_or(text, |(text, _)| text)
}

/// Returns the numbers of the lines, from 1, that hold a literal of a code outside a comment.
fn literals(text: &str) -> impl Iterator<Item = usize> {
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim_start().starts_with("//"));
    lines
        .filter(|(_, line)| has_literal(line))
        .map(|(index, _)| index + 1)
}

fn has_literal(line: &str) -> bool {
    let mut literals = line.match_indices("\"H0");
    literals.any(|(at, _)| {
        let rest = line.as_bytes().get(at + 3..at + 7);
        rest.is_some_and(|rest| rest[..3].iter().all(u8::is_ascii_digit) && rest[3] == b'"')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_codes_are_found_outside_comments_and_tests() {
        let text = "// \"H0612\"\nlet a = \"H0612\";\nlet b = \"H06123\";\n\n#[cfg(test)]\nmod tests {\n\"H0612\"\n";
        assert_eq!(literals(without_tests(text)).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn tests_tools_and_the_table_are_not_sources_of_the_product() {
        for (file, product) in [
            ("cli/src/show.rs", true),
            ("static-mode/java/Runtime.java", true),
            ("cli/src/show/tests.rs", false),
            ("cli/tests/report.rs", false),
            ("tests/tests/main.rs", false),
            ("error-codes/src/table.rs", false),
            ("docs/errors.md", false),
        ] {
            assert_eq!(is_product(Path::new(file)), product, "{file}");
        }
    }
}
