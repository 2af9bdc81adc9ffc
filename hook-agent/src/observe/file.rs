//! The file of a subscriber, beside the snapshot. Each write replaces the whole file.

use crate::agent::Agent;
use crate::agent::observation::Listener;
use observations::{recorded, tables};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// The path of the file.
pub(super) struct File {
    path: PathBuf,
}

impl File {
    /// A name that no earlier file of this agent had.
    pub fn new(agent: &Agent, listener: Listener) -> Self {
        let observation = &agent.observation;
        let (number, extension) = match listener {
            Listener::Recording => (&observation.recordings, recorded::EXTENSION),
            Listener::Plugin(_) | Listener::Waits(_) => (&observation.listeners, tables::EXTENSION),
        };
        let extension = match number.load(Ordering::Relaxed) {
            ..2 => extension.to_owned(),
            number => format!("{number}.{extension}"),
        };
        Self {
            path: agent.snapshot.path().with_extension(extension),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the content to a new file, which then replaces the former one.
    pub fn write(&self, content: &impl Serialize) -> Result<(), String> {
        let beside = self.path.with_added_extension("new");
        let content = serde_json::to_vec(content).map_err(|error| error.to_string())?;
        let written = fs::write(&beside, content).and_then(|()| fs::rename(&beside, &self.path));
        written.map_err(|error| {
            let _ = fs::remove_file(&beside);
            format!("{} cannot be written: {error}", self.path.display())
        })
    }
}
