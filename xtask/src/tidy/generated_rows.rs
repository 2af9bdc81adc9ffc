//! Rows of tables in documents that are generated from the tables of crates: events from `jvm-event-table`, codes from
//! `error-codes`.

use super::finding::Finding;
use anyhow::{Context, Result};
use error_codes::ErrorCode;
use jvm_event_table::{EventKind, requests};
use std::path::Path;

/// Generated rows of a document.
struct Rows {
    document: &'static str,
    /// The beginning of the first row. All rows to the end of the table are generated, or this row alone if there is only
    /// one.
    first: String,
    rows: Vec<String>,
}

/// Compares the rows with the documents; `BLESS=1` writes them.
pub fn check(root: &Path, findings: &mut Vec<Finding>) -> Result<()> {
    for rows in events().into_iter().chain(codes()) {
        let path = root.join(rows.document);
        let text = std::fs::read_to_string(&path);
        let text = text.with_context(|| format!("failed to read {}", rows.document))?;
        let Some(new) = replaced(&text, &rows.first, &rows.rows) else {
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
        let what = format!(
            "the rows from `{}` on differ from their crate: `BLESS=1 cargo xtask tidy` writes them",
            rows.first
        );
        findings.push(Finding::new(rows.document, what));
    }
    Ok(())
}

/// Kinds of events and requests, with their grants.
fn events() -> [Rows; 3] {
    let (kinds, requests) = (list(&EventKind::GRANTS), list(&requests::GRANTS));
    [
        Rows {
            document: "docs/how-to/jvm-events.md",
            first: "| `samples` | `jvm-events.samples` |".to_owned(),
            rows: event_kinds(),
        },
        Rows {
            document: "docs/options.md",
            first: "| `jvm-events.samples`".to_owned(),
            rows: vec![format!(
                "| {kinds} | the function of that name in the interface `jvm-events` ([plugins](how-to/jvm-events.md)) |"
            )],
        },
        Rows {
            document: "docs/options.md",
            first: "| `jvm-requests.threads`".to_owned(),
            rows: vec![format!(
                "| {requests} | the function of that name in `jvm-requests` ([plugins](how-to/jvm-events.md#questions-to-the-jvm)) |"
            )],
        },
    ]
}

/// Codes of errors and warnings: one table for each section.
fn codes() -> Vec<Rows> {
    let sections = error_codes::table::ALL.chunk_by(|one, next| one.section() == next.section());
    let table = |codes: &[ErrorCode]| Rows {
        document: "docs/errors.md",
        first: format!("| {} |", codes[0].code),
        rows: code_rows(codes),
    };
    sections.map(table).collect()
}

/// Rows of a section. Columns in which no code has an entry are left out.
fn code_rows(codes: &[ErrorCode]) -> Vec<String> {
    let statuses = codes.iter().any(|code| !code.statuses.is_empty());
    let remedies = codes.iter().any(|code| !code.remedy.is_empty());
    let row = |code: &ErrorCode| {
        let mut row = format!("| {} |", code.code);
        if statuses {
            let all: Vec<String> = code.statuses.iter().map(u8::to_string).collect();
            let all = if all.is_empty() {
                "–".to_owned()
            } else {
                all.join(", ")
            };
            row += &format!(" {all} |");
        }
        row += &format!(" {} |", code.meaning.replace('|', "\\|"));
        if remedies {
            row += &format!(" {} |", code.remedy.replace('|', "\\|"));
        }
        row
    };
    codes.iter().map(row).collect()
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
fn event_kinds() -> Vec<String> {
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
