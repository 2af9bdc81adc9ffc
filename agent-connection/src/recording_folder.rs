//! The folder for recordings of an agent in a running JVM, whose user and file system may be
//! others.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::path::{Path, PathBuf};

use agent_launch::checked_options::CheckedOptions;
use attach::Process;
use errors::{Error, codes};
use local_files::absolute_path::absolute;
use rustix::fs::Access;
use rustix::process::geteuid;
use standard_streams::show::{self, say};

/// The default folder, relative to that of the command.
pub const DEFAULT: &str = "classhook";

/// The folder in another file system, and the start of its name in ours, if no option names one.
const ELSEWHERE: &str = "/tmp/classhook";

/// Access required for creating files in a folder.
const MAKE_FILES: Access = Access::WRITE_OK.union(Access::EXEC_OK);

/// Returns the folder, as the JVM sees it. A folder that root creates for another user becomes that
/// user's.
///
/// # Errors
/// If the JVM's user cannot write to the folder that an option names (`H0620`).
pub fn of_jvm(
    process: &Process,
    library: &Path,
    checked: &CheckedOptions,
) -> Result<PathBuf, Error> {
    let is_default = checked.is_default_output;
    in_jvm(process, library, (&checked.output, is_default))
}

/// Returns the folder for data that outlasts a visit, as the JVM sees it: the named one, or else
/// the default.
///
/// # Errors
/// If the current folder was removed, or the JVM's user cannot write to the named folder (`H0620`).
pub fn lasting(process: &Process, named: Option<&Path>) -> Result<PathBuf, Error> {
    let folder = absolute(named.unwrap_or(Path::new(DEFAULT)))?;
    let around = folder.parent().unwrap_or(Path::new("/"));
    in_jvm(process, around, (&folder, named.is_none()))
}

/// Returns the requested folder, or another one if that is the default and unusable for the JVM.
/// The JVM has our file system if it sees the path `here`.
fn in_jvm(
    process: &Process,
    here: &Path,
    (asked, is_default): (&Path, bool),
) -> Result<PathBuf, Error> {
    let asked = &asked.to_owned();
    if !process.sees(here) {
        return Ok(match is_default {
            true => PathBuf::from(ELSEWHERE),
            false => asked.clone(),
        });
    }
    if geteuid().as_raw() == process.effective_uid() {
        return Ok(asked.clone());
    }
    let Err(error) = make_for(process, asked) else {
        return Ok(asked.clone());
    };
    if !is_default {
        return Err(refused(process, asked, &error));
    }
    let user = process.effective_uid();
    let folder = PathBuf::from(format!("{ELSEWHERE}-{user}"));
    make_own(process, &folder).map_err(|error| refused(process, &folder, &error))?;
    let (ours, theirs) = (show::path(asked), show::path(&folder));
    say(format_args!(
        "the agent records in {theirs}: the JVM's user {user} cannot write to {ours}"
    ));
    Ok(folder)
}

fn refused(process: &Process, folder: &Path, error: &io::Error) -> Error {
    let (user, folder) = (process.effective_uid(), folder.display());
    let message = format!("the JVM's user {user} cannot write to {folder}");
    Error::mistake(codes::H0620, message)
        .with("found", error.to_string())
        .with(
            "help",
            "name another folder with --output; a new one is created for that user",
        )
}

/// Creates the folder if it is missing, and checks that the user of the process can create files in
/// it.
fn make_for(process: &Process, folder: &Path) -> io::Result<()> {
    match process.check_access(folder, MAKE_FILES) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        checked => return checked,
    }
    match process.as_its_user(|| fs::create_dir_all(folder)) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
        made => return made,
    }
    let above = folder.ancestors().find(|above| above.exists());
    let above = above.ok_or(ErrorKind::NotFound)?;
    process.check_access(above, Access::EXEC_OK)?;
    if fs::metadata(above)?.uid() != geteuid().as_raw() {
        return Err(ErrorKind::PermissionDenied.into()); // its owner could replace the new folder by a link
    }
    make_below(process, above, folder)?;
    process.check_access(folder, MAKE_FILES)
}

/// Creates a folder of ours below another folder of ours, with those between, and gives them to the
/// user of the process.
fn make_below(process: &Process, above: &Path, folder: &Path) -> io::Result<()> {
    let missing = folder.ancestors().take_while(|missing| *missing != above);
    let missing: Vec<&Path> = missing.collect();
    for folder in missing.iter().rev() {
        fs::create_dir(folder)?;
    }
    let (user, group) = (process.effective_uid(), process.effective_gid());
    let mut missing = missing.into_iter(); // the innermost first, while its parents are still ours
    missing.try_for_each(|folder| chown(folder, Some(user), Some(group)))
}

/// As [`make_for`], for a folder in `/tmp`, to which every user may write. No other user can read
/// recordings there.
fn make_own(process: &Process, folder: &Path) -> io::Result<()> {
    let mut private = DirBuilder::new();
    private.mode(0o700);
    match process.as_its_user(|| private.create(folder)) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        made => return made,
    }
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() || found.uid() != process.effective_uid() {
        let message = format!("it exists already, and belongs to user {}", found.uid());
        return Err(io::Error::new(ErrorKind::PermissionDenied, message));
    }
    process.check_access(folder, MAKE_FILES)
}
