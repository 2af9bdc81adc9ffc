//! The allowed places of unsafe code: the list here, and the table of it in `docs/ARCHITECTURE.md`.

use super::finding::Finding;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::path::Path;

/// The only places with unsafe code: files, or folders with a slash at the end.
const ALLOWED: [&str; 2] = ["hook-agent/src/ffi/", "host/src/cache.rs"];
const DOCUMENT: &str = "docs/ARCHITECTURE.md";
/// The first cell of the table's head.
const HEAD: &str = "unsafe code in";

/// Checks whether a file may hold unsafe code.
pub fn is_allowed(file: &str) -> bool {
    ALLOWED.iter().any(|place| file.starts_with(place))
}

/// Formats the places for a message.
pub fn places() -> String {
    ALLOWED.join(", ")
}

/// Checks that each place is used by one of these `files`, and that the document lists the same places.
pub fn check(root: &Path, files: &BTreeSet<String>, findings: &mut Vec<Finding>) -> Result<()> {
    let text = std::fs::read_to_string(root.join(DOCUMENT))
        .with_context(|| format!("failed to read {DOCUMENT}"))?;
    check_used(files, findings);
    check_table(&text, findings);
    Ok(())
}

fn check_used(files: &BTreeSet<String>, findings: &mut Vec<Finding>) {
    for place in ALLOWED {
        if !files.iter().any(|file| file.starts_with(place)) {
            let what = "no unsafe code: take it off the list in xtask/src/tidy/unsafe_code.rs";
            findings.push(Finding::new(place, what));
        }
    }
}

fn check_table(text: &str, findings: &mut Vec<Finding>) {
    let listed = table(text);
    for place in ALLOWED.iter().filter(|place| !listed.contains(*place)) {
        let what = format!("expected `{place}` in the table of unsafe code, found none");
        findings.push(Finding::new(DOCUMENT, what));
    }
    for place in listed.iter().filter(|place| !ALLOWED.contains(place)) {
        let what = format!("`{place}` is no place where unsafe code is allowed");
        findings.push(Finding::new(DOCUMENT, what));
    }
}

/// Returns the first cells of the table's rows, without their backquotes.
fn table(text: &str) -> Vec<&str> {
    let rows = text.lines().map(first_cell);
    let rows = rows.skip_while(|cell| *cell != Some(HEAD)).skip(2);
    rows.map_while(|cell| cell)
        .map(|cell| cell.trim_matches('`'))
        .collect()
}

fn first_cell(line: &str) -> Option<&str> {
    let (cell, _) = line.strip_prefix('|')?.split_once('|')?;
    Some(cell.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(places: &[&str]) -> String {
        let rows = places
            .iter()
            .map(|place| format!("| `{place}` | a reason |\n"));
        format!(
            "# A document\n\n| crate | imports |\n|---|---|\n| `a` | `b` |\n\n| {HEAD} | because |\n|---|---|\n{}\nMore.\n",
            rows.collect::<String>()
        )
    }

    fn findings(check: impl FnOnce(&mut Vec<Finding>)) -> Vec<String> {
        let mut findings = Vec::new();
        check(&mut findings);
        findings.iter().map(Finding::to_string).collect()
    }

    #[test]
    fn table_lists_the_places_and_no_others() {
        let of = |places: &[&str]| findings(|found| check_table(&document(places), found));
        assert!(of(&ALLOWED).is_empty());
        assert_eq!(of(&ALLOWED[1..]).len(), 1);
        assert!(of(&[&ALLOWED[..], &["cli/src/"]].concat())[0].contains("cli/src/"));
        assert_eq!(findings(|found| check_table("", found)).len(), 2);
    }

    #[test]
    fn place_without_unsafe_code_is_found() {
        let of = |files: &[&str]| {
            let files = files.iter().map(|file| (*file).to_owned()).collect();
            findings(|found| check_used(&files, found))
        };
        let all = ["hook-agent/src/ffi/a.rs", "host/src/cache.rs"];
        assert!(of(&all).is_empty());
        assert!(of(&all[..1])[0].starts_with("host/src/cache.rs"));
    }

    #[test]
    fn file_is_allowed_below_a_folder_of_the_list() {
        assert!(is_allowed("hook-agent/src/ffi/a/b.rs"));
        assert!(!is_allowed("hook-agent/src/agent.rs"));
    }
}
