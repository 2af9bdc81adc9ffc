//! Classes that were loaded but not linked when they were selected: the JVM cannot retransform them yet. (Classes of
//! the bootstrap loader are linked at once instead.)
//!
//! While there are any, the JVM sends an event for each class that is prepared (JVM TI, Class Prepare). The upkeep
//! thread retransforms those that were unprepared: fetching a class file runs Java code, which the linking thread must
//! not do.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Classes by internal name; several loaders may have one of the same name.
#[derive(Debug, Default)]
pub(crate) struct Unprepared {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    unprepared: HashSet<Vec<u8>>,
    /// True if one was added since the last call of [`Unprepared::take_more`].
    more: bool,
    prepared: HashSet<Vec<u8>>,
}

impl Unprepared {
    /// Adds a class, to be retransformed once it is prepared.
    pub fn add(&self, name: &[u8]) {
        let mut state = self.state();
        if !state.unprepared.contains(name) {
            state.more |= state.unprepared.insert(name.to_vec());
        }
    }

    /// Checks whether classes were added since the last call.
    pub fn take_more(&self) -> bool {
        std::mem::take(&mut self.state().more)
    }

    /// Checks whether a class of this name is unprepared.
    pub fn has(&self, name: &[u8]) -> bool {
        self.state().unprepared.contains(name)
    }

    /// Notes that a class was prepared. Returns true if it was unprepared.
    pub fn prepared(&self, name: &[u8]) -> bool {
        let mut state = self.state();
        let was_unprepared = state.unprepared.remove(name);
        if was_unprepared {
            state.prepared.insert(name.to_vec());
        }
        was_unprepared
    }

    /// Takes the classes that were prepared since the last call. The second value is true if others are still
    /// unprepared.
    pub fn take_prepared(&self) -> (HashSet<Vec<u8>>, bool) {
        let mut state = self.state();
        let prepared = std::mem::take(&mut state.prepared);
        (prepared, !state.unprepared.is_empty())
    }

    /// Removes all classes.
    pub fn clear(&self) {
        *self.state() = State::default();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unprepared_class_is_reported_once_when_it_is_prepared() {
        let unprepared = Unprepared::default();
        assert!(!unprepared.prepared(b"a/A"));
        unprepared.add(b"a/A");
        unprepared.add(b"a/B");
        assert!(unprepared.take_more() && !unprepared.take_more());
        unprepared.add(b"a/A");
        assert!(!unprepared.take_more());
        assert!(unprepared.prepared(b"a/A") && !unprepared.prepared(b"a/A"));
        let (prepared, others) = unprepared.take_prepared();
        assert_eq!(prepared, HashSet::from([b"a/A".to_vec()]));
        assert!(others);
        unprepared.clear();
        assert_eq!(unprepared.take_prepared(), (HashSet::new(), false));
    }
}
