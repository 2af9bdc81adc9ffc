//! The snapshot file while it is written.

use crate::messages::{self, Code};
use probes::{Flush, ProbeRange, ProbeTable, SnapshotWriter, Summary, Taken, WriteError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The snapshot file of one agent.
#[derive(Debug)]
pub(crate) struct Snapshot {
    path: PathBuf,
    /// None once it is complete and the agent has left.
    writer: Mutex<Option<SnapshotWriter>>,
    /// Held while arrays are copied or set to zero.
    exclusive: Mutex<()>,
    /// It is complete, or given up.
    completed: AtomicBool,
}

impl Snapshot {
    /// The snapshot that this writes to.
    pub fn new(writer: SnapshotWriter) -> Self {
        Self {
            path: writer.path().to_owned(),
            writer: Mutex::new(Some(writer)),
            exclusive: Mutex::default(),
            completed: AtomicBool::new(false),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How long the file is.
    pub fn length(&self) -> u64 {
        self.writer().as_ref().map_or(0, SnapshotWriter::length)
    }

    /// Keeps others from copying arrays, or from setting them to zero, until the guard is dropped.
    pub fn exclusive(&self) -> MutexGuard<'_, ()> {
        self.exclusive
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The arrays are read from now on; what was hit before is in the snapshot once it is written.
    pub fn begin_reading(&self) {
        if let Some(writer) = self.writer().as_mut() {
            writer.begin_reading();
        }
    }

    /// Takes over which probes of an array were hit.
    pub fn absorb(&self, array: u16, hits: &[i8]) {
        if let Some(writer) = self.writer().as_mut() {
            writer.absorb(array, hits);
        }
    }

    /// Takes over what was taken out of an array.
    pub fn note(&self, array: u16, taken: &[(u16, i8)]) {
        if let Some(writer) = self.writer().as_mut() {
            writer.note(array, taken);
        }
    }

    /// Takes over what was taken out of arrays while these tests were under way; false if of later ones it is not kept any
    /// more, which is told once.
    pub fn tested(&self, tests: &[String], taken: &Taken) -> bool {
        let mut writer = self.writer();
        writer
            .as_mut()
            .is_none_or(|writer| writer.tested(tests, taken))
    }

    /// Keeps no more of what tests execute; whether that is new.
    pub fn cut_tests_off(&self) -> bool {
        let mut writer = self.writer();
        writer.as_mut().is_some_and(SnapshotWriter::cut_tests_off)
    }

    /// What the probes of an array stored, as far as it was taken over.
    pub fn known(&self, array: u16) -> Vec<i8> {
        let writer = self.writer();
        writer
            .as_ref()
            .map_or_else(Vec::new, |writer| writer.known(array).to_vec())
    }

    /// Forgets the hits in these ranges of the arrays.
    pub fn reset(&self, plugin: Option<&str>, ranges: &[ProbeRange]) {
        if let Some(writer) = self.writer().as_mut() {
            writer.reset(plugin, ranges);
        }
    }

    /// Writes what is new.
    ///
    /// # Errors
    ///
    /// Why not everything is on disk. A write that fails is reported when it does for the first time.
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
            Some(Ok(Flush::Stalled(bytes))) => Err(format!("{bytes} bytes wait to be written")),
            _ => Ok(()),
        }
    }

    /// Whether it is complete, or given up.
    pub fn is_completed(&self) -> bool {
        self.completed.load(Ordering::Acquire)
    }

    /// Whether the caller is the one to complete it: true once.
    pub fn begin_completion(&self) -> bool {
        !self.completed.swap(true, Ordering::AcqRel)
    }

    /// Writes the end; a failure is reported. False if the file is incomplete.
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

    /// Closes the file, and writes it again if it was removed while the program ran; false if that cannot
    /// be.
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
                format_args!("{path} was removed while the program ran; it was written again"),
            ),
            Err(error) => messages::error(
                Code::Write,
                format_args!(
                    "{path} was removed while the program ran, and cannot be written again: {error}"
                ),
            ),
        }
        restored.is_ok()
    }

    /// Removes the file of an agent that did not come to run.
    pub fn discard(&self) {
        self.completed.store(true, Ordering::Release);
        drop(self.writer().take());
        let _ = std::fs::remove_file(&self.path);
    }

    fn writer(&self) -> MutexGuard<'_, Option<SnapshotWriter>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A failed write at the end, when nothing is tried again.
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
