//! A summary in Markdown, for a pull request comment or a workflow summary.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::changed::{self, Changed, Row, listed};
use super::markup::escape;
use super::table::percent;
use super::{Report, names};
use crate::model::{Counter, CounterKind, Counters};

/// Maximum number of table rows: comments have a maximum length.
const ROWS: usize = 250;
/// Maximum number of line ranges of a file.
const LISTED: usize = 30;

const COLUMNS: [CounterKind; 4] = [
    CounterKind::Instruction,
    CounterKind::Branch,
    CounterKind::Line,
    CounterKind::Method,
];

/// Writes a table of the packages, or of the modules of a group.
///
/// # Errors
/// `out` cannot be written.
pub fn write(report: &Report<'_>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let name = plain(report.name);
    let mut text = match percent(report.counters.line) {
        Some(percent) => format!("### {name}: {percent}% of the lines are covered\n\n"),
        None => format!("### {name}: {}\n", super::table::NOTHING),
    };
    let rows: Vec<(String, Counters)> = match report.is_group {
        true => {
            let bundles = report.modules.iter().map(|module| module.bundle);
            bundles.map(|it| (it.name.clone(), it.counters)).collect()
        }
        false => {
            let packages = report.packages();
            packages
                .map(|(_, it)| (names::package(&it.name), it.counters))
                .collect()
        }
    };
    let rows = rows
        .into_iter()
        .filter(|(_, it)| it.instruction.total() > 0);
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        let heading = if report.is_group { "module" } else { "package" };
        let _ = writeln!(
            text,
            "| {heading} | instructions | branches | lines | methods |"
        );
        text += "|---|--:|--:|--:|--:|\n";
        for (name, counters) in rows.iter().take(ROWS) {
            let cells = COLUMNS.map(|kind| share(counters.of(kind)));
            let _ = writeln!(text, "| {} | {} |", code(name), cells.join(" | "));
        }
        more(rows.len(), 4, &mut text);
        let cells = COLUMNS.map(|kind| share(report.counters.of(kind)));
        let _ = writeln!(text, "| **total** | {} |", cells.join(" | "));
    }
    incomplete(report, &mut text);
    out.write_all(text.as_bytes())
}

/// Writes notices about missing data.
fn incomplete(report: &Report<'_>, text: &mut String) {
    for sentence in report.incomplete() {
        let _ = writeln!(text, "\n**Incomplete:** {}", plain(sentence));
    }
}

/// Writes a table of the files with changed lines, and of the uncovered ones among these lines.
///
/// # Errors
/// `out` cannot be written.
pub fn write_changed(
    report: &Report<'_>,
    changed: &Changed,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let counters = changed.counters();
    let since = code(&changed.range);
    let name = plain(&changed.name);
    let mut text = match percent(counters.line) {
        Some(percent) => format!("### {name}: {percent}% of the changed lines are covered\n\n"),
        None => format!("### {name}: {}\n\n", changed::NOTHING),
    };
    let rows: Vec<Row<'_>> = changed.rows().collect();
    if rows.is_empty() {
        let _ = writeln!(text, "Changed since {since}.");
    } else {
        let _ = writeln!(
            text,
            "| changed since {since} | lines | branches | not covered | covered in part |"
        );
        text += "|---|--:|--:|---|---|\n";
        for row in rows.iter().take(ROWS) {
            let (lines, branches) = (share(row.lines), share(row.branches));
            let (missed, in_part) = (listed(&row.missed, LISTED), listed(&row.in_part, LISTED));
            let _ = writeln!(
                text,
                "| {} | {lines} | {branches} | {missed} | {in_part} |",
                code(row.path)
            );
        }
        more(rows.len(), 4, &mut text);
        let (lines, branches) = (share(counters.line), share(counters.branch));
        let _ = writeln!(text, "| **total** | {lines} | {branches} | | |");
    }
    for note in &changed.notes {
        let _ = writeln!(text, "\n{}.", plain(note));
    }
    incomplete(report, &mut text);
    out.write_all(text.as_bytes())
}

/// Writes the number of rows that are left out.
fn more(rows: usize, columns: usize, text: &mut String) {
    if let Some(more) = rows.checked_sub(ROWS).filter(|more| *more > 0) {
        let _ = writeln!(text, "| and {more} more{} |", " |".repeat(columns));
    }
}

/// Formats `80% (4 of 5)`.
fn share(counter: Counter) -> String {
    match percent(counter) {
        Some(percent) => format!(
            "{}% ({} of {})",
            escape(&percent),
            counter.covered,
            counter.total()
        ),
        None => "-".to_owned(),
    }
}

/// Formats a name so that it cannot break its cell.
fn code(name: &str) -> String {
    format!("<code>{}</code>", plain(name))
}

/// Escapes text so that Markdown does not interpret it.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for character in escape(&escape::line(text)).chars() {
        match character {
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' | '@' => {
                let _ = write!(plain, "&#{};", u32::from(character));
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{NoSources, fixture};

    #[test]
    fn packages_of_a_small_program() {
        let mut bytes = Vec::new();
        let bundle = fixture::bundle();
        write(&Report::of_bundle(&bundle, &NoSources, &[]), &mut bytes).unwrap();
        insta::assert_snapshot!(String::from_utf8(bytes).unwrap());
        let (bank, web) = (fixture::bundle(), fixture::web());
        let mut bytes = Vec::new();
        write(&fixture::group(&bank, &web), &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let row = "| <code>web&#124;&lt;b&gt;</code> | 66% (2 of 3) | 50% (1 of 2) | 50% (1 of 2) | 100% (1 of 1) |";
        assert!(text.contains(row) && text.contains("| module |"), "{text}");
    }

    #[test]
    fn changed_lines_of_a_small_program() {
        let (bundle, mut sessions) = (fixture::bundle(), fixture::sessions());
        sessions[0].incomplete = Some("1 *class*".to_owned());
        let report = Report::of_bundle(&bundle, &NoSources, &sessions);
        let mut bytes = Vec::new();
        write_changed(&report, &changed::tests::changed(), &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(
            text.contains(
                "<code>core/src/bank/Account&#124;&lt;b&gt;.java</code> | 57% (4 of 7) |"
            ),
            "{text}"
        );
        insta::assert_snapshot!(text);
    }
}
