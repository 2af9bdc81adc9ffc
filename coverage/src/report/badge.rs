//! A badge (SVG) with the percentage of covered lines, for a web page of the project.

use std::io::{self, Write};

use super::Report;
use super::table::percent;

/// Colours of the badge with the lowest percentage of each; white text is legible on all.
const COLOURS: [(u64, &str); 3] = [(80, "#2a7d2e"), (50, "#8a6100"), (0, "#b3261e")];
const NOTHING: &str = "#555555";

/// Writes the badge of a report. The label shows whether the report is limited to changed lines.
///
/// # Errors
/// `out` cannot be written.
pub fn write(report: &Report<'_>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let (label, width) = match report.changed {
        None => ("coverage", 66),
        Some(_) => ("changed lines", 94),
    };
    let lines = report.counters.line;
    let (all, middle, value_middle) = (width + 44, width / 2, width + 22);
    let percent = percent(lines);
    let value = match &percent {
        Some(percent) => format!("{percent}%").replace('<', "&lt;"),
        None => "none".to_owned(),
    };
    let covered = (u64::from(lines.covered) * 100).checked_div(u64::from(lines.total()));
    let colour = covered.and_then(|covered| COLOURS.iter().find(|(least, _)| covered >= *least));
    let colour = colour.map_or(NOTHING, |(_, colour)| colour);
    write!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{all}" height="20" role="img" aria-label="{label}: {value}">
  <title>{label}: {value}</title>
  <rect width="{width}" height="20" fill="{NOTHING}"/>
  <rect x="{width}" width="44" height="20" fill="{colour}"/>
  <g fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
    <text x="{middle}" y="14">{label}</text>
    <text x="{value_middle}" y="14">{value}</text>
  </g>
</svg>
"##
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BundleCoverage, Counter};
    use crate::report::NoSources;
    use crate::report::changed::Changed;

    fn badge(lines: Counter, changed: Option<&Changed>) -> String {
        let mut bundle = BundleCoverage::default();
        bundle.counters.line = lines;
        let report = Report {
            changed,
            ..Report::of_bundle(&bundle, &NoSources, &[])
        };
        let mut bytes = Vec::new();
        write(&report, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn badge_of_changed_lines_has_their_label() {
        let changed = Changed::default();
        let text = badge(Counter::new(1, 1), Some(&changed));
        assert!(
            text.contains(r#"aria-label="changed lines: 50%""#),
            "{text}"
        );
        assert!(text.contains(">changed lines</text>"), "{text}");
    }

    #[test]
    fn number_and_colour_show_line_coverage() {
        for (missed, covered, value, colour) in [
            (0, 7, "100%", COLOURS[0].1),
            (21, 79, "79%", COLOURS[1].1),
            (9_999, 1, "&lt;1%", COLOURS[2].1),
            (0, 0, "none", NOTHING),
        ] {
            let text = badge(Counter::new(missed, covered), None);
            assert!(text.contains(&format!(">{value}</text>")), "{text}");
            let field = format!(r#"width="44" height="20" fill="{colour}""#);
            assert!(text.contains(&field), "{text}");
        }
    }
}
