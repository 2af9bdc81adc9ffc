//! Tables about events of the JVM in documents, generated from `jvm-event-table`.

use super::finding::Finding;
use anyhow::{Context, Result};
use jvm_event_table::{EventKind, requests};
use std::path::Path;

/// Rows of a document that are generated: those from the line that starts with `first`, as many as there are rows.
struct Rows {
    document: &'static str,
    first: &'static str,
    rows: fn() -> Vec<String>,
}

const ROWS: [Rows; 3] = [
    Rows {
        document: "docs/how-to/jvm-events.md",
        first: "| `samples` | `jvm-events.samples` |",
        rows: kinds,
    },
    Rows {
        document: "docs/options.md",
        first: "| `jvm-events.samples`",
        rows: || {
            let grants = list(&EventKind::GRANTS);
            vec![format!(
                "| {grants} | the function of that name in the interface `jvm-events` ([plugins](how-to/jvm-events.md)) |"
            )]
        },
    },
    Rows {
        document: "docs/options.md",
        first: "| `jvm-requests.threads`",
        rows: || {
            let grants = list(&requests::GRANTS);
            vec![format!(
                "| {grants} | the function of that name in `jvm-requests` ([plugins](how-to/jvm-events.md#questions-to-the-jvm)) |"
            )]
        },
    },
];

/// Compares the rows with the documents; `BLESS=1` writes them.
pub fn check(root: &Path, findings: &mut Vec<Finding>) -> Result<()> {
    for rows in &ROWS {
        let path = root.join(rows.document);
        let text = std::fs::read_to_string(&path);
        let text = text.with_context(|| format!("failed to read {}", rows.document))?;
        let Some(new) = replaced(&text, rows.first, &(rows.rows)()) else {
            let what = format!("expected a line that starts with {}", rows.first);
            findings.push(Finding::new(rows.document, what));
            continue;
        };
        if new == text {
            continue;
        }
        if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
            std::fs::write(&path, new)
                .with_context(|| format!("failed to write {}", rows.document))?;
            continue;
        }
        let what = "its rows about events differ from jvm-event-table: `BLESS=1 cargo xtask tidy` writes them";
        findings.push(Finding::new(rows.document, what));
    }
    Ok(())
}

/// Replaces the table rows from the one that starts with `first`: a single row by a single one, else all to the end of
/// the table.
fn replaced(text: &str, first: &str, rows: &[String]) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let start = lines.iter().position(|line| line.starts_with(first))?;
    let table = lines[start..]
        .iter()
        .take_while(|line| line.starts_with('|'));
    let end = start + if rows.len() == 1 { 1 } else { table.count() };
    let rows = rows.iter().map(|row| format!("{row}\n"));
    let before = lines[..start].iter().map(|line| (*line).to_owned());
    let after = lines[end..].iter().map(|line| (*line).to_owned());
    Some(before.chain(rows).chain(after).collect())
}

/// The kinds of events, with their grants.
fn kinds() -> Vec<String> {
    let row = |kind: EventKind| {
        let details = match kind.details() {
            "" => String::new(),
            details => format!(". {}", details.trim_end_matches('.')),
        };
        let (name, grant, text) = (kind.name(), kind.grant(), kind.text());
        format!("| `{name}` | `{grant}` | {text}{details} |")
    };
    EventKind::ALL.map(row).to_vec()
}

fn list(grants: &[&str]) -> String {
    let grants: Vec<String> = grants.iter().map(|grant| format!("`{grant}`")).collect();
    grants.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_replaced_to_the_end_of_the_table() {
        let text = "| a | b |\n|---|---|\n| `x` | old |\n| `y` | old |\n\nafter\n";
        let rows = ["| `x` | new |", "| `z` | new |", "| `w` | new |"].map(str::to_owned);
        let expected =
            "| a | b |\n|---|---|\n| `x` | new |\n| `z` | new |\n| `w` | new |\n\nafter\n";
        assert_eq!(replaced(text, "| `x`", &rows).as_deref(), Some(expected));
        let one = replaced(text, "| `x`", &rows[..1]).unwrap();
        assert!(one.contains("| `x` | new |\n| `y` | old |"));
        assert_eq!(replaced(text, "| `q`", &rows), None);
    }
}
