//! Standard output in place of a file.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use errors::{Error, codes};

/// Checks whether a path means standard output.
#[must_use]
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Writes to standard output. A reader that closes its end is no error.
///
/// # Errors
/// `H0624`.
pub fn stream(content: &dyn Fn(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    let mut out = BufWriter::new(io::stdout().lock());
    match content(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::fault(
            codes::H0624,
            "cannot write to standard output",
        )
        .with("found", error.to_string())),
        _ => Ok(()),
    }
}
