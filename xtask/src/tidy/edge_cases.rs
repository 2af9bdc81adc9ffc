//! `docs/edge-cases.md` and `docs/jvmpi.md`: every row names its test or a reason, and every named test exists.

use super::finding::Finding;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const TABLE: &str = "docs/edge-cases.md";
/// The number of cases. They are numbered from 1, without gaps.
const CASES: usize = 72;

const JVMPI: &str = "docs/jvmpi.md";
/// The number of JVMPI's events and functions.
const OF_JVMPI: usize = 37 + 27;

/// Checks the table against the functions of all sources.
pub fn check(root: &Path, files: &[PathBuf], findings: &mut Vec<Finding>) -> Result<()> {
    let table = std::fs::read_to_string(root.join(TABLE))
        .with_context(|| format!("failed to read {TABLE}"))?;
    let mut functions = BTreeSet::new();
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|extension| extension == "rs"))
    {
        let text = std::fs::read_to_string(root.join(file))?;
        functions.extend(function_names(&text).map(str::to_owned));
    }
    check_table(&table, &functions, findings);
    let table = std::fs::read_to_string(root.join(JVMPI))
        .with_context(|| format!("failed to read {JVMPI}"))?;
    check_jvmpi(&table, &functions, findings);
    Ok(())
}

/// Checks that each event and function has a row with a test or a reason.
fn check_jvmpi(table: &str, functions: &BTreeSet<String>, findings: &mut Vec<Finding>) {
    let mut names = BTreeSet::new();
    for (index, line) in table.lines().enumerate() {
        let Some(cells) = line.strip_prefix("| `") else {
            continue;
        };
        let place = format!("{JVMPI}:{}", index + 1);
        let cells: Vec<&str> = cells.split('|').map(str::trim).collect();
        let [of, today, shown_by, ""] = cells.as_slice() else {
            findings.push(Finding::new(&place, "expected three cells"));
            continue;
        };
        names.extend(of.split(", ").map(|name| name.trim_matches('`').to_owned()));
        if today.is_empty() || shown_by.is_empty() {
            findings.push(Finding::new(&place, "expected a test or a reason"));
        }
        for test in named(shown_by).filter(|test| !functions.contains(*test)) {
            let text = format!("there is no test named {test}");
            findings.push(Finding::new(&place, text));
        }
    }
    if names.len() != OF_JVMPI {
        let text = format!(
            "expected {OF_JVMPI} events and functions, found {}",
            names.len()
        );
        findings.push(Finding::new(JVMPI, text));
    }
}

/// Returns the texts between backquotes that can be names of functions.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let names = text.split('`').skip(1).step_by(2);
    names.filter(|name| is_identifier(name) && name.contains('_'))
}

fn check_table(table: &str, functions: &BTreeSet<String>, findings: &mut Vec<Finding>) {
    let rows: Vec<(usize, Row<'_>)> = table
        .lines()
        .enumerate()
        .filter_map(|(index, line)| Some((index + 1, Row::of(line)?)))
        .collect();
    let numbers: Vec<usize> = rows.iter().map(|(_, row)| row.number).collect();
    if numbers != (1..=CASES).collect::<Vec<_>>() {
        findings.push(Finding::new(
            TABLE,
            format!("expected the cases 1 to {CASES} in order, found {numbers:?}"),
        ));
    }
    for (line, row) in rows {
        let place = format!("{TABLE}:{line}");
        if row.covered_by.is_empty() {
            findings.push(Finding::new(
                &place,
                "expected a test, or the part of the product it waits for",
            ));
        }
        for test in row.tests().filter(|test| !functions.contains(*test)) {
            findings.push(Finding::new(
                &place,
                format!("there is no test named {test}"),
            ));
        }
    }
}

/// `| number | case | covered by |`
struct Row<'t> {
    number: usize,
    covered_by: &'t str,
}

impl<'t> Row<'t> {
    fn of(line: &'t str) -> Option<Self> {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        let number = cells.next()?.parse().ok()?;
        Some(Self {
            number,
            covered_by: cells.nth(1)?,
        })
    }

    fn tests(&self) -> impl Iterator<Item = &'t str> {
        named(self.covered_by)
    }
}

/// Returns every word behind `fn`, which includes tests made by macros.
fn function_names(text: &str) -> impl Iterator<Item = &str> {
    text.split("fn ").skip(1).map(|rest| {
        let end = rest
            .find(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
            .unwrap_or(rest.len());
        &rest[..end]
    })
}

fn is_identifier(name: &str) -> bool {
    name.chars()
        .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(covered_by: &str) -> Vec<String> {
        let table: String = (1..=CASES)
            .map(|number| format!("| {number} | case | {covered_by} |\n"))
            .collect();
        let functions = BTreeSet::from(["a_test".to_owned()]);
        let mut findings = Vec::new();
        check_table(&table, &functions, &mut findings);
        findings.iter().map(Finding::to_string).collect()
    }

    #[test]
    fn named_test_must_exist() {
        assert!(findings("`a_test`, on `jsr`").is_empty());
        assert_eq!(findings("`a_test`, `another_test`").len(), CASES);
    }

    #[test]
    fn case_without_an_answer_is_found() {
        assert_eq!(findings("").len(), CASES);
    }

    #[test]
    fn missing_case_is_found() {
        let mut findings = Vec::new();
        check_table("| 1 | case | later |", &BTreeSet::new(), &mut findings);
        assert_eq!(findings.len(), 1);
    }

    #[test]
    fn row_of_jvmpi_without_a_test_or_a_reason_is_found() {
        let functions = BTreeSet::from(["a_test".to_owned()]);
        let found = |last: &str| {
            let rows = (0..OF_JVMPI).map(|number| format!("| `E{number}` | so | {last} |\n"));
            let mut findings = Vec::new();
            check_jvmpi(&rows.collect::<String>(), &functions, &mut findings);
            findings.len()
        };
        assert_eq!((found("`a_test`"), found("gone")), (0, 0));
        assert_eq!((found(""), found("`no_test`")), (OF_JVMPI, OF_JVMPI));
        let mut findings = Vec::new();
        check_jvmpi("| `A` | so | gone |", &functions, &mut findings);
        assert_eq!(findings.len(), 1);
    }

    #[test]
    fn names_are_taken_from_sources() {
        assert_eq!(
            function_names("fn a_test() {} pub fn b<T>()").collect::<Vec<_>>(),
            ["a_test", "b"]
        );
    }
}
