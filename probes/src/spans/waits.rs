//! Waits of threads with open calls, buffered until the recorder writes them.
//!
//! Recording a wait takes a lock and allocates, which is cheap compared to the wait. Calls of spans do not use this
//! module.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::shared::Scale;
use super::table::SpanTable;
use crate::events::{EventWriter, Wait, WaitKind};

/// Maximum number of buffered waits.
const MAX_WAITS: usize = 1 << 15;

/// A completed wait, as the agent reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletedWait {
    /// Java's id of the thread; 0 for a collection.
    pub thread: u64,
    /// `true` for a virtual thread.
    pub is_virtual: bool,
    /// The reason.
    pub kind: WaitKind,
    /// A tick at or after its end.
    pub tick: u64,
    /// Nanoseconds between its end and that tick.
    pub ago: u64,
    /// Its length in nanoseconds.
    pub nanos: u64,
    /// Internal class name of the object that the thread waited for; empty if there is none.
    pub class: String,
    /// Names of the threads that owned the lock; empty if unknown.
    pub holders: String,
}

/// The waits that are not written yet.
#[derive(Debug, Default)]
pub(crate) struct Waits(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    waits: Vec<CompletedWait>,
    lost: u64,
}

impl Waits {
    /// Adds a wait, or counts it if there is no room.
    pub fn push(&self, waited: CompletedWait) {
        let mut state = self.state();
        match state.waits.len() < MAX_WAITS {
            true => state.waits.push(waited),
            false => state.lost += 1,
        }
    }

    /// Counts waits that were not recorded.
    pub fn lose(&self, count: u64) {
        self.state().lost += count;
    }

    /// Returns the number of lost waits.
    pub fn lost(&self) -> u64 {
        self.state().lost
    }

    /// Discards all waits.
    pub fn clear(&self) {
        self.state().waits.clear();
    }

    /// Writes all waits in order of arrival; returns `false` if there were none. The place of a kind precedes its
    /// first wait.
    pub fn write(&self, table: &SpanTable, scale: Scale, out: &mut EventWriter) -> bool {
        let waits = std::mem::take(&mut self.state().waits);
        let any = !waits.is_empty();
        for waited in waits {
            let Ok(place) = table.register(&waited.kind.place()) else {
                self.lose(1);
                continue;
            };
            for span in table.take_changed() {
                out.span(&span);
            }
            let is_virtual = waited.is_virtual;
            out.moment(waited.on(scale).into_moment(place), is_virtual);
        }
        any
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CompletedWait {
    /// Converts the times to those of a trace.
    fn on(self, scale: Scale) -> Wait {
        let end = scale.time(self.tick).saturating_sub(self.ago);
        Wait {
            thread: self.thread,
            is_virtual: self.is_virtual,
            kind: self.kind,
            start: end.saturating_sub(self.nanos),
            end,
            class: Arc::from(self.class),
            holders: self.holders,
        }
    }
}
