//! Tables of counters, one row per package, class or method.

use std::fmt::Write as _;

use super::page::{bar, grouped, text};
use crate::model::{Counter, CounterKind, Counters};
use crate::report::table::percent;

/// What the rows stand for: it decides which counters have a column beside lines,
/// branches and instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Columns {
    /// Packages: methods and classes.
    Packages,
    /// Classes: methods.
    Classes,
    /// Methods: none.
    Methods,
}

impl Columns {
    /// Counter, heading, and whether a narrow screen can do without.
    fn list(self) -> &'static [(CounterKind, &'static str, bool)] {
        const ALL: [(CounterKind, &str, bool); 5] = [
            (CounterKind::Line, "Lines", false),
            (CounterKind::Branch, "Branches", false),
            (CounterKind::Instruction, "Instructions", true),
            (CounterKind::Method, "Methods", true),
            (CounterKind::Class, "Classes", true),
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
    /// Where the name leads.
    pub(super) link: Option<String>,
    /// A word beside the name, with a link or an empty one.
    pub(super) note: Option<(String, String)>,
    /// The full name, shown on hovering.
    pub(super) title: Option<String>,
    /// What it counts.
    pub(super) counters: Counters,
}

/// Writes a table with a row of totals.
pub(super) fn write(
    body: &mut String,
    what: &str,
    columns: Columns,
    rows: impl Iterator<Item = Row>,
    total: &Counters,
) {
    body.push_str("<div class=scroll><table class=rows><thead><tr>");
    heading(body, what, "name", false);
    for &(_, title, optional) in columns.list() {
        heading(body, title, "", optional);
    }
    heading(body, "Missed lines", "number", false);
    heading(body, "Complexity", "number", true);
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

fn heading(body: &mut String, title: &str, class: &str, optional: bool) {
    let class = [class, if optional { "opt" } else { "" }].join(" ");
    let _ = write!(
        body,
        "<th scope=col class=\"{}\"><button type=button>{title}</button>",
        class.trim()
    );
}

fn name(body: &mut String, row: &Row) {
    let label = text(&row.name).replace('.', ".<wbr>");
    body.push_str("<th scope=row");
    if let Some(title) = &row.title {
        let _ = write!(body, " title=\"{}\"", text(title));
    }
    let _ = match &row.link {
        Some(link) => write!(body, "><a href=\"{link}\">{label}</a>"),
        None => write!(body, "><span>{label}</span>"),
    };
    let _ = match &row.note {
        Some((note, link)) if link.is_empty() => write!(body, " <small>{}</small>", text(note)),
        Some((note, link)) => write!(
            body,
            " <small><a href=\"{link}\">{}</a></small>",
            text(note)
        ),
        None => Ok(()),
    };
}

fn cells(body: &mut String, columns: Columns, counters: &Counters) {
    for &(kind, _, optional) in columns.list() {
        cell(body, counters.of(kind), optional);
    }
    let missed = grouped(counters.line.missed);
    let _ = write!(body, "<td class=number>{missed}");
    let (complexity, missed) = (counters.complexity.total(), counters.complexity.missed);
    let _ = write!(
        body,
        "<td class=\"number opt\" title=\"{} missed\">{}",
        grouped(missed),
        grouped(complexity)
    );
    body.push_str("</tr>\n");
}

/// The script sorts by the text: `4 / 12`, and no numbers where there is nothing to cover.
fn cell(body: &mut String, counter: Counter, optional: bool) {
    let class = if optional { " class=opt" } else { "" };
    let Some(percent) = percent(counter) else {
        let _ = write!(body, "<td{class}><span class=none>–</span>");
        return;
    };
    let (covered, total) = (grouped(counter.covered), grouped(counter.total()));
    let _ = write!(
        body,
        "<td{class}>{}<b>{}%</b><small>{covered} / {total}</small>",
        bar(counter),
        text(&percent),
    );
}
