//! A temporary folder for recordings, if no option names a folder.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use agent_launch::settings::Settings;
use attach::Process;
use errors::{Error, codes};
use local_files::jvm_tmp::JvmTmp;
use local_files::temporary::{self, KEPT, RECORDS};
use standard_streams::show::{self, say};
use tempfile::TempDir;

use crate::agent::Agent;

/// The folder. Dropping the value deletes it, or a later command of this user does after a kill.
#[derive(Debug)]
pub struct TempOutput {
    ours: TempDir,
    /// Keeps the parent open: the folder's path leads through it.
    _tmp: Option<JvmTmp>,
    /// The folder's path for the recording JVMs.
    theirs: PathBuf,
}

impl TempOutput {
    /// Creates a folder in the `/tmp` that a JVM sees, with a sub-folder owned by the JVM's user,
    /// and names that in the settings. Returns nothing if the settings name a folder, or if an
    /// agent is loaded already: it keeps its own.
    ///
    /// # Errors
    /// If the process does not exist, or the folder cannot be created (`H0620`).
    pub fn in_jvm(pid: i32, settings: &mut Settings) -> Result<Option<Self>, Error> {
        match Agent::find(pid)? {
            Ok(_) => Ok(None),
            Err(process) => Self::seen_by(&process, settings),
        }
    }

    /// As [`TempOutput::in_jvm`], for a session: also in a JVM that has an agent.
    ///
    /// # Errors
    /// As [`TempOutput::in_jvm`].
    pub fn in_any_jvm(pid: i32, settings: &mut Settings) -> Result<Option<Self>, Error> {
        match Agent::find(pid)? {
            Ok(agent) => Self::seen_by(agent.process(), settings),
            Err(process) => Self::seen_by(&process, settings),
        }
    }

    fn seen_by(process: &Process, settings: &mut Settings) -> Result<Option<Self>, Error> {
        if !is_anywhere(settings) {
            return Ok(None);
        }
        let tmp = JvmTmp::open(process).map_err(no_folder)?;
        let failed = |error| no_folder(error).with("in", "/tmp of the JVM");
        let ours = make(&tmp.path()).map_err(failed)?;
        tmp.give(&ours.path().join(RECORDS)).map_err(failed)?;
        let theirs = tmp.seen(ours.path()).join(RECORDS);
        settings.output = Some(theirs.clone());
        settings.is_output_passing = true;
        let _tmp = Some(tmp);
        Ok(Some(Self { ours, _tmp, theirs }))
    }

    /// Creates a folder for the JVMs of a command, and names it in the settings. Returns nothing if
    /// the settings name a folder.
    ///
    /// # Errors
    /// If the folder cannot be created (`H0620`).
    pub fn of_command(settings: &mut Settings) -> Result<Option<Self>, Error> {
        if !is_anywhere(settings) {
            return Ok(None);
        }
        let ours = make(&std::env::temp_dir()).map_err(no_folder)?;
        let theirs = ours.path().join(RECORDS);
        settings.output = Some(theirs.clone());
        settings.is_output_passing = true;
        let _tmp = None;
        Ok(Some(Self { ours, _tmp, theirs }))
    }

    /// Leaves the folder in place, because an unresponsive agent records there.
    pub fn leave(&mut self) {
        let _ = fs::write(self.ours.path().join(KEPT), "");
        self.ours.disable_cleanup(true);
    }

    /// Leaves the folder in place if a remaining agent records there. An agent of another command
    /// may record elsewhere.
    pub fn keep(mut self) {
        let mut records = fs::read_dir(self.ours.path().join(RECORDS))
            .into_iter()
            .flatten();
        if records.next().is_none() {
            return;
        }
        self.leave();
        let path = show::path(&self.theirs);
        say(format_args!(
            "the agent continues to record in {path}, which is kept for a day after its last change"
        ));
    }
}

/// Creates the two folders.
fn make(tmp: &Path) -> io::Result<TempDir> {
    let ours = temporary::folder(tmp)?;
    // The recording process knows the name, and may run as another user.
    fs::set_permissions(ours.path(), Permissions::from_mode(0o711))?;
    fs::create_dir(ours.path().join(RECORDS))?;
    Ok(ours)
}

/// Checks whether the settings name no output folder.
fn is_anywhere(settings: &Settings) -> bool {
    settings.output.is_none()
        && settings.file_name.is_none()
        && settings.configuration().file.is_none()
}

/// Returns the error for a missing temporary file or folder.
pub fn no_folder(error: io::Error) -> Error {
    Error::mistake(codes::H0620, "cannot create a folder for the recording")
        .with("found", error.to_string())
        .with("help", "name a folder with --output")
}
