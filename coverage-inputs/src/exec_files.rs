//! JaCoCo's `.exec` files.

use std::path::Path;

use coverage::report::{ExecutionData, Session, exec};
use errors::{Error, codes};

/// Reads sessions and execution data of a file.
///
/// # Errors
/// If the file cannot be read or is damaged (`H0611`).
pub fn read(path: &Path) -> Result<(Vec<Session>, Vec<ExecutionData>), Error> {
    read_since(path, i64::MIN)
}

/// Reads the sessions of a file that began at this time or later (milliseconds since 1970), and
/// their execution data.
///
/// # Errors
/// As [`read`].
pub fn read_since(path: &Path, start_ms: i64) -> Result<(Vec<Session>, Vec<ExecutionData>), Error> {
    let bytes = std::fs::read(path).map_err(|error| Error::unreadable(path, &error))?;
    let data = exec::read_since(&bytes, start_ms).map_err(|error| {
        Error::mistake(codes::H0611, format!("cannot read {}", path.display()))
            .with("found", error.to_string())
            .with("help", "run the program again, or report without this file")
    })?;
    Ok((data.sessions, data.classes))
}
