//! The programs that are installed beside this command.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The required version of these programs: this command's own.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the path of a program beside this command, which may not exist.
#[must_use]
pub fn path(program: &str) -> PathBuf {
    let path = std::env::current_exe().map(|command| command.with_file_name(program));
    path.unwrap_or_else(|_| PathBuf::from(program))
}

/// Starts a program and checks its version.
///
/// # Errors
/// The output or failure that differs from the expected version.
pub fn check(program: &str) -> Result<(), String> {
    let mut command = Command::new(path(program));
    let ran = command.arg("--version").stdin(Stdio::null()).output();
    let ran = ran.map_err(|error| format!("it does not start: {error}"))?;
    let said = String::from_utf8_lossy(&ran.stdout);
    match said.lines().next().unwrap_or_default() {
        line if line == format!("{program} {VERSION}") => Ok(()),
        "" => Err(format!("it does not say its version: {}", ran.status)),
        line => Err(format!("another version: {line}")),
    }
}
