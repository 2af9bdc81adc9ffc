//! Sessions: concurrent recordings of spans, each with its own event file, limits and end.
//!
//! Session 0 is the agent's own. Each other session belongs to one command.

use crate::spans::event_file::EventFile;
use probes::spans::SESSIONS;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

/// The event files of the agent and of commands.
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
    /// From 1 to less than [`SESSIONS`]; reused after the end of the session.
    pub number: u8,
    /// The unique id that its command chose.
    pub id: String,
    /// The unique name of its plugin.
    pub plugin: String,
    pub file: EventFile,
}

impl Sessions {
    /// Creates the agent's own session.
    pub fn new(own: EventFile, start_ms: u64) -> Self {
        Self {
            own,
            others: RwLock::default(),
            last_start: AtomicU64::new(start_ms),
        }
    }

    /// Returns a start time for a new session that is later than all others: process and start time identify its file.
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

    /// Starts the recorder of a session, unless it is running.
    pub fn record(&self, number: u8) {
        let others = self.others();
        match others.iter().find(|session| session.number == number) {
            Some(session) => session.file.record(),
            None if number == 0 => self.own.record(),
            None => {} // it has ended
        }
    }

    /// The lowest free number; `None` if all are in use.
    pub fn free_number(&self) -> Option<u8> {
        let others = self.others();
        let is_free = |number: &u8| others.iter().all(|session| session.number != *number);
        (1..u8::try_from(SESSIONS).ok()?).find(is_free)
    }

    /// Adds a session.
    pub fn add(&self, session: Session) -> Arc<Session> {
        let session = Arc::new(session);
        let mut others = self.others.write().unwrap_or_else(PoisonError::into_inner);
        others.push(Arc::clone(&session));
        session
    }

    /// Removes a session that has ended.
    pub fn remove(&self, number: u8) {
        let mut others = self.others.write().unwrap_or_else(PoisonError::into_inner);
        others.retain(|session| session.number != number);
    }

    /// The session with this id, or whose plugin has this name.
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
