//! Tables of counters, with a row for each package, class or method.

use std::fmt::Write as _;

use super::page::{filled, text_into};
use crate::model::{Counter, CounterKind, Counters};
use crate::report::append::{self, push_all};
use crate::report::table::percent;

/// The content of the rows. It determines the columns besides lines, branches and instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Columns {
    /// Packages: methods and classes.
    Packages,
    /// Classes: methods.
    Classes,
    /// Methods: no further columns.
    Methods,
}

impl Columns {
    /// Returns counter and heading of each column. The style sheet selects columns by position. A narrow screen hides
    /// those from instructions on, except the missed lines; the last two are numbers.
    fn list(self) -> &'static [(CounterKind, &'static str)] {
        const ALL: [(CounterKind, &str); 5] = [
            (CounterKind::Line, "Lines"),
            (CounterKind::Branch, "Branches"),
            (CounterKind::Instruction, "Instructions"),
            (CounterKind::Method, "Methods"),
            (CounterKind::Class, "Classes"),
        ];
        match self {
            Self::Packages => &ALL,
            Self::Classes => &ALL[..4],
            Self::Methods => &ALL[..3],
        }
    }
}

/// A row.
pub(super) struct Row {
    /// Its name.
    pub(super) name: String,
    /// The link of the name.
    pub(super) link: Option<String>,
    /// A word beside the name, with its link, which may be empty.
    pub(super) note: Option<(String, String)>,
    /// The full name, shown as a tooltip.
    pub(super) title: Option<String>,
    /// The counters.
    pub(super) counters: Counters,
}

/// Writes a table with a row of totals.
pub(super) fn write(
    body: &mut String,
    title: &str,
    columns: Columns,
    rows: impl Iterator<Item = Row>,
    total: &Counters,
) {
    body.push_str("<div class=scroll><table class=rows><thead><tr>");
    let counted = columns.list().iter().map(|&(_, title)| title);
    let titles = std::iter::once(title).chain(counted);
    for title in titles.chain(["Missed lines", "Complexity"]) {
        let _ = write!(body, "<th scope=col>{title}");
    }
    body.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        body.push_str("<tr>");
        name(body, &row);
        cells(body, columns, &row.counters);
    }
    body.push_str("</tbody>\n<tfoot><tr><th scope=row>Total");
    cells(body, columns, total);
    body.push_str("</tfoot></table></div>\n");
}

fn name(body: &mut String, row: &Row) {
    body.push_str("<th scope=row");
    if let Some(title) = &row.title {
        body.push_str(" title=\"");
        text_into(title, body);
        body.push('"');
    }
    match &row.link {
        Some(link) => push_all(body, ["><a href=\"", link, "\">"]),
        None => body.push_str("><span>"),
    }
    for part in row.name.split_inclusive('.') {
        text_into(part, body);
        if part.ends_with('.') {
            body.push_str("<wbr>");
        }
    }
    body.push_str(match row.link {
        Some(_) => "</a>",
        None => "</span>",
    });
    match &row.note {
        Some((note, link)) if link.is_empty() => {
            body.push_str(" <small>");
            text_into(note, body);
            body.push_str("</small>");
        }
        Some((note, link)) => {
            push_all(body, [" <small><a href=\"", link, "\">"]);
            text_into(note, body);
            body.push_str("</a></small>");
        }
        None => {}
    }
}

fn cells(body: &mut String, columns: Columns, counters: &Counters) {
    for &(kind, _) in columns.list() {
        cell(body, counters.of(kind));
    }
    let (complexity, missed) = (counters.complexity.total(), counters.complexity.missed);
    body.push_str("<td>");
    append::grouped(counters.line.missed, body);
    body.push_str("<td title=\"");
    append::grouped(missed, body);
    body.push_str(" missed\">");
    append::grouped(complexity, body);
    body.push_str("</tr>\n");
}

/// Writes a cell. The script sorts by its text: `4 / 12`, and no numbers without items. The style sheet draws a bar
/// before a percentage.
fn cell(body: &mut String, counter: Counter) {
    let Some(percent) = percent(counter) else {
        body.push_str("<td class=none>–");
        return;
    };
    body.push_str("<td");
    if let Some(percent) = filled(counter) {
        let _ = write!(body, " class=w{percent}");
    }
    push_all(body, ["><b>", &percent, "%</b><small>"]);
    append::grouped(counter.covered, body);
    body.push_str(" / ");
    append::grouped(counter.total(), body);
    body.push_str("</small>");
}
