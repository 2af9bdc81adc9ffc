//! Sessions: recordings of spans side by side, each with its own event file, limits and end. Session 0 is the agent's own.
//! Each other session belongs to one command.

use crate::spans::event_file::EventFile;
use probes::spans::SESSIONS;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

/// The event files of the agent and of the commands that are at work.
#[derive(Debug)]
pub(crate) struct Sessions {
    own: EventFile,
    others: RwLock<Vec<Arc<Session>>>,
    /// The start of the newest session, in milliseconds since 1970.
    last_start: AtomicU64,
}

/// The recording of one command.
#[derive(Debug)]
pub(crate) struct Session {
    /// From 1 on, and less than [`SESSIONS`]; another session gets it when this one has ended.
    pub number: u8,
    /// The unique id that its command gave it.
    pub id: String,
    /// The name of its plugin, which no other plugin has.
    pub plugin: String,
    pub file: EventFile,
}

impl Sessions {
    /// The agent's own session alone.
    pub fn new(own: EventFile, start_ms: u64) -> Self {
        Self {
            own,
            others: RwLock::default(),
            last_start: AtomicU64::new(start_ms),
        }
    }

    /// Returns a start for a new session, later than that of every other: process and start identify its file.
    pub fn start_ms(&self, now: u64) -> u64 {
        let last = self.last_start.load(Ordering::Relaxed);
        let start = now.max(last + 1);
        self.last_start.store(start, Ordering::Relaxed);
        start
    }

    /// The agent's own event file.
    pub fn own(&self) -> &EventFile {
        &self.own
    }

    /// Starts the recorder of a session, unless it runs.
    pub fn record(&self, number: u8) {
        let others = self.others();
        match others.iter().find(|session| session.number == number) {
            Some(session) => session.file.record(),
            None if number == 0 => self.own.record(),
            None => {} // it has ended
        }
    }

    /// The lowest free number; none if all are taken.
    pub fn free_number(&self) -> Option<u8> {
        let others = self.others();
        let is_free = |number: &u8| others.iter().all(|session| session.number != *number);
        (1..u8::try_from(SESSIONS).ok()?).find(is_free)
    }

    /// A session begins.
    pub fn add(&self, session: Session) -> Arc<Session> {
        let session = Arc::new(session);
        let mut others = self.others.write().unwrap_or_else(PoisonError::into_inner);
        others.push(Arc::clone(&session));
        session
    }

    /// A session has ended.
    pub fn remove(&self, number: u8) {
        let mut others = self.others.write().unwrap_or_else(PoisonError::into_inner);
        others.retain(|session| session.number != number);
    }

    /// The session that a command calls so, or whose plugin is called so.
    pub fn find(&self, name: &str) -> Option<Arc<Session>> {
        let others = self.others();
        let mut found = others.iter();
        found
            .find(|session| session.id == name || session.plugin == name)
            .cloned()
    }

    /// Checks whether a session has this number.
    pub fn has(&self, number: u8) -> bool {
        number == 0 || self.others().iter().any(|session| session.number == number)
    }

    /// Calls `body` with each event file, the agent's own first.
    pub fn each_file(&self, mut body: impl FnMut(&EventFile)) {
        body(&self.own);
        let others = self.others().clone();
        others.iter().for_each(|session| body(&session.file));
    }

    fn others(&self) -> RwLockReadGuard<'_, Vec<Arc<Session>>> {
        self.others.read().unwrap_or_else(PoisonError::into_inner)
    }
}
