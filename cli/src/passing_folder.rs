//! A folder that goes with the command, for what is recorded when nobody said where.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use attach::Process;
use tempfile::TempDir;

use crate::agent::Agent;
use crate::args::Settings;
use crate::jvm_tmp::JvmTmp;
use crate::problem::Problem;
use crate::show::{self, say};
use crate::temporary::{self, KEPT, RECORDS};

/// The folder; it is deleted when this is dropped, or by a later command of this user if this one is killed.
#[derive(Debug)]
pub struct PassingFolder {
    ours: TempDir,
    /// The path of the folder goes through it.
    _tmp: Option<JvmTmp>,
    /// Where those see it who record.
    theirs: PathBuf,
}

impl PassingFolder {
    /// In the `/tmp` that a JVM sees, with a folder within that is its user's; the settings then name that. None if
    /// somebody said where to record, or an agent is there already: it records where it always does.
    ///
    /// # Errors
    /// If there is no such process, or no folder can be made (`H0620`).
    pub fn in_jvm(pid: i32, settings: &mut Settings) -> Result<Option<Self>, Problem> {
        match Agent::find(pid)? {
            Ok(_) => Ok(None),
            Err(process) => Self::seen_by(&process, settings),
        }
    }

    /// As [`PassingFolder::in_jvm`], for a session: also in a JVM that has an agent.
    ///
    /// # Errors
    /// As [`PassingFolder::in_jvm`].
    pub fn in_any_jvm(pid: i32, settings: &mut Settings) -> Result<Option<Self>, Problem> {
        match Agent::find(pid)? {
            Ok(agent) => Self::seen_by(agent.process(), settings),
            Err(process) => Self::seen_by(&process, settings),
        }
    }

    fn seen_by(process: &Process, settings: &mut Settings) -> Result<Option<Self>, Problem> {
        if !is_anywhere(settings) {
            return Ok(None);
        }
        let tmp = JvmTmp::open(process).map_err(no_folder)?;
        let ours = make(&tmp.path()).map_err(no_folder)?;
        tmp.give(&ours.path().join(RECORDS)).map_err(no_folder)?;
        let theirs = tmp.seen(ours.path()).join(RECORDS);
        settings.output = Some(theirs.clone());
        settings.is_output_passing = true;
        let _tmp = Some(tmp);
        Ok(Some(Self { ours, _tmp, theirs }))
    }

    /// For the JVMs of a command; the settings then name it. None if somebody said where to record.
    ///
    /// # Errors
    /// If no folder can be made (`H0620`).
    pub fn of_command(settings: &mut Settings) -> Result<Option<Self>, Problem> {
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

    /// It is not deleted, because somebody records there who does not answer now.
    pub fn leave(&mut self) {
        let _ = fs::write(self.ours.path().join(KEPT), "");
        self.ours.disable_cleanup(true);
    }

    /// Leaves it, because an agent stays that records there; not if another command's agent records elsewhere.
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
            "the agent goes on recording in {path}, which is kept for a day after its last change"
        ));
    }
}

/// Makes the two folders.
fn make(tmp: &Path) -> io::Result<TempDir> {
    let ours = temporary::folder(tmp)?;
    // Whoever records knows the name, and may be another user.
    fs::set_permissions(ours.path(), Permissions::from_mode(0o711))?;
    fs::create_dir(ours.path().join(RECORDS))?;
    Ok(ours)
}

/// Whether nobody said where to record.
fn is_anywhere(settings: &Settings) -> bool {
    settings.output.is_none()
        && settings.file_name.is_none()
        && settings.configuration().file.is_none()
}

/// There is no place for a temporary file or folder.
pub fn no_folder(error: io::Error) -> Problem {
    Problem::user("H0620", "there is no place for what is recorded")
        .with("found", error.to_string())
        .with("help", "name a folder with --output")
}
