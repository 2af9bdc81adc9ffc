//! Classes that were loaded but not linked when they were looked at: the JVM retransforms none such.
//!
//! While there are any, the JVM says of each class that it is prepared (JVM TI, Class Prepare), and those that waited
//! are retransformed by the agent thread: fetching the file of a class runs Java code, which the thread that links it
//! must not.

use crate::agent::Agent;
use crate::ffi::refs::LocalRef;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Classes by internal name; several loaders may have one of the same name.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    unprepared: HashSet<Vec<u8>>,
    /// One was added since the last look.
    more: bool,
    prepared: HashSet<Vec<u8>>,
}

impl Waiting {
    /// A class waits until it is prepared.
    pub fn add(&self, name: &[u8]) {
        let mut state = self.state();
        if !state.unprepared.contains(name) {
            state.more |= state.unprepared.insert(name.to_vec());
        }
    }

    /// Whether classes were added since the last call.
    pub fn take_more(&self) -> bool {
        std::mem::take(&mut self.state().more)
    }

    /// Whether a class of this name waits.
    pub fn has(&self, name: &[u8]) -> bool {
        self.state().unprepared.contains(name)
    }

    /// A class was prepared; whether it waited for that.
    fn prepared(&self, name: &[u8]) -> bool {
        let mut state = self.state();
        let waited = state.unprepared.remove(name);
        if waited {
            state.prepared.insert(name.to_vec());
        }
        waited
    }

    /// Classes that are prepared since the last call, and whether others still wait.
    pub fn take_prepared(&self) -> (HashSet<Vec<u8>>, bool) {
        let mut state = self.state();
        let prepared = std::mem::take(&mut state.prepared);
        (prepared, !state.unprepared.is_empty())
    }

    /// Nobody waits any more.
    pub fn clear(&self) {
        *self.state() = State::default();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The `ClassPrepare` event, on the thread that links the class.
pub(crate) fn class_prepared(agent: &Agent, class: &LocalRef<'_>) {
    let Ok(signature) = agent.jvmti().class_signature(class) else {
        return;
    };
    let name = signature
        .strip_prefix(b"L")
        .and_then(|rest| rest.strip_suffix(b";"));
    if name.is_some_and(|name| agent.waiting.prepared(name)) {
        agent.signal.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_that_waits_is_told_of_once_when_it_is_prepared() {
        let waiting = Waiting::default();
        assert!(!waiting.prepared(b"a/A"));
        waiting.add(b"a/A");
        waiting.add(b"a/B");
        assert!(waiting.take_more() && !waiting.take_more());
        waiting.add(b"a/A");
        assert!(!waiting.take_more());
        assert!(waiting.prepared(b"a/A") && !waiting.prepared(b"a/A"));
        let (prepared, others) = waiting.take_prepared();
        assert_eq!(prepared, HashSet::from([b"a/A".to_vec()]));
        assert!(others);
        waiting.clear();
        assert_eq!(waiting.take_prepared(), (HashSet::new(), false));
    }
}
