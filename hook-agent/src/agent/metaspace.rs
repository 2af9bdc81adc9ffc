//! The metaspace that a change of loaded classes may take.
//!
//! The JVM keeps the methods and constants of a retransformed class twice, and gives back the former ones to the class's
//! loader alone. In a JVM with little room the application would then be the one that loads no class any more. The
//! command that asks for a change measures the room; the agent compares it with what the change takes, before it
//! changes a class.

use control::message::Shortage;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes for a class besides those of its class file: the class itself and a rounded end for each of its parts.
const EACH: u64 = 1_024;
/// Bytes of a class file that nobody can read, for example of a proxy.
const UNREAD: u64 = 4_096;

/// The room for a change, and the last change that needed more.
#[derive(Debug)]
pub(crate) struct Metaspace {
    /// Most bytes that a change may take.
    most: AtomicU64,
    shortage: Mutex<Option<Shortage>>,
}

impl Metaspace {
    /// Limits each change to so many bytes, if there is a limit.
    pub fn new(most: Option<u64>) -> Self {
        Self {
            most: AtomicU64::new(most.unwrap_or(u64::MAX)),
            shortage: Mutex::default(),
        }
    }

    /// Sets the room for the changes from now on, and forgets a shortage.
    pub fn allow(&self, most: Option<u64>) {
        self.most.store(most.unwrap_or(u64::MAX), Ordering::Relaxed);
        *self.shortage() = None;
    }

    /// Checks whether there is room for changing classes that were not changed before: so many, of which `read` have
    /// class files of so many bytes. If there is none, this is noted.
    pub fn has_room(&self, classes: usize, read: usize, bytes: usize) -> bool {
        let available = self.most.load(Ordering::Relaxed);
        let needed = estimate(classes, read, bytes);
        if needed <= available {
            return true;
        }
        *self.shortage() = Some(Shortage {
            classes,
            needed,
            available,
        });
        false
    }

    /// The last change that was not made.
    pub fn last_shortage(&self) -> Option<Shortage> {
        *self.shortage()
    }

    fn shortage(&self) -> MutexGuard<'_, Option<Shortage>> {
        self.shortage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes of metaspace that changing these classes takes. A class takes about as much as its class file.
fn estimate(classes: usize, read: usize, bytes: usize) -> u64 {
    let unread = classes.saturating_sub(read) as u64;
    classes as u64 * EACH + unread * UNREAD + bytes as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_that_needs_more_than_there_is_is_noted_until_the_next() {
        let metaspace = Metaspace::new(Some(10_000));
        assert!(metaspace.has_room(1, 1, 8_000));
        assert_eq!(metaspace.last_shortage(), None);
        assert!(!metaspace.has_room(2, 1, 8_000));
        let shortage = Shortage {
            classes: 2,
            needed: 2 * EACH + UNREAD + 8_000,
            available: 10_000,
        };
        assert_eq!(metaspace.last_shortage(), Some(shortage));
        metaspace.allow(None);
        assert!(metaspace.has_room(1 << 20, 0, 0));
        assert_eq!(metaspace.last_shortage(), None);
    }
}
