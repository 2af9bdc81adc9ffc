//! The objects that retain the heap, computed in a child process: its memory grows with the heap.

use std::path::Path;
use std::process::Output;

use child_process::own_program::{self, RETAINERS};
use errors::{Error, PARTIAL, codes};
use standard_streams::show;

/// Prints the objects of a heap dump that retain the most.
///
/// # Errors
/// If the child process ends without a result (`H0667`), or the file is no heap dump (`H0664`).
pub fn show(dump: &Path, rows: usize) -> Result<(), Error> {
    let mut reader = own_program::command(RETAINERS);
    let output = reader.arg(dump).arg(rows.to_string()).output();
    let output = output.map_err(|error| unusable(&error.to_string()))?;
    show::show(&table(dump, &output)?)
}

/// The table that the child process printed.
fn table(dump: &Path, output: &Output) -> Result<String, Error> {
    let printed = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) if !output.stdout.is_empty() => {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Some(code) if code == i32::from(PARTIAL) => {
            let message = format!("{} cannot be read as a heap dump", dump.display());
            Err(Error::mistake(codes::H0664, message).with("found", printed.trim()))
        }
        _ => Err(unusable(&format!("{}: {}", output.status, printed.trim()))),
    }
}

fn unusable(found: &str) -> Error {
    let expected = "some 80 bytes of memory for each object of the heap, and 12 for each reference";
    Error::partial(
        codes::H0667,
        "the process that reads the heap dump ended without a result",
    )
    .with("expected", expected)
    .with("found", found)
    .with(
        "help",
        "`--heap dump=FILE` writes the dump; read it on a machine with more memory",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    /// The result for a child process with this wait status.
    fn result(status: i32, stdout: &str, stderr: &str) -> Result<String, String> {
        let output = Output {
            status: ExitStatus::from_raw(status),
            stdout: stdout.into(),
            stderr: stderr.into(),
        };
        table(Path::new("app.hprof"), &output).map_err(|problem| problem.code().to_owned())
    }

    #[test]
    fn child_process_that_is_killed_or_prints_nothing_is_an_error() {
        const KILLED: i32 = 9;
        const EXIT_3: i32 = 3 << 8;
        assert_eq!(result(0, "table", ""), Ok("table".to_owned()));
        assert_eq!(result(KILLED, "ta", ""), Err("H0667".to_owned()));
        assert_eq!(result(0, "", ""), Err("H0667".to_owned()));
        assert_eq!(result(EXIT_3, "", "no magic"), Err("H0664".to_owned()));
    }
}
