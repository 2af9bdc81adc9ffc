//! Reports of changed lines: their files, and the lines that are not covered.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::table::{percent, shortened};
pub use crate::model::Changed;
use crate::model::{Counter, Counters, SourceFileCoverage, Status};

/// Maximum number of line ranges listed on a terminal.
const LISTED: usize = 8;
/// Maximum length of a path on a terminal, in characters.
const WIDEST_PATH: usize = 60;

/// The changed lines of one file.
pub(super) struct Row<'a> {
    pub(super) path: &'a str,
    pub(super) lines: Counter,
    pub(super) branches: Counter,
    /// Lines without an executed instruction.
    pub(super) missed: Vec<(u32, u32)>,
    /// Partly executed lines.
    pub(super) in_part: Vec<(u32, u32)>,
}

impl Changed {
    /// Returns the counters of all changed lines.
    pub(super) fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        self.bundles
            .iter()
            .for_each(|bundle| counters += bundle.counters);
        counters
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let packages = self.bundles.iter().flat_map(|bundle| &bundle.packages);
        let files = packages.flat_map(|package| &package.source_files);
        files.zip(&self.paths).map(|(file, path)| Row {
            path,
            lines: file.counters.line,
            branches: file.counters.branch,
            missed: ranges(file, Status::NotCovered),
            in_part: ranges(file, Status::PartlyCovered),
        })
    }
}

/// Returns the lines with a status, as ranges.
fn ranges(file: &SourceFileCoverage, status: Status) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    let lines = file
        .lines
        .iter()
        .filter(|(_, line)| line.status() == status);
    for (number, _) in lines {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    ranges
}

/// Formats ranges as `4, 7-9`; only the first ones of a long list.
pub(super) fn listed(ranges: &[(u32, u32)], most: usize) -> String {
    let text = |(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    let texts: Vec<String> = ranges.iter().take(most).map(text).collect();
    match ranges.len().saturating_sub(most) {
        0 => texts.join(", "),
        more => format!("{} and {more} more", texts.join(", ")),
    }
}

/// The text of a report without changed lines.
pub(super) const NOTHING: &str = "no changed line contains measured code";

/// Writes a table for a terminal: one row for each file, and then the notes about files that the report does not
/// contain.
///
/// # Errors
/// `out` cannot be written.
pub fn write(changed: &Changed, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut text = String::new();
    let rows: Vec<Row<'_>> = changed.rows().collect();
    let title = format!("changed since {}", escape::line(&changed.range));
    if rows.is_empty() {
        let _ = writeln!(text, "{NOTHING} ({title})");
    } else {
        table(&title, &rows, &changed.counters(), &mut text);
    }
    for note in &changed.notes {
        let _ = writeln!(text, "{}", escape::line(note));
    }
    out.write_all(text.as_bytes())
}

/// Writes one line and the notes, if other reports contain the rest.
///
/// # Errors
/// `out` cannot be written.
pub fn write_total(changed: &Changed, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let lines = changed.counters().line;
    let since = escape::line(&changed.range);
    match percent(lines) {
        Some(percent) => {
            let (covered, total) = (lines.covered, lines.total());
            writeln!(
                out,
                "{covered} of {total} lines changed since {since} are covered ({percent}%)"
            )?;
        }
        None => writeln!(out, "{NOTHING} (changed since {since})")?,
    }
    let mut notes = changed.notes.iter();
    notes.try_for_each(|note| writeln!(out, "{}", escape::line(note)))
}

fn table(title: &str, rows: &[Row<'_>], total: &Counters, text: &mut String) {
    let path = |row: &Row<'_>| shortened(&escape::line(row.path), WIDEST_PATH);
    let longest = rows.iter().map(|row| path(row).chars().count()).max();
    let width = longest.unwrap_or(0).max(title.chars().count());
    let _ = writeln!(
        text,
        "{title:<width$}{:>20}{:>20}  not covered",
        "lines", "branches"
    );
    for row in rows {
        let (name, lines, branches) = (path(row), share(row.lines), share(row.branches));
        let line = format!("{name:<width$}{lines:>20}{branches:>20}  {}", missed(row));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let (lines, branches) = (share(total.line), share(total.branch));
    let _ = writeln!(text, "{:<width$}{lines:>20}{branches:>20}", "total");
}

/// Formats `80%  4 of 5`.
fn share(counter: Counter) -> String {
    match percent(counter) {
        Some(percent) => format!("{percent}%  {} of {}", counter.covered, counter.total()),
        None => "-".to_owned(),
    }
}

fn missed(row: &Row<'_>) -> String {
    let missed = listed(&row.missed, LISTED);
    match (missed.as_str(), listed(&row.in_part, LISTED).as_str()) {
        (missed, "") => missed.to_owned(),
        ("", in_part) => format!("in part: {in_part}"),
        (missed, in_part) => format!("{missed}; in part: {in_part}"),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::report::fixture;

    /// Returns all lines of the small program.
    pub(in crate::report) fn changed() -> Changed {
        Changed {
            range: "origin/main".into(),
            name: "The <bank>".into(),
            bundles: vec![fixture::bundle().of_lines(|_, _| true)],
            paths: vec!["core/src/bank/Account|<b>.java".into()],
            notes: vec!["1 changed source file is not in the report: a/Test.java".into()],
        }
    }

    fn shown(changed: &Changed) -> String {
        let mut bytes = Vec::new();
        write(changed, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn table_lists_files_with_uncovered_changed_lines() {
        let expected = "\
changed since origin/main                    lines            branches  not covered
core/src/bank/Account|<b>.java         57%  4 of 7         37%  3 of 8  10, 16-17; in part: 9
total                                  57%  4 of 7         37%  3 of 8
1 changed source file is not in the report: a/Test.java
";
        assert_eq!(shown(&changed()), expected);
        let mut bytes = Vec::new();
        write_total(&changed(), &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(
            text.starts_with("4 of 7 lines changed since origin/main are covered (57%)\n"),
            "{text}"
        );
    }

    #[test]
    fn absence_of_changed_lines_is_reported() {
        let nothing = Changed {
            range: "HEAD\u{1b}".into(),
            ..Changed::default()
        };
        let text = shown(&nothing);
        assert!(
            text.starts_with("no changed line contains measured code (changed since HEAD"),
            "{text}"
        );
        assert!(!text.contains('\u{1b}'));
        assert_eq!(listed(&[(1, 1), (3, 5), (7, 7)], 2), "1, 3-5 and 1 more");
    }
}
