//! `cargo xtask corpus`: runs the corpus tests with every class, instead of an eightieth in rotation, and writes their
//! counts.

use crate::setup;
use crate::workspace::{Workspace, say, step};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// The document that holds the summary, between these two lines.
const DOCUMENT: &str = "docs/rewriter.md";
const BEGIN: &str =
    "<!-- summary of docs/rewriter-corpus.csv, written by `cargo xtask corpus` -->\n";
const END: &str = "<!-- end of the summary -->\n";
/// A test that has JVMs judge changed classes; this task changes a million.
const MUTATIONS: &str = "rewriter::mutations";
/// A test of a component that takes long to build.
const PYTHON: &str = "plugins::languages::plugin_in_python";
const HOSTILE: &str = "plugins::hostile::hostile_plugins";
const JAVASCRIPT: &str = "plugins::languages::plugin_in_javascript";
/// A test with a real registry, which only this task fetches.
const REGISTRY: &str = "plugins::sharing::real_registry";
/// A test with Gradle, which not every machine has.
const GRADLE: &str = "coverage::gradle";
/// Tests on every release; only this task fetches the newest.
const RELEASES: [&str; 3] = [
    "agent::edge_releases",
    "coverage::java_cases",
    "trace::spans",
];
/// A test that kills JVMs; this task kills more of them.
const KILLS: &str = "agent::durability::sixteen_killed";
/// A test of Maven's site, and the files of the site.
const SITE: &str = "coverage::maven_site";
const MAVEN_SITE: &str = include_str!("../../tests/maven-site.sha256");
/// A test with report readers, which only this task fetches.
const READERS: &str = "coverage::other_tools";
/// A test beside a profiler, which takes some seconds.
const PROFILER: &str = "profile::beside::hot_methods";
/// A test with Chromium, which not every machine has.
const BROWSER: &str = "coverage::browser";
/// The file with the counts of each corpus and kind of edit.
const COUNTS: &str = "docs/rewriter-corpus.csv";
const HEAD: &str = "corpus,edits,classes,changed,methods,insertions,methods left alone,verified,new errors,refused before\n";

/// One corpus under one kind of edit, as `tests/tests/rewriter/corpora.rs` writes it.
#[derive(Clone, Default, Deserialize)]
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

/// Sets up, runs the corpus tests on every class, and writes their counts.
pub fn run(workspace: &Workspace) -> Result<()> {
    setup::run(workspace, &setup::Options::default())?;
    setup::componentize_py(workspace)?;
    setup::componentize_js(workspace)?;
    setup::docker_registry(workspace)?;
    setup::newer_jvms(workspace)?;
    setup::report_readers(workspace)?;
    setup::maven_files(workspace, MAVEN_SITE)?;
    e2e_tests::browser::program()
        .context("expected `chromium` in PATH, found none; on Debian: apt-get install chromium")?;
    e2e_tests::gradle::home().context(crate::maven_plugin::GRADLE)?;
    let report = workspace.target("corpus/report/whole");
    if report.exists() {
        std::fs::remove_dir_all(&report)?;
    }
    let mut test = workspace.cargo(["test", "--quiet", "--release", "-p", "e2e-tests"]);
    test.args([
        "--test",
        "end-to-end",
        "--",
        "rewriter::corpora",
        MUTATIONS,
        PYTHON,
        JAVASCRIPT,
        HOSTILE,
        REGISTRY,
        GRADLE,
        KILLS,
        READERS,
        SITE,
        PROFILER,
        BROWSER,
    ])
    .args(RELEASES)
    .env("CLASSHOOK_ROTATION", "all");
    step("every class of every corpus", &mut test)?;
    let rows = rows(&report)?;
    std::fs::write(workspace.root().join(COUNTS), csv(&rows))?;
    let document = workspace.root().join(DOCUMENT);
    let text = std::fs::read_to_string(&document)?;
    let text = with_table(&text, &table(&summary(&rows)))?;
    std::fs::write(&document, text)?;
    say(format!("wrote {COUNTS} and its summary in {DOCUMENT}"));
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

fn csv(rows: &[Row]) -> String {
    let mut text = HEAD.to_owned();
    for row in rows {
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{}",
            row.corpus,
            row.kind,
            row.classes,
            row.rewritten,
            row.methods,
            row.edits,
            row.skipped("; "),
            row.verified,
            row.broken,
            row.refused_before
        );
    }
    text
}

/// Returns one row for each kind of edit, over all corpora, in the order of the rows.
fn summary(rows: &[Row]) -> Vec<Row> {
    let mut sums: Vec<Row> = Vec::new();
    for row in rows {
        match sums.iter_mut().find(|sum| sum.kind == row.kind) {
            Some(sum) => sum.add(row),
            None => sums.push(row.clone()),
        }
    }
    sums
}

impl Row {
    fn add(&mut self, other: &Self) {
        self.classes += other.classes;
        self.rewritten += other.rewritten;
        self.methods += other.methods;
        self.edits += other.edits;
        self.verified += other.verified;
        self.broken += other.broken;
        self.refused_before += other.refused_before;
        for (reason, count) in &other.skipped {
            *self.skipped.entry(reason.clone()).or_default() += count;
        }
    }

    /// Formats the unchanged methods, by reason.
    fn skipped(&self, separator: &str) -> String {
        let reasons = self.skipped.iter();
        let reasons: Vec<String> = reasons
            .map(|(reason, count)| format!("{count} {reason}"))
            .collect();
        if reasons.is_empty() {
            "none".to_owned()
        } else {
            reasons.join(separator)
        }
    }
}

/// Formats the rows as a table in Markdown, without their corpora.
fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| edits | classes | changed | methods | insertions | methods left alone | verified | new errors | refused before |\n|---|--:|--:|--:|--:|---|--:|--:|--:|\n",
    );
    for row in rows {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            row.kind,
            row.classes,
            row.rewritten,
            row.methods,
            row.edits,
            row.skipped(", "),
            row.verified,
            row.broken,
            row.refused_before
        );
    }
    text
}

/// Returns the document with this table between its two lines.
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

    fn row(corpus: &str) -> Row {
        Row {
            corpus: corpus.to_owned(),
            kind: "entry".to_owned(),
            classes: 9,
            rewritten: 8,
            methods: 70,
            edits: 71,
            skipped: BTreeMap::from([("PoolFull".to_owned(), 2)]),
            verified: 8,
            broken: 0,
            refused_before: 1,
        }
    }

    /// Parses a row that [`csv`] has written.
    fn parse(line: &str) -> Row {
        let items: Vec<&str> = line.split(',').collect();
        let number = |index: usize| items[index].parse().expect("a number");
        let skipped = items[6].split("; ").filter(|reason| *reason != "none");
        let skipped = skipped.map(|reason| {
            let (count, name) = reason.split_once(' ').expect("count and reason");
            (name.to_owned(), count.parse().expect("a number"))
        });
        Row {
            corpus: items[0].to_owned(),
            kind: items[1].to_owned(),
            classes: number(2),
            rewritten: number(3),
            methods: number(4),
            edits: number(5),
            skipped: skipped.collect(),
            verified: number(7),
            broken: number(8),
            refused_before: number(9),
        }
    }

    #[test]
    fn summary_replaces_the_one_before() {
        let table = table(&summary(&[row("Scala"), row("Kotlin")]));
        let line = "| entry | 18 | 16 | 140 | 142 | 4 PoolFull | 16 | 0 | 2 |\n";
        assert!(table.ends_with(line), "{table}");
        let old = format!("a\n{BEGIN}old\n{END}b\n");
        let new = with_table(&old, &table).expect("both lines are there");
        assert_eq!(new, format!("a\n{BEGIN}{table}{END}b\n"));
        assert!(with_table("a\n", &table).is_err());
    }

    #[test]
    fn document_has_the_summary_of_the_counts() {
        let workspace = Workspace::find().expect("the workspace");
        let read = |file: &str| {
            std::fs::read_to_string(workspace.root().join(file)).expect("the file is there")
        };
        let counts = read(COUNTS);
        let rows: Vec<Row> = counts.lines().skip(1).map(parse).collect();
        assert_eq!(csv(&rows), counts);
        let document = read(DOCUMENT);
        let summary = table(&summary(&rows));
        assert_eq!(
            with_table(&document, &summary).expect("both lines"),
            document
        );
    }
}
