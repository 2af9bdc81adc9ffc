//! The results of the run, and the files that hold them.

use crate::agent::failures::Failures;
use crate::agent::sessions::Sessions;
use crate::agent::snapshot::Snapshot;
use crate::agent::test_runs::TestRuns;
use crate::probe_table;
use crate::spans::event_file::EventFile;
use host::config::Agent as Settings;
use probes::{Meta, ProbeTable, SnapshotWriter};

/// The results of the run.
#[derive(Debug)]
pub(crate) struct Results {
    /// The probe ranges of each class.
    pub table: &'static ProbeTable,
    /// The failures.
    pub failures: Failures,
    /// The snapshot.
    pub snapshot: Snapshot,
    /// The event files.
    pub sessions: Sessions,
    /// The tests that are under way.
    pub tests: TestRuns,
    /// The metadata of the run.
    pub meta: Meta,
    /// The id of this JVM, unique among JVMs.
    pub jvm_id: String,
}

impl Results {
    /// Begins without a result.
    pub fn new(settings: &Settings, writer: SnapshotWriter, meta: Meta) -> Self {
        let table = probe_table::table();
        table.keep_loaders_apart(settings.per_loader);
        let events = EventFile::new(0, meta.clone(), settings);
        Self {
            table,
            failures: Failures::default(),
            snapshot: Snapshot::new(writer),
            sessions: Sessions::new(events, meta.start_ms),
            tests: TestRuns::default(),
            jvm_id: meta.jvm_id(),
            meta,
        }
    }
}
