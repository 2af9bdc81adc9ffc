//! Checks that outputs replace neither one another nor an input of reports.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use errors::{Error, codes};

use crate::absolute_path::absolute;
use crate::stdout::is_stdout;

/// Returns the paths of these outputs without links. Each comes with the option that names it.
///
/// # Errors
/// `H0670` with both options of one file, and `H0689` for an output in place of an input.
pub fn check<'a>(
    outputs: impl IntoIterator<Item = (&'a str, &'a Option<PathBuf>)>,
) -> Result<Vec<(&'a str, PathBuf)>, Error> {
    let mut known: Vec<(&str, PathBuf)> = Vec::new();
    for (option, path) in outputs {
        let Some(path) = path else { continue };
        let real = real_path(path)?;
        if let Some((other, _)) = known.iter().find(|(_, known)| *known == real) {
            return Err(both(other, option, path));
        }
        check_is_no_material(option, &real)?;
        known.push((option, real));
    }
    Ok(known)
}

/// Returns a path without links, also for a file that does not exist yet, so that equal files have
/// equal paths.
///
/// # Errors
/// If the current folder was removed.
pub fn real_path(path: &Path) -> Result<PathBuf, Error> {
    let path = absolute(path)?;
    let there = path
        .ancestors()
        .find_map(|part| Some((part, part.canonicalize().ok()?)));
    Ok(match there {
        Some((part, real)) => match path.strip_prefix(part) {
            Ok(rest) if rest.as_os_str().is_empty() => real,
            Ok(rest) => real.join(rest),
            Err(_) => path,
        },
        None => path,
    })
}

/// Returns the error for two outputs in one file (`H0670`).
#[must_use]
pub fn both(one: &str, other: &str, path: &Path) -> Error {
    let message = match is_stdout(path) {
        true => format!("{one} and {other} would both write to standard output"),
        false => format!("{one} and {other} would both write {}", path.display()),
    };
    Error::mistake(codes::H0670, message).with("help", "name a different file for one output")
}

/// Magic bytes of the inputs of reports: snapshots, event files, class files, jars.
pub const MATERIAL: [&[u8]; 4] = [
    &probes::format::MAGIC,
    &probes::events::MAGIC,
    b"\xCA\xFE\xBA\xBE",
    b"PK\x03\x04",
];

/// Returns the first bytes of a file, or nothing for a missing or unreadable one. Writing reports
/// the cause.
fn begin_of(path: &Path) -> Option<Vec<u8>> {
    let mut begin = Vec::new();
    let file = path.is_file().then(|| File::open(path).ok())??;
    file.take(8).read_to_end(&mut begin).ok()?;
    Some(begin)
}

/// Refuses to replace an input of reports by a report.
fn check_is_no_material(option: &str, path: &Path) -> Result<(), Error> {
    let begin = begin_of(path).unwrap_or_default();
    if !MATERIAL.iter().any(|magic| begin.starts_with(magic)) {
        return Ok(());
    }
    let message = format!("{option} would replace {}", path.display());
    Err(Error::mistake(codes::H0689, message)
        .with(
            "found",
            "an input of reports: a run file, a class file or a jar",
        )
        .with("help", "name another file"))
}
