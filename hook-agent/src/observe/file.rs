//! The file of a recording, beside the snapshot: written anew as a whole each time.

use crate::agent::Agent;
use observations::Recorded;
use observations::recorded::EXTENSION;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Where a recording is written.
pub(super) struct File {
    path: PathBuf,
}

impl File {
    /// A name that no earlier recording of this agent had.
    pub fn new(agent: &Agent) -> Self {
        let snapshot = agent.snapshot.path();
        let extension = match agent.observation.recordings.load(Ordering::Relaxed) {
            ..2 => EXTENSION.to_owned(),
            number => format!("{number}.{EXTENSION}"),
        };
        Self {
            path: snapshot.with_extension(extension),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes what was recorded: a new file, which then takes the place of the former.
    pub fn write(&mut self, recorded: &Recorded) -> Result<(), String> {
        let beside = self.path.with_extension("observed.new");
        let content = serde_json::to_vec(recorded).map_err(|error| error.to_string())?;
        let written = fs::write(&beside, content).and_then(|()| fs::rename(&beside, &self.path));
        written.map_err(|error| {
            let _ = fs::remove_file(&beside);
            format!("{} cannot be written: {error}", self.path.display())
        })
    }
}
