//! The summary on a terminal: one row for each module or package, or for each class of a single package.
//!
//! Percentages are truncated so that `100%` means everything, `0%` nothing, and `<1%` something.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use super::{Report, names};
use crate::model::{Counter, CounterKind, Counters};

const COLUMNS: [(CounterKind, &str); 4] = [
    (CounterKind::Instruction, "instructions"),
    (CounterKind::Branch, "branches"),
    (CounterKind::Line, "lines"),
    (CounterKind::Method, "methods"),
];

/// Width of a bar, in characters.
const BAR: usize = 8;
/// Width of a column with bars: two blanks, the bar, a percentage.
const WITH_BAR: usize = 2 + BAR + 5;
/// Width of a column without bars: two blanks, the longest heading.
const WITHOUT_BAR: usize = 2 + 12;
/// Minimum length of a truncated name.
const NARROWEST_NAME: usize = 12;

/// The content of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// A module of a group.
    Modules,
    /// A package.
    Packages,
    /// A class.
    Classes,
}

/// The layout of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Characters in a line; bars that do not fit are left out.
    pub width: usize,
    /// Uses the terminal's colours (ANSI escapes).
    pub colours: bool,
    /// The content of a row; `None` selects the most useful one.
    pub rows: Option<Rows>,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            width: 100,
            colours: false,
            rows: None,
        }
    }
}

/// Writes the table, 100 characters wide and without colours.
///
/// # Errors
/// `out` cannot be written.
pub fn write(report: &Report<'_>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    write_with(report, &Layout::default(), out)
}

/// The text of an empty table.
pub const NOTHING: &str = "no class with instructions was measured";

/// Writes the table with this layout.
///
/// # Errors
/// `out` cannot be written.
pub fn write_with(
    report: &Report<'_>,
    layout: &Layout,
    out: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let kind = layout.rows.unwrap_or(match report.packages().count() {
        _ if report.is_group => Rows::Modules,
        1 => Rows::Classes,
        _ => Rows::Packages,
    });
    let rows = rows(report, kind);
    if rows.is_empty() {
        return writeln!(out, "{NOTHING}");
    }
    let longest = rows
        .iter()
        .map(|(name, _)| name.chars().count())
        .max()
        .unwrap_or(0);
    let table = Table::fit(layout, longest.max(5));
    let mut text = String::new();
    table.heading(
        match kind {
            Rows::Modules => "module",
            Rows::Packages => "package",
            Rows::Classes => "class",
        },
        &mut text,
    );
    rows.iter()
        .for_each(|(name, counters)| table.row(name, counters, false, &mut text));
    table.row("total", &report.counters, true, &mut text);
    out.write_all(text.as_bytes())
}

fn rows(report: &Report<'_>, kind: Rows) -> Vec<(String, Counters)> {
    let printable = |name: String| escape::line(&name).into_owned();
    let all: Vec<_> = match kind {
        Rows::Modules => {
            let bundles = report.modules.iter().map(|module| module.bundle);
            bundles
                .map(|bundle| (printable(bundle.name.clone()), bundle.counters))
                .collect()
        }
        Rows::Packages => report
            .packages()
            .map(|(_, package)| (printable(names::package(&package.name)), package.counters))
            .collect(),
        Rows::Classes => report
            .packages()
            .flat_map(|(_, package)| &package.classes)
            .map(|class| (printable(jvms::names::binary(&class.name)), class.counters))
            .collect(),
    };
    all.into_iter()
        .filter(|(_, counters)| counters.instruction.total() > 0)
        .collect()
}

struct Table {
    name: usize,
    bars: bool,
    colours: bool,
}

impl Table {
    fn fit(layout: &Layout, longest: usize) -> Self {
        let left = |column: usize| layout.width.saturating_sub(COLUMNS.len() * column);
        let bars = left(WITH_BAR) >= longest.clamp(NARROWEST_NAME, 30);
        let space = left(if bars { WITH_BAR } else { WITHOUT_BAR });
        Self {
            name: longest.min(space.max(NARROWEST_NAME)),
            bars,
            colours: layout.colours,
        }
    }

    fn column(&self) -> usize {
        if self.bars { WITH_BAR } else { WITHOUT_BAR }
    }

    fn heading(&self, title: &str, text: &mut String) {
        let mut line = format!("{title:<0$}", self.name);
        for (_, title) in COLUMNS {
            let _ = write!(line, "{title:>0$}", self.column());
        }
        self.styled("2", &line, text);
        text.push('\n');
    }

    fn row(&self, name: &str, counters: &Counters, total: bool, text: &mut String) {
        let name = format!("{:<1$}", shortened(name, self.name), self.name);
        self.styled(if total { "1" } else { "" }, &name, text);
        for (kind, _) in COLUMNS {
            self.cell(counters.of(kind), text);
        }
        text.push('\n');
    }

    fn cell(&self, counter: Counter, text: &mut String) {
        let percent =
            percent(counter).map_or_else(|| "-".to_owned(), |percent| format!("{percent}%"));
        if !self.bars {
            let _ = write!(text, "{percent:>WITHOUT_BAR$}");
            return;
        }
        text.push_str("  ");
        let filled = bar(counter);
        let empty =
            if counter.total() > 0 { "░" } else { " " }.repeat(BAR - filled.chars().count());
        self.styled("32", &filled, text);
        self.styled("2", &empty, text);
        let _ = write!(text, "{percent:>5}");
    }

    fn styled(&self, style: &str, content: &str, text: &mut String) {
        if self.colours && !style.is_empty() && !content.is_empty() {
            let _ = write!(text, "\x1b[{style}m{content}\x1b[0m");
        } else {
            text.push_str(content);
        }
    }
}

/// Returns the percentage of covered items: `0` only for none, `100` only for all, `<1` for few.
pub(super) fn percent(counter: Counter) -> Option<Cow<'static, str>> {
    let hundredths = (u64::from(counter.covered) * 100).checked_div(u64::from(counter.total()))?;
    Some(match (hundredths, counter.covered) {
        (0, 0) => "0".into(),
        (0, _) => "<1".into(),
        (100, _) => "100".into(),
        (percent, _) => percent.to_string().into(),
    })
}

/// Returns the filled part of a bar, to an eighth of a character.
fn bar(counter: Counter) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = counter
        .ratio()
        .map_or(0, |ratio| (ratio * (BAR * 8) as f64) as usize);
    let eighths = if counter.covered > 0 {
        eighths.max(1)
    } else {
        0
    };
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// Truncates a name at its start, because the end is more significant.
pub(super) fn shortened(name: &str, width: usize) -> String {
    let length = name.chars().count();
    if length <= width {
        return name.to_owned();
    }
    let end: String = name.chars().skip(length - width + 1).collect();
    format!("…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::BundleCoverage;
    use crate::report::{NoSources, fixture};

    fn shown(bundle: &BundleCoverage, layout: &Layout) -> String {
        let mut bytes = Vec::new();
        let report = Report::of_bundle(bundle, &NoSources, &[]);
        write_with(&report, layout, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn packages_with_bars() {
        insta::assert_snapshot!(shown(&fixture::bundle(), &Layout::default()));
    }

    #[test]
    fn classes_of_a_narrow_terminal() {
        let layout = Layout {
            width: 70,
            rows: Some(Rows::Classes),
            ..Layout::default()
        };
        let text = shown(&fixture::bundle(), &layout);
        assert!(
            text.lines().all(|line| line.chars().count() <= 70),
            "{text}"
        );
        insta::assert_snapshot!(text);
    }

    #[test]
    fn modules_of_a_group() {
        let (bank, web) = (fixture::bundle(), fixture::web());
        let mut bytes = Vec::new();
        write(&fixture::group(&bank, &web), &mut bytes).unwrap();
        insta::assert_snapshot!(String::from_utf8(bytes).unwrap());
    }

    #[test]
    fn colours_only_on_request() {
        let plain = Layout::default();
        let coloured = shown(
            &fixture::bundle(),
            &Layout {
                colours: true,
                ..plain
            },
        );
        assert!(!shown(&fixture::bundle(), &plain).contains('\x1b'));
        insta::assert_snapshot!(coloured.replace('\x1b', "␛"));
    }

    #[test]
    fn percentage_is_0_or_100_only_if_exact() {
        let shown = |missed, covered| percent(Counter::new(missed, covered));
        assert_eq!(shown(1, 9_999).as_deref(), Some("99"));
        assert_eq!(shown(99_984, 16).as_deref(), Some("<1"));
        assert_eq!(shown(99, 1).as_deref(), Some("1"));
        assert_eq!(shown(0, u32::MAX).as_deref(), Some("100"));
        assert_eq!(shown(7, 0).as_deref(), Some("0"));
        assert_eq!(shown(0, 0), None);
    }

    #[test]
    fn names_cannot_control_the_terminal() {
        let class = fixture::class(
            "a/\x1b[2JB",
            None,
            vec![fixture::method("run", "()V", &[(1, 0, 0, 0, 1)])],
        );
        let mut builder = crate::model::BundleBuilder::default();
        builder.add(class).unwrap();
        assert!(!shown(&builder.build("x"), &Layout::default()).contains('\x1b'));
    }

    #[test]
    fn empty_report_is_mentioned() {
        assert_eq!(
            shown(&BundleCoverage::default(), &Layout::default()),
            "no class with instructions was measured\n"
        );
    }
}
