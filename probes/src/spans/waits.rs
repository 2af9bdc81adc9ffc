//! Waits of threads with open calls, until the recorder writes them.
//!
//! A wait takes a lock and memory, which costs little beside it. No call of a span comes here.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::shared::Scale;
use super::table::SpanTable;
use crate::events::{EventWriter, Wait, WaitKind};

/// Most waits that can wait to be written.
const MOST: usize = 1 << 15;

/// A wait that has ended, as the agent reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waited {
    /// Java's id of the thread; 0 of a collection.
    pub thread: u64,
    /// Whether the thread is virtual.
    pub is_virtual: bool,
    /// The reason.
    pub kind: WaitKind,
    /// A tick at or after its end.
    pub tick: u64,
    /// The nanoseconds from its end to that tick.
    pub ago: u64,
    /// Its length in nanoseconds.
    pub nanos: u64,
    /// Internal name of the class of the object for which the thread waited; empty if there is none.
    pub class: String,
    /// The names of the threads that had the lock; empty if they are not known.
    pub holders: String,
}

/// The waits that are not written yet.
#[derive(Debug, Default)]
pub(crate) struct Waits(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    waits: Vec<Waited>,
    lost: u64,
}

impl Waits {
    /// Adds a wait, or counts it if there is no room.
    pub fn push(&self, waited: Waited) {
        let mut state = self.state();
        match state.waits.len() < MOST {
            true => state.waits.push(waited),
            false => state.lost += 1,
        }
    }

    /// Counts waits that nobody wrote down.
    pub fn lose(&self, count: u64) {
        self.state().lost += count;
    }

    /// Waits that found no room so far.
    pub fn lost(&self) -> u64 {
        self.state().lost
    }

    /// Forgets all waits.
    pub fn clear(&self) {
        self.state().waits.clear();
    }

    /// Writes all waits, in the order in which they were added; says whether there were any. The first of a kind is
    /// written behind its place.
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

impl Waited {
    /// The wait with times of a trace.
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
