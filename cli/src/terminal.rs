//! What standard output is.

use std::io::IsTerminal;

/// Characters in a line of the terminal; none if it is no terminal, or says nothing.
#[must_use]
pub fn width() -> Option<usize> {
    let out = std::io::stdout();
    let size = rustix::termios::tcgetwinsize(&out).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0 && out.is_terminal())
}

/// Whether to use colours: on a terminal, unless `NO_COLOR` is set.
#[must_use]
pub fn colours() -> bool {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && !unwanted
}
