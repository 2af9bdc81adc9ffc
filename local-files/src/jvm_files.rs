//! Checks that the agent can read our files: the JVM's user and file system may be others.

use std::fs;
use std::io::Read;
use std::path::Path;

use attach::Process;
use errors::{Error, codes};
use rustix::fs::Access;

/// Checks whether the JVM sees our file under the same path, and its user may read the file.
#[must_use]
pub fn reads(process: &Process, file: &Path) -> bool {
    process.sees(file) && process.check_access(file, Access::READ_OK).is_ok()
}

/// Checks whether the JVM has our file, or a copy of it, under the same path.
fn has_same(process: &Process, file: &Path) -> bool {
    let copy = || {
        let mut copy = Vec::new();
        process.open_file(file)?.read_to_end(&mut copy)?;
        fs::read(file).map(|ours| ours == copy)
    };
    process.sees(file) || copy().unwrap_or(false)
}

/// Fails if the JVM does not see a file of settings or a plugin, or its user may not read it.
///
/// # Errors
/// `H0607`. The reader of the file reports one that is missing here, too.
pub fn check(process: &Process, file: &Path) -> Result<(), Error> {
    if !file.exists() {
        return Ok(());
    }
    let (pid, user) = (process.pid(), process.effective_uid());
    if !has_same(process, file) {
        let message = format!("the JVM {pid} sees another file system than this command");
        return Err(Error::mistake(codes::H0607, message)
            .with("expected", format!("the same {} in both", file.display()))
            .with("help", "copy it there, to the same path; bundled plugins and options of the command need no file"));
    }
    process.check_access(file, Access::READ_OK).map_err(|error| {
        let message = format!("the JVM's user {user} cannot read {}", file.display());
        Error::mistake(codes::H0607, message)
            .with("found", error.to_string())
            .with(
                "help",
                "let this user read the file and enter its folders, or copy it to a folder such as /tmp",
            )
    })
}
