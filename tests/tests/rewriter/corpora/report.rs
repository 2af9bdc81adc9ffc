//! The counts, for people and for the table in the documentation.

use rewriter::SkipReason;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// One corpus under one kind of edit.
#[derive(Default, Serialize)]
pub struct Row {
    pub corpus: String,
    pub kind: String,
    pub classes: u64,
    /// Changed classes.
    pub rewritten: u64,
    /// Changed methods.
    pub methods: u64,
    pub edits: u64,
    /// Unchanged methods, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Classes that the verifier checked.
    pub verified: u64,
    /// Classes with errors that the original does not have.
    pub broken: u64,
    /// Classes whose original the verifier refuses, too.
    pub refused_before: u64,
}

impl Row {
    pub fn new(corpus: &str, kind: &str) -> Self {
        Self {
            corpus: corpus.to_owned(),
            kind: kind.to_owned(),
            ..Self::default()
        }
    }

    /// Adds the counts of one class.
    pub fn add(&mut self, one: &Self) {
        self.classes += one.classes;
        self.rewritten += one.rewritten;
        self.methods += one.methods;
        self.edits += one.edits;
        for (reason, count) in &one.skipped {
            *self.skipped.entry(reason.clone()).or_default() += count;
        }
    }

    /// Asserts that nearly every method was changed, and that the verifier checked every changed class.
    pub fn assert_sound(&self) {
        let skipped: u64 = self.skipped.values().sum();
        assert!(
            skipped * 50 <= self.methods + self.classes,
            "too many methods were left alone: {self}"
        );
        // Few classes have a loop or a private member, and some compilers emit no lines.
        let least = if self.kind == "entry" {
            self.classes / 2
        } else {
            0
        };
        assert!(
            self.rewritten > least,
            "too few classes were changed: {self}"
        );
        assert!(
            self.verified == 0 || self.verified == self.rewritten,
            "the verifier did not see all: {self}"
        );
        assert_eq!(self.broken, 0, "{self}");
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {}: {} classes, {} changed, {} methods, {} edits, left alone: {:?}",
            self.corpus,
            self.kind,
            self.classes,
            self.rewritten,
            self.methods,
            self.edits,
            self.skipped
        )
    }
}

/// Returns the name of the reason.
pub fn reason(reason: &SkipReason) -> String {
    let text = format!("{reason:?}");
    text.split([' ', '(']).next().unwrap_or_default().to_owned()
}

/// Adds the verifier's counts from its lines: name of the pack, classes, broken, refused before, separated by tabs.
pub fn verified(rows: &mut [Row], output: &str) {
    println!("{}", output.trim());
    for line in output.lines() {
        let items: Vec<&str> = line.split('\t').collect();
        let [pack, numbers @ ..] = items.as_slice() else {
            continue;
        };
        let numbers: Vec<u64> = numbers
            .iter()
            .filter_map(|number| number.parse().ok())
            .collect();
        let kind = pack.rsplit_once('-').map_or("", |(kind, _)| kind);
        let row = rows.iter_mut().find(|row| row.kind == kind);
        if let (Some(row), [verified, broken, before]) = (row, numbers.as_slice()) {
            row.verified += verified;
            row.broken += broken;
            row.refused_before += before;
        }
    }
}

/// Writes the rows for `cargo xtask corpus`.
pub fn write(folder: &Path, title: &str, whole: bool, rows: &[Row]) {
    let folder = folder.join(if whole { "whole" } else { "part" });
    std::fs::create_dir_all(&folder).expect("target/ is writable");
    let text = serde_json::to_string_pretty(rows).expect("rows are JSON");
    std::fs::write(folder.join(format!("{title}.json")), text).expect("target/ is writable");
}
