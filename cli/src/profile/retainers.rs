//! What retains the heap, by the program beside this command: it takes memory by the size of the heap.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::problem::Problem;
use crate::show;

/// File name of the program.
pub const READER: &str = "classhook-heap";

/// Makes sure that the program is there, before a JVM stands still for its sake.
///
/// # Errors
/// If it is not (`H0667`).
pub fn check() -> Result<(), Problem> {
    match program().and_then(std::fs::metadata) {
        Ok(_) => Ok(()),
        Err(error) => Err(unusable(&error.to_string())),
    }
}

fn program() -> io::Result<PathBuf> {
    std::env::current_exe().map(|command| command.with_file_name(READER))
}

/// Prints which objects of a heap dump retain the most.
///
/// # Errors
/// If the program is not there (`H0667`), or the file is no heap dump (`H0664`).
pub fn show(dump: &Path, rows: usize) -> Result<(), Problem> {
    let ran = program().and_then(|program| {
        let mut reader = Command::new(program);
        reader.arg(env!("CARGO_PKG_VERSION")).arg(dump);
        reader.arg(rows.to_string()).output()
    });
    let output = ran.map_err(|error| unusable(&error.to_string()))?;
    let told = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) if !output.stdout.is_empty() => {
            show::show(&String::from_utf8_lossy(&output.stdout))
        }
        Some(3) => {
            let message = format!("{} cannot be read as a heap dump", dump.display());
            Err(Problem::user("H0664", message).with("found", told.trim()))
        }
        _ => {
            let told = match told.trim() {
                "" => "it printed nothing",
                told => told,
            };
            Err(unusable(&format!("{}: {told}", output.status)))
        }
    }
}

fn unusable(found: &str) -> Problem {
    let version = env!("CARGO_PKG_VERSION");
    Problem::partial("H0667", format!("{READER}, which reads heap dumps, cannot be used"))
        .with("expected", format!("version {version}, beside the command, and memory for the heap"))
        .with("found", found)
        .with("help", "install all files of one version; `--heap dump=FILE` writes the dump for a machine with more memory")
}
