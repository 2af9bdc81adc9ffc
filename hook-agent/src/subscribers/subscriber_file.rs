//! The file of a subscriber, beside the snapshot. Each write replaces the whole file.

use crate::agent::Agent;
use crate::agent::subscribers::SubscriberId;
use jvm_events::{recorded, sealed_document, tables};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// The path of the file.
pub(super) struct SubscriberFile {
    path: PathBuf,
}

impl SubscriberFile {
    /// A name that no earlier file of this agent had.
    pub fn new(agent: &Agent, id: SubscriberId) -> Self {
        let subscribers = &agent.subscribers;
        let (number, extension) = match id {
            SubscriberId::Recording => (&subscribers.recordings, recorded::EXTENSION),
            SubscriberId::Plugin(_) | SubscriberId::Waits(_) => {
                (&subscribers.observers, tables::EXTENSION)
            }
        };
        let extension = match number.load(Ordering::Relaxed) {
            ..2 => extension.to_owned(),
            number => format!("{number}.{extension}"),
        };
        Self {
            path: agent.results.snapshot.path().with_extension(extension),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the content to a new file, which then replaces the former one.
    pub fn write(&self, content: &impl Serialize) -> Result<(), String> {
        let beside = self.path.with_added_extension("new");
        let content = sealed_document::seal(content).map_err(|error| error.to_string())?;
        let written = fs::write(&beside, content).and_then(|()| fs::rename(&beside, &self.path));
        written.map_err(|error| {
            let _ = fs::remove_file(&beside);
            format!("{} cannot be written: {error}", self.path.display())
        })
    }
}
