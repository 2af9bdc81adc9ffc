//! Properties of standard output.

use std::io::IsTerminal;

/// Returns the terminal's width in characters, or nothing without a terminal or its size.
#[must_use]
pub fn width() -> Option<usize> {
    let out = std::io::stdout();
    let size = rustix::termios::tcgetwinsize(&out).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0 && out.is_terminal())
}

/// Returns the width of tables in characters: `COLUMNS`, or else the terminal's width. Without
/// both, lines have no limit.
#[must_use]
pub fn columns() -> Option<usize> {
    let given = std::env::var("COLUMNS").ok();
    let given = given.and_then(|columns| columns.trim().parse().ok());
    given.filter(|columns| *columns > 0).or_else(width)
}

/// Checks whether to use colours: on a terminal, unless `NO_COLOR` is set.
#[must_use]
pub fn colours() -> bool {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && !unwanted
}
