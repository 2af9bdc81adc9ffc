//! What standard output is.

use std::io::IsTerminal;

/// Characters in a line of the terminal; none if it is no terminal, or says nothing.
#[must_use]
pub fn width() -> Option<usize> {
    let out = std::io::stdout();
    let size = rustix::termios::tcgetwinsize(&out).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0 && out.is_terminal())
}

/// Characters in a line of a table: as many as `COLUMNS` says, else those of the terminal; none if lines may be of any
/// length.
#[must_use]
pub fn columns() -> Option<usize> {
    let given = std::env::var("COLUMNS").ok();
    let given = given.and_then(|columns| columns.trim().parse().ok());
    given.filter(|columns| *columns > 0).or_else(width)
}

/// Whether to use colours: on a terminal, unless `NO_COLOR` is set.
#[must_use]
pub fn colours() -> bool {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && !unwanted
}
