//! Flame graphs: an SVG to open in a browser, with search and zoom.

use std::io::{self, Write};

use inferno::flamegraph::{self, Options};

use crate::stacks::Stacks;

/// What a flame graph is called, and what its widths stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Labels<'a> {
    /// The first line.
    pub title: &'a str,
    /// The second.
    pub subtitle: &'a str,
    /// The unit of the widths.
    pub unit: &'a str,
}

/// Writes the flame graph of traced calls; widths are nanoseconds.
///
/// # Errors
/// `out` cannot be written, or there is no stack at all.
pub fn write(stacks: &Stacks, title: &str, out: &mut impl Write) -> io::Result<()> {
    let labels = Labels {
        title,
        subtitle: "Time in traced methods, all threads together",
        unit: "ns",
    };
    write_lines(&stacks.lines(), labels, out)
}

/// Writes the flame graph of folded stacks.
///
/// # Errors
/// As [`write()`].
pub fn write_lines(lines: &[String], labels: Labels<'_>, out: &mut impl Write) -> io::Result<()> {
    let mut options = Options::default();
    labels.title.clone_into(&mut options.title);
    options.subtitle = Some(labels.subtitle.to_owned());
    labels.unit.clone_into(&mut options.count_name);
    options.deterministic = true;
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), out)
        .map_err(io::Error::other)
}
