//! Text on standard output.

use std::io::Write;

use crate::problem::Problem;

/// Writes text; a reader that has had enough is no error.
///
/// # Errors
/// If standard output cannot be written (`H0624`).
pub fn show(text: &str) -> Result<(), Problem> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Problem::ours("H0624", "cannot write to standard output")
                .with("found", error.to_string()))
        }
        _ => Ok(()),
    }
}
