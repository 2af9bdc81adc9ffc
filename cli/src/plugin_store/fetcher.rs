//! Downloads components with the program beside this command.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::problem::Problem;

/// File name of the download program. Its code for encrypted connections would be a sixth of the
/// command.
pub const FETCHER: &str = "classhook-fetch";

/// Downloads a component of at most `most` bytes into the new file `to`. Returns the version from
/// its registry. With a digest, a registry that supports it is asked for this component only.
///
/// # Errors
/// If the program is missing or of another version (`H0695`), or the download fails (`H0693`).
pub fn fetch(
    source: &str,
    to: &Path,
    most: u64,
    digest: Option<&str>,
) -> Result<Option<String>, Problem> {
    let program = std::env::current_exe().map(|command| command.with_file_name(FETCHER));
    let ran = program.and_then(|program| {
        let mut fetch = Command::new(program);
        fetch.arg(env!("CARGO_PKG_VERSION")).arg(source).arg(to);
        fetch.arg(most.to_string()).args(digest);
        fetch.stdin(Stdio::null()).stderr(Stdio::inherit()).output()
    });
    let output = ran.map_err(|error| unusable(&error.to_string()))?;
    let answer: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| unusable(&format!("{}, without an answer", output.status)))?;
    let text = |key: &str| answer.get(key).and_then(Value::as_str).map(str::to_owned);
    if let Some(other) = text("other-version") {
        return Err(unusable(&format!("version {other}")));
    }
    let Some(found) = text("failed") else {
        return Ok(text("version"));
    };
    let problem =
        Problem::user("H0693", format!("{source} cannot be fetched")).with("found", found);
    let problem = match text("expected") {
        Some(expected) => problem.with("expected", expected),
        None => problem,
    };
    Err(match text("help") {
        Some(help) => problem.with("help", help),
        None => problem,
    })
}

fn unusable(found: &str) -> Problem {
    Problem::user(
        "H0695",
        format!("{FETCHER}, which fetches plugins, cannot be used"),
    )
    .with(
        "expected",
        format!("version {}, beside the command", env!("CARGO_PKG_VERSION")),
    )
    .with("found", found)
    .with(
        "help",
        "install all files of one version, or fetch the component by other means and add the file",
    )
}
