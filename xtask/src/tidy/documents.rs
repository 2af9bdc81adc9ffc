//! Markdown: links are valid, named source files exist, and a line holds one sentence.

use super::finding::Finding;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The table of contents of the guide.
const CONTENTS: &str = "docs/SUMMARY.md";

/// Checks every Markdown file of the project.
pub fn check(root: &Path, files: &[PathBuf], findings: &mut Vec<Finding>) -> Result<()> {
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|extension| extension == "md"))
    {
        let text = std::fs::read_to_string(root.join(file))
            .with_context(|| format!("failed to read {}", file.display()))?;
        check_text(root, file, &text, findings);
    }
    let contents = std::fs::read_to_string(root.join(CONTENTS))
        .with_context(|| format!("failed to read {CONTENTS}"))?;
    check_contents(&contents, files, findings);
    Ok(())
}

/// Checks that each page of the guide is in its table of contents, once.
fn check_contents(contents: &str, files: &[PathBuf], findings: &mut Vec<Finding>) {
    let listed: Vec<&str> = links(contents).collect();
    let pages = files.iter().filter_map(|file| {
        let page = file.strip_prefix("docs").ok()?.to_str()?;
        (page.ends_with(".md") && page != "SUMMARY.md").then_some(page)
    });
    for page in pages {
        let times = listed.iter().filter(|listed| **listed == page).count();
        if times != 1 {
            let what = format!("docs/{page} is there {times} times, expected once");
            findings.push(Finding::new(CONTENTS, what));
        }
    }
}

fn check_text(root: &Path, file: &Path, text: &str, findings: &mut Vec<Finding>) {
    let folder = root
        .join(file)
        .parent()
        .map(Path::to_path_buf)
        .unwrap_or_default();
    for (number, line) in prose(text) {
        let place = format!("{}:{number}", file.display());
        for target in links(line) {
            if let Some(what) = broken(&folder, text, target) {
                findings.push(Finding::new(&place, what));
            }
        }
        for path in source_paths(line).filter(|path| !is_there(root, &folder, path)) {
            findings.push(Finding::new(&place, format!("there is no {path}")));
        }
        if sentences(line).len() > 1 {
            findings.push(Finding::new(&place, "more than one sentence in a line"));
        }
    }
}

/// Returns the lines outside code blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        if line.trim_start().starts_with("```") {
            code = !code;
            return None;
        }
        (!code).then_some((index + 1, line))
    })
}

/// Returns the targets of `[text](target)`.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
}

/// Returns the texts between backquotes that are paths of Rust files or, with a final slash, of folders.
fn source_paths(line: &str) -> impl Iterator<Item = &str> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    line.split('`')
        .skip(1)
        .step_by(2)
        .filter(move |code| code.contains('/') && code.chars().all(is_name))
        .filter(|code| !code.starts_with('/') && (code.ends_with(".rs") || code.ends_with('/')))
}

fn is_there(root: &Path, folder: &Path, path: &str) -> bool {
    // a clean clone has no built files
    path.starts_with("target/") || root.join(path).exists() || folder.join(path).exists()
}

fn broken(folder: &Path, text: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let linked = if file.is_empty() {
        text.to_owned()
    } else {
        let path = folder.join(file);
        if !path.exists() {
            return Some(format!("the link {target} leads nowhere"));
        }
        std::fs::read_to_string(path).unwrap_or_default()
    };
    if anchor.is_empty() || headings(&linked).any(|heading| heading == anchor) {
        return None;
    }
    Some(format!("the link {target} names a missing heading"))
}

/// Returns the anchors of a file's headings, formed as the usual renderers do.
fn headings(text: &str) -> impl Iterator<Item = String> {
    prose(text)
        .filter_map(|(_, line)| line.strip_prefix('#'))
        .map(|heading| {
            heading
                .trim_start_matches('#')
                .trim()
                .to_lowercase()
                .chars()
                .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'))
                .map(|letter| if letter == ' ' { '-' } else { letter })
                .collect()
        })
}

/// Returns the sentences of a line. Tables and headings have none.
pub(super) fn sentences(line: &str) -> Vec<&str> {
    let line = line.trim();
    if line.starts_with('|') || line.starts_with('#') {
        return Vec::new();
    }
    let ends = line.match_indices(". ").filter(|(at, _)| {
        let before = line[..*at].rsplit(' ').next().unwrap_or_default();
        let after = line[at + 2..].chars().next();
        ends_a_sentence(before) && after.is_some_and(char::is_uppercase)
    });
    let mut from = 0;
    let mut found = Vec::new();
    for (at, _) in ends {
        found.push(&line[from..=at]);
        from = at + 2;
    }
    found.push(&line[from..]);
    found
}

/// Checks whether a full stop behind this word ends a sentence, rather than a number or an abbreviation.
fn ends_a_sentence(word: &str) -> bool {
    let number = !word.is_empty() && word.chars().all(|letter| letter.is_ascii_digit());
    !number && !["e.g", "i.e", "cf", "etc", "§"].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("there.md"), "# A heading, here\n").expect("written");
        let mut findings = Vec::new();
        check_text(folder.path(), Path::new("a.md"), text, &mut findings);
        findings.iter().map(Finding::to_string).collect()
    }

    #[test]
    fn link_to_a_missing_file_is_found() {
        assert_eq!(
            findings("[a](gone.md)"),
            ["a.md:1: the link gone.md leads nowhere"]
        );
        assert!(findings("[a](there.md) and [b](https://example.org/gone.md)").is_empty());
    }

    #[test]
    fn link_to_a_missing_heading_is_found() {
        assert!(findings("[a](there.md#a-heading-here)").is_empty());
        assert_eq!(findings("[a](there.md#another)").len(), 1);
        assert!(findings("## Here\n\n[a](#here)").is_empty());
    }

    #[test]
    fn missing_source_file_is_found() {
        assert_eq!(
            findings("`src/gone.rs` and `a/gone/`"),
            [
                "a.md:1: there is no src/gone.rs",
                "a.md:1: there is no a/gone/"
            ]
        );
        assert!(findings("`there.md`, `target/x/`, `gone.rs`, `/tmp/`, `a(b)/c.rs`").is_empty());
    }

    #[test]
    fn page_that_the_contents_lack_is_found() {
        let files = ["docs/a.md", "docs/in/b.md", "docs/SUMMARY.md", "c.md"].map(PathBuf::from);
        let of = |contents: &str| {
            let mut findings = Vec::new();
            check_contents(contents, &files, &mut findings);
            let findings = findings.iter().map(ToString::to_string);
            findings.collect::<Vec<_>>()
        };
        assert!(of("- [A](a.md)\n  - [B](in/b.md)\n").is_empty());
        assert_eq!(
            of("- [A](a.md)\n- [A](a.md)\n"),
            [
                "docs/SUMMARY.md: docs/a.md is there 2 times, expected once",
                "docs/SUMMARY.md: docs/in/b.md is there 0 times, expected once"
            ]
        );
    }

    #[test]
    fn two_sentences_in_a_line_are_found() {
        assert_eq!(findings("One. Two.").len(), 1);
        assert!(findings("One, see e.g. Two.\n1. Three.\n| a. B | c. D |").is_empty());
    }

    #[test]
    fn every_filter_is_documented() {
        let workspace = crate::workspace::Workspace::find().expect("the workspace");
        let text =
            std::fs::read_to_string(workspace.root().join("docs/filters.md")).expect("the page");
        let all = coverage::filter::ALL
            .iter()
            .chain(coverage::filter::OF_SOURCE)
            .map(|filter| (filter.name, filter.doc));
        let rows: Vec<String> = all
            .map(|(name, doc)| format!("| `{name}` | {} |", doc.trim_end_matches('.')))
            .collect();
        let documented: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("| `"))
            .collect();
        assert_eq!(documented, rows);
    }

    #[test]
    fn code_blocks_are_not_prose() {
        assert!(findings("```text\nOne. Two. [a](gone.md)\n```").is_empty());
    }
}
