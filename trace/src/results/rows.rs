//! The rows of event tables: on disk, by JVM and time, and read one by one.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use probes::events::{Capture, CaptureSource, EventFile, Value as Captured};

use crate::recording::restored_moment;
use crate::recording::sort::{Cursor, Key, Sorted};
use crate::values::recorded;

/// An event. Common data of events of one place or thread is shared, and texts are created on demand.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRow {
    /// The key: one text for each column.
    pub cells: Arc<[String]>,
    /// Process id.
    pub pid: u32,
    /// Nanoseconds since the JVM's trace began.
    pub nanos: u64,
    /// The thread.
    pub thread: Arc<str>,
    /// Its values, identified by their index among the values of the table.
    pub captures: Arc<[Capture]>,
}

impl EventRow {
    /// Returns a value by its index among those of the table.
    #[must_use]
    pub fn value(&self, place: usize) -> Option<&Captured> {
        let is_it = |capture: &&Capture| matches!(capture.source, CaptureSource::Shown(slot) if usize::from(slot) == place);
        self.captures.iter().find(is_it).map(|found| &found.value)
    }

    /// Returns a value as input of a plugin that computes tables.
    #[must_use]
    pub fn recorded(&self, place: usize) -> Option<String> {
        self.value(place).map(recorded)
    }
}

/// The rows of a table. Clones share them.
#[derive(Clone)]
pub struct EventRows(Arc<Rows>);

enum Rows {
    /// A few rows in memory.
    Few(Vec<EventRow>),
    /// Stored rows, by the number of their JVM, their time and their thread.
    Sorted {
        jvms: Vec<RowJvm>,
        sorted: Sorted,
        cursor: Mutex<Cursor>,
    },
}

/// The names of a JVM's threads by their numbers.
pub(super) type ThreadNames = Arc<BTreeMap<u64, Arc<str>>>;

/// The common data of a JVM's rows.
pub(super) struct RowJvm {
    pub pid: u32,
    pub file: Arc<EventFile>,
    /// The keys of the rows, by place.
    pub cells: BTreeMap<u32, Arc<[String]>>,
    pub threads: ThreadNames,
}

impl From<Vec<EventRow>> for EventRows {
    fn from(rows: Vec<EventRow>) -> Self {
        Self(Arc::new(Rows::Few(rows)))
    }
}

impl EventRows {
    /// Wraps records sorted by the number of their JVM, time and thread.
    pub(super) fn of(jvms: Vec<RowJvm>, sorted: Sorted) -> Self {
        let cursor = Mutex::new(Cursor::default());
        Self(Arc::new(Rows::Sorted {
            jvms,
            sorted,
            cursor,
        }))
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match &*self.0 {
            Rows::Few(rows) => rows.len(),
            Rows::Sorted { sorted, .. } => usize::try_from(sorted.count()).unwrap_or(usize::MAX),
        }
    }

    /// Checks whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a row by its number; fastest shortly after the previous one.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn get(&self, number: usize) -> io::Result<Option<EventRow>> {
        match &*self.0 {
            Rows::Few(rows) => Ok(rows.get(number).cloned()),
            Rows::Sorted {
                jvms,
                sorted,
                cursor,
            } => {
                let mut cursor = cursor.lock().unwrap_or_else(PoisonError::into_inner);
                match sorted.get(number as u64, &mut cursor)? {
                    Some((key, stored)) => row(jvms, key, stored).map(Some),
                    None => Ok(None),
                }
            }
        }
    }

    /// Passes at most `most` rows on.
    ///
    /// # Errors
    /// If they cannot be read, and errors of `take`.
    pub fn each(
        &self,
        most: usize,
        take: &mut dyn FnMut(EventRow) -> io::Result<()>,
    ) -> io::Result<()> {
        match &*self.0 {
            Rows::Few(rows) => rows.iter().take(most).cloned().try_for_each(take),
            Rows::Sorted { jvms, sorted, .. } => {
                let mut cursor = Cursor::default();
                for number in 0..most as u64 {
                    match sorted.get(number, &mut cursor)? {
                        Some((key, stored)) => take(row(jvms, key, stored)?)?,
                        None => break,
                    }
                }
                Ok(())
            }
        }
    }
}

/// Restores a stored row.
fn row(jvms: &[RowJvm], [jvm, nanos, thread]: Key, stored: &[u8]) -> io::Result<EventRow> {
    let unknown = || io::Error::other("a row of an unknown JVM");
    let jvm = jvms.get(jvm as usize).ok_or_else(unknown)?;
    let (moment, is_virtual) = restored_moment(&jvm.file, thread, nanos, stored)?;
    let named = jvm.threads.get(&thread).cloned();
    let unnamed = || crate::perfetto::thread_name("", is_virtual, thread).into();
    Ok(EventRow {
        cells: jvm.cells.get(&moment.place).cloned().unwrap_or_default(),
        pid: jvm.pid,
        nanos,
        thread: named.unwrap_or_else(unnamed),
        captures: moment.captures,
    })
}

impl fmt::Debug for EventRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rows", self.len())
    }
}
