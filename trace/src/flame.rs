//! Flame graphs: an SVG to open in a browser, with search and zoom.

use std::io::{self, Write};

use inferno::flamegraph::{self, Options};

use crate::stacks::Stacks;

/// Writes the flame graph; widths are nanoseconds.
///
/// # Errors
/// `out` cannot be written, or there is no stack at all.
pub fn write(stacks: &Stacks, title: &str, out: &mut impl Write) -> io::Result<()> {
    let lines = stacks.lines();
    let mut options = Options::default();
    title.clone_into(&mut options.title);
    options.subtitle = Some("Time in traced methods, all threads together".to_owned());
    "ns".clone_into(&mut options.count_name);
    options.deterministic = true;
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), out)
        .map_err(io::Error::other)
}
