//! Plain language: how doc comments begin, which words they use, and how long sentences of documents are.
//!
//! The limits are those of well-written projects of the field. They hold for each folder with sources and each document.

use super::finding::Finding;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Sources with doc comments.
const SOURCES: [&str; 3] = ["rs", "wit", "java"];
/// Files whose language is not checked: tests and their inputs.
const UNCHECKED: [&str; 3] = ["tests", "tests.rs", "fixtures"];
/// The document that lists changes, one a line.
const CHANGES: &str = "CHANGELOG.md";
/// Fewest sentences of a document that is checked.
const SENTENCES: usize = 5;

/// Greatest share of doc comments that open with a question word, in percent.
const OPENINGS: usize = 5;
/// Most markers in 1,000 words.
const MARKERS: usize = 5;
/// Most words of a sentence, at the median and at 90 %.
const MEDIAN: usize = 18;
const LONG: usize = 32;

/// Words with which no doc comment begins.
const QUESTIONS: [&str; 9] = [
    "What", "Where", "Which", "How", "Whether", "Why", "Who", "When", "That",
];

/// Words that replace a noun of the field.
const MARKER_WORDS: [&[&str]; 31] = [
    &["what"],
    &["told"],
    &["tell"],
    &["tells"],
    &["telling"],
    &["stand"],
    &["stands"],
    &["stood"],
    &["of", "it"],
    &["of", "them"],
    &["of", "these"],
    &["of", "those"],
    &["none"],
    &["so", "many"],
    &["lies"],
    &["lie"],
    &["lay"],
    &["is", "there"],
    &["are", "there"],
    &["was", "there"],
    &["were", "there"],
    &["as", "far", "as"],
    &["come", "of"],
    &["comes", "of"],
    &["came", "of"],
    &["become", "of"],
    &["becomes", "of"],
    &["became", "of"],
    &["somebody"],
    &["is", "said"],
    &["are", "said"],
];

/// A doc comment with the line on which it begins.
type Comment = (usize, String);

/// Checks the sources of each top-level folder, and each document.
pub fn check(root: &Path, files: &[PathBuf], findings: &mut Vec<Finding>) -> Result<()> {
    let read = |file: &Path| {
        let text = std::fs::read_to_string(root.join(file));
        text.with_context(|| format!("failed to read {}", file.display()))
    };
    let mut folders: BTreeMap<&str, Vec<(String, String)>> = BTreeMap::new();
    for file in files.iter().filter(|file| is_checked(file)) {
        let folder = file.iter().next().and_then(|name| name.to_str());
        if has_extension(file, &SOURCES) {
            let comments = comments(&read(file)?).into_iter();
            let place = |line| format!("{}:{line}", file.display());
            let all = folders.entry(folder.unwrap_or_default()).or_default();
            all.extend(comments.map(|(line, text)| (place(line), text)));
        } else if has_extension(file, &["md"]) && *file != Path::new(CHANGES) {
            check_sentences(&file.display().to_string(), &read(file)?, findings);
        }
    }
    for (folder, comments) in folders {
        check_comments(folder, &comments, findings);
    }
    Ok(())
}

fn is_checked(file: &Path) -> bool {
    let mut parts = file.iter().filter_map(|part| part.to_str());
    !parts.any(|part| UNCHECKED.contains(&part))
}

fn has_extension(file: &Path, extensions: &[&str]) -> bool {
    let extension = file.extension().and_then(|found| found.to_str());
    extension.is_some_and(|found| extensions.contains(&found))
}

fn check_comments(name: &str, all: &[(String, String)], findings: &mut Vec<Finding>) {
    let opens = |text: &str| QUESTIONS.contains(&words(text).next().unwrap_or_default());
    let words: usize = all.iter().map(|(_, text)| words(text).count()).sum();
    let openings = all.iter().filter(|(_, text)| opens(text)).count();
    let marked: usize = all.iter().map(|(_, text)| markers(text)).sum();
    if openings * 100 <= all.len() * OPENINGS && marked * 1_000 <= words * MARKERS {
        return;
    }
    findings.push(Finding::new(
        name,
        format!(
            "of {} doc comments {openings} open with a question word, at most {OPENINGS} % may; there are {marked} markers in {words} words, at most {MARKERS} in 1,000 may be",
            all.len()
        ),
    ));
    let lines = all
        .iter()
        .filter(|(_, text)| opens(text) || markers(text) > 0);
    findings.extend(lines.map(|(place, text)| Finding::new(place, text.clone())));
}

fn check_sentences(name: &str, text: &str, findings: &mut Vec<Finding>) {
    let sentences = sentences(text);
    if sentences.len() < SENTENCES {
        return;
    }
    let mut lengths: Vec<usize> = sentences
        .iter()
        .map(|it| it.split_whitespace().count())
        .collect();
    lengths.sort_unstable();
    let at = |share: usize| lengths.get(lengths.len() * share / 10).copied();
    let (median, long) = (at(5).unwrap_or(0), at(9).unwrap_or(0));
    if median > MEDIAN || long > LONG {
        findings.push(Finding::new(
            name,
            format!(
                "sentences have {median} words at the median and {long} at 90 %, at most {MEDIAN} and {LONG} may be"
            ),
        ));
    }
    let all = sentences.join(" ");
    let (marked, words) = (markers(&all), words(&all).count());
    if marked * 1_000 > words * MARKERS {
        let what = format!("{marked} markers in {words} words, at most {MARKERS} in 1,000 may be");
        findings.push(Finding::new(name, what));
        let marked = sentences.iter().filter(|sentence| markers(sentence) > 0);
        findings.extend(marked.map(|sentence| Finding::new(name, sentence.clone())));
    }
}

/// The doc comments of a source file, without code.
fn comments(source: &str) -> Vec<Comment> {
    let mut found = Vec::new();
    let mut block: Option<(usize, Vec<&str>)> = None;
    let mut is_java = false;
    for (number, line) in source.lines().chain([""]).enumerate() {
        let line = line.trim();
        let text = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"))
            .or_else(|| line.strip_prefix("/**"))
            .or_else(|| line.strip_prefix('*').filter(|_| is_java));
        is_java =
            (line.starts_with("/**") || is_java && line.starts_with('*')) && !line.ends_with("*/");
        let text = text.map(|text| text.trim_end_matches('/').trim_end_matches('*'));
        match (text, &mut block) {
            (Some(text), Some((_, lines))) => lines.push(text),
            (Some(text), None) => block = Some((number + 1, vec![text])),
            (None, _) => {
                let done = block.take();
                found.extend(done.map(|(line, lines)| (line, prose(&lines))));
            }
        }
    }
    found
}

/// The lines outside of code blocks.
fn prose(lines: &[&str]) -> String {
    let mut is_code = false;
    let kept = lines.iter().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    let kept: Vec<&str> = kept.map(|line| line.trim()).collect();
    kept.join(" ").trim().to_owned()
}

/// The sentences of a document of more than two words, without code, tables and headings.
fn sentences(document: &str) -> Vec<String> {
    let lines: Vec<&str> = document.lines().collect();
    let mut is_code = false;
    let kept = lines.iter().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence && !line.starts_with(['|', '#'])
    });
    let text = kept.copied().collect::<Vec<_>>().join("\n");
    let mut all = Vec::new();
    let mut sentence = String::new();
    // Code within a sentence is one word.
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 {
            sentence.push('X');
            continue;
        }
        for character in part.chars() {
            let ends = sentence.ends_with(['.', '!', '?']) && character.is_whitespace();
            if ends {
                all.push(std::mem::take(&mut sentence));
            }
            sentence.push(character);
        }
    }
    all.push(sentence);
    all.retain(|sentence| sentence.split_whitespace().count() > 2);
    all
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|it: char| !it.is_ascii_alphabetic() && it != '\'');
    words.filter(|word| !word.is_empty())
}

/// Counts the markers in a text.
fn markers(text: &str) -> usize {
    let words: Vec<String> = words(text).map(str::to_lowercase).collect();
    let is_at = |at: usize, marker: &[&str]| {
        let found = words.get(at..at + marker.len());
        found.is_some_and(|found| found.iter().eq(marker))
    };
    let begins = |at: &usize| MARKER_WORDS.iter().any(|marker| is_at(*at, marker));
    (0..words.len()).filter(begins).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_read_without_code_and_their_lines_are_known() {
        let source = "//! The first.\n\n/// Whether it is.\n/// ```\n/// what\n/// ```\n/// Done.\nfn f() {}\n    /// Inner.\n";
        let expected = [
            (1, "The first."),
            (3, "Whether it is. Done."),
            (9, "Inner."),
        ];
        let expected = expected.map(|(line, text)| (line, text.to_owned()));
        assert_eq!(comments(source), expected);
        let java = "/** A class. */\nclass A {\n    /**\n     * Returns it.\n     */\n    int a = 2\n        * 3;\n}\n";
        let expected = [(1, "A class."), (3, "Returns it.")];
        let expected = expected.map(|(line, text)| (line, text.to_owned()));
        assert_eq!(comments(java), expected);
    }

    #[test]
    fn markers_are_whole_words_in_any_case() {
        assert_eq!(
            markers("What is said of it, as far as somebody was there"),
            6
        );
        assert_eq!(markers("A whatever underlies; the offer; saidness"), 0);
    }

    #[test]
    fn crate_above_a_limit_is_named_with_its_lines() {
        let comment = |text: &str| ("a.rs:1".to_owned(), text.to_owned());
        let plain = comment("Returns the length of the code array, in bytes, without padding.");
        let mut all = vec![plain; 30];
        let mut findings = Vec::new();
        check_comments("a", &all, &mut findings);
        assert!(findings.is_empty());
        all.extend([comment("Whether it lies"), comment("How long")]);
        check_comments("a", &all, &mut findings);
        let told: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 3, "{told:?}");
        assert_eq!(told[1], "a.rs:1: Whether it lies");
    }

    #[test]
    fn sentences_are_counted_outside_of_code_tables_and_headings() {
        let document = "# A heading of many words.\n\nYou type `a b c d. e` here. Short one.\nThis is the third, over\ntwo lines.\n```sh\nnot this one here\n```\n| nor | this row here. |\n";
        let expected = ["You type X here.", " This is the third, over\ntwo lines."];
        let found: Vec<String> = sentences(document)
            .iter()
            .map(|it| it.trim().to_owned())
            .collect();
        assert_eq!(found, expected.map(|it| it.trim().to_owned()));
        let mut findings = Vec::new();
        let long = format!("{}. ", "word ".repeat(40));
        check_sentences("d.md", &long.repeat(SENTENCES), &mut findings);
        assert_eq!(findings.len(), 1);
        check_sentences(
            "d.md",
            &"Somebody is there. ".repeat(SENTENCES),
            &mut findings,
        );
        assert_eq!(findings.len(), 2 + SENTENCES);
    }
}
