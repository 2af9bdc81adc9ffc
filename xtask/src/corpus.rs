//! `cargo xtask corpus`: the corpus tests with every class instead of a fixed tenth, and the table of what they counted.

use crate::setup;
use crate::workspace::{Workspace, say, step};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The document that holds the table, between these two lines.
const DOCUMENT: &str = "docs/rewriter.md";
const BEGIN: &str = "<!-- what `cargo xtask corpus` counted -->\n";
const END: &str = "<!-- end of what it counted -->\n";

/// One corpus under one kind of edit, as `tests/tests/corpora.rs` leaves it.
#[derive(Deserialize)]
struct Row {
    corpus: String,
    kind: String,
    classes: u64,
    rewritten: u64,
    methods: u64,
    edits: u64,
    skipped: BTreeMap<String, u64>,
    verified: u64,
    broken: u64,
    refused_before: u64,
}

/// Sets up, runs the corpus tests on every class and writes the table.
pub fn run(workspace: &Workspace) -> Result<()> {
    setup::run(workspace, &setup::Options::default())?;
    let report = workspace.target("corpus/report/whole");
    if report.exists() {
        std::fs::remove_dir_all(&report)?;
    }
    let mut test = workspace.cargo(["test", "--quiet", "--release", "-p", "e2e-tests"]);
    test.args(["--test", "corpora"])
        .env("CLASSHOOK_CORPUS", "all");
    step("every class of every corpus", &mut test)?;
    let document = workspace.root().join(DOCUMENT);
    let text = std::fs::read_to_string(&document)?;
    let text = with_table(&text, &table(&rows(&report)?))?;
    std::fs::write(&document, text)?;
    say(format!("wrote the table in {DOCUMENT}"));
    Ok(())
}

fn rows(report: &Path) -> Result<Vec<Row>> {
    let mut files: Vec<_> = std::fs::read_dir(report)
        .with_context(|| format!("expected counts in {}", report.display()))?
        .collect::<std::io::Result<Vec<_>>>()?;
    files.sort_by_key(std::fs::DirEntry::file_name);
    let mut rows = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file.path())?;
        rows.extend(serde_json::from_str::<Vec<Row>>(&text)?);
    }
    Ok(rows)
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| corpus | edits | classes | changed | methods | insertions | methods left alone | verified | new errors | refused before |\n|---|---|--:|--:|--:|--:|---|--:|--:|--:|\n",
    );
    for row in rows {
        let skipped: Vec<String> = row
            .skipped
            .iter()
            .map(|(reason, count)| format!("{count} `{reason}`"))
            .collect();
        let skipped = if skipped.is_empty() {
            "none".to_owned()
        } else {
            skipped.join(", ")
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {skipped} | {} | {} | {} |",
            row.corpus,
            row.kind,
            row.classes,
            row.rewritten,
            row.methods,
            row.edits,
            row.verified,
            row.broken,
            row.refused_before
        );
    }
    text
}

/// The document with another table between its two lines.
fn with_table(document: &str, table: &str) -> Result<String> {
    let expected = || {
        format!(
            "expected the lines `{}` and `{}` in {DOCUMENT}",
            BEGIN.trim(),
            END.trim()
        )
    };
    let (before, rest) = document.split_once(BEGIN).with_context(expected)?;
    let (_, after) = rest.split_once(END).with_context(expected)?;
    Ok(format!("{before}{BEGIN}{table}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_replaces_the_one_before() {
        let row = Row {
            corpus: "Scala".to_owned(),
            kind: "entry".to_owned(),
            classes: 9,
            rewritten: 8,
            methods: 70,
            edits: 71,
            skipped: BTreeMap::from([("PoolFull".to_owned(), 2)]),
            verified: 8,
            broken: 0,
            refused_before: 1,
        };
        let table = table(&[row]);
        let row = "| Scala | entry | 9 | 8 | 70 | 71 | 2 `PoolFull` | 8 | 0 | 1 |\n";
        assert!(table.ends_with(row), "{table}");
        let old = format!("a\n{BEGIN}old\n{END}b\n");
        let new = with_table(&old, &table).expect("both lines are there");
        assert_eq!(new, format!("a\n{BEGIN}{table}{END}b\n"));
        assert!(with_table("a\n", &table).is_err());
    }
}
