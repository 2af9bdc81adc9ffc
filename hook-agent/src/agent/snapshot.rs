//! The snapshot file while it is written.

use crate::messages::{self, Code};
use probes::{Flush, ProbeRange, ProbeTable, SnapshotWriter, Summary, TakenHits, WriteError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The snapshot file of one agent.
#[derive(Debug)]
pub(crate) struct Snapshot {
    path: PathBuf,
    /// `None` once the file is complete and the agent has left.
    writer: Mutex<Option<SnapshotWriter>>,
    /// Held while arrays are copied or set to zero.
    exclusive: Mutex<()>,
    /// True once the file is complete or discarded.
    completed: AtomicBool,
}

impl Snapshot {
    /// Creates the state of this file.
    pub fn new(writer: SnapshotWriter) -> Self {
        Self {
            path: writer.path().to_owned(),
            writer: Mutex::new(Some(writer)),
            exclusive: Mutex::default(),
            completed: AtomicBool::new(false),
        }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The length of the file, in bytes.
    pub fn length(&self) -> u64 {
        self.writer().as_ref().map_or(0, SnapshotWriter::length)
    }

    /// Blocks other threads from copying or zeroing arrays until the guard is dropped.
    pub fn exclusive(&self) -> MutexGuard<'_, ()> {
        self.exclusive
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a reading of all arrays begins. The next write makes all earlier hits part of the snapshot.
    pub fn begin_reading(&self) {
        if let Some(writer) = self.writer().as_mut() {
            writer.begin_reading();
        }
    }

    /// Takes over the hits of an array.
    pub fn absorb(&self, array: u16, hits: &[i8]) {
        if let Some(writer) = self.writer().as_mut() {
            writer.absorb(array, hits);
        }
    }

    /// Takes over elements that were taken out of an array.
    pub fn note(&self, array: u16, taken: &[(u16, i8)]) {
        if let Some(writer) = self.writer().as_mut() {
            writer.note(array, taken);
        }
    }

    /// Takes over elements that were taken out of arrays while these tests were under way. Returns false, once, if the
    /// coverage of later tests is not kept any more.
    pub fn tested(&self, tests: &[String], taken: &TakenHits) -> bool {
        let mut writer = self.writer();
        writer
            .as_mut()
            .is_none_or(|writer| writer.tested(tests, taken))
    }

    /// Stops keeping the coverage of tests. Returns true the first time.
    pub fn cut_tests_off(&self) -> bool {
        let mut writer = self.writer();
        writer.as_mut().is_some_and(SnapshotWriter::cut_tests_off)
    }

    /// The bytes of an array that were taken over so far.
    pub fn known(&self, array: u16) -> Vec<i8> {
        let writer = self.writer();
        writer
            .as_ref()
            .map_or_else(Vec::new, |writer| writer.known(array).to_vec())
    }

    /// Clears the hits in these ranges of the arrays.
    pub fn reset(&self, plugin: Option<&str>, ranges: &[ProbeRange]) {
        if let Some(writer) = self.writer().as_mut() {
            writer.reset(plugin, ranges);
        }
    }

    /// Writes new data.
    ///
    /// # Errors
    ///
    /// The reason why data is not on disk. A failing write is reported the first time.
    pub fn flush(&self, table: &ProbeTable, failures: &[probes::Failure]) -> Result<(), String> {
        let flushed = self.writer().as_mut().map(|writer| {
            failures.iter().for_each(|failure| writer.failure(failure));
            writer.flush(table)
        });
        match flushed {
            Some(Err(error)) => {
                messages::error(Code::Write, &error);
                Err(error.to_string())
            }
            Some(Ok(Flush::Stalled(bytes))) => Err(format!("{bytes} bytes are not written yet")),
            _ => Ok(()),
        }
    }

    /// Checks whether the file is complete or discarded.
    pub fn is_completed(&self) -> bool {
        self.completed.load(Ordering::Acquire)
    }

    /// Returns true once: to the caller that has to complete the file.
    pub fn begin_completion(&self) -> bool {
        !self.completed.swap(true, Ordering::AcqRel)
    }

    /// Completes the file and reports a failure. Returns false if the file is incomplete.
    pub fn complete(
        &self,
        table: &ProbeTable,
        failures: &[probes::Failure],
        summary: &Summary,
    ) -> bool {
        let written = self.writer().as_mut().map_or(Ok(()), |writer| {
            failures.iter().for_each(|failure| writer.failure(failure));
            writer.complete(table, summary)
        });
        if let Err(error) = &written {
            messages::error(
                Code::Write,
                format_args!("the snapshot is incomplete: {}", describe(error)),
            );
        }
        written.is_ok()
    }

    /// Closes the file, and writes it again if it was removed during the run. Returns false if that fails.
    pub fn close(&self) -> bool {
        let Some(mut writer) = self.writer().take() else {
            return true;
        };
        let restored = writer.restore();
        let path = self.path.display();
        match &restored {
            Ok(false) => {}
            Ok(true) => messages::warning(
                Code::Write,
                format_args!("{path} was removed during the run; it was written again"),
            ),
            Err(error) => messages::error(
                Code::Write,
                format_args!(
                    "{path} was removed during the run, and cannot be written again: {error}"
                ),
            ),
        }
        restored.is_ok()
    }

    /// Removes the file of an agent that did not start.
    pub fn discard(&self) {
        self.completed.store(true, Ordering::Release);
        drop(self.writer().take());
        let _ = std::fs::remove_file(&self.path);
    }

    fn writer(&self) -> MutexGuard<'_, Option<SnapshotWriter>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The text of a failed last write, which is not retried.
fn describe(error: &WriteError) -> String {
    match error {
        WriteError::Write {
            path,
            pending,
            source,
        } => {
            format!(
                "{pending} bytes are missing from {}: {source}",
                path.display()
            )
        }
        other => other.to_string(),
    }
}
