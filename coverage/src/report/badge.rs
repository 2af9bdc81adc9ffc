//! A badge with the part of the lines that is covered, as a picture (SVG) for a page of the project.

use std::io::{self, Write};

use super::table::percent;
use crate::model::Counter;

/// From how many percent on a badge has which colour; white text can be read on each.
const COLOURS: [(u64, &str); 3] = [(80, "#2a7d2e"), (50, "#8a6100"), (0, "#b3261e")];
const NOTHING: &str = "#555555";

/// Writes the badge of these lines.
///
/// # Errors
/// `out` cannot be written.
pub fn write(lines: Counter, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
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
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="110" height="20" role="img" aria-label="coverage: {value}">
  <title>coverage: {value}</title>
  <rect width="66" height="20" fill="{NOTHING}"/>
  <rect x="66" width="44" height="20" fill="{colour}"/>
  <g fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
    <text x="33" y="14">coverage</text>
    <text x="88" y="14">{value}</text>
  </g>
</svg>
"##
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_and_colour_are_those_of_the_lines() {
        for (missed, covered, value, colour) in [
            (0, 7, "100%", COLOURS[0].1),
            (21, 79, "79%", COLOURS[1].1),
            (9_999, 1, "&lt;1%", COLOURS[2].1),
            (0, 0, "none", NOTHING),
        ] {
            let mut bytes = Vec::new();
            write(Counter::new(missed, covered), &mut bytes).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            assert!(text.contains(&format!(">{value}</text>")), "{text}");
            let field = format!(r#"width="44" height="20" fill="{colour}""#);
            assert!(text.contains(&field), "{text}");
        }
    }
}
