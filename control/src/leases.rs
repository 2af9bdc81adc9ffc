//! The leases that clients hold, so that a command can name the command that blocks it.

use crate::message::Holder;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The leases of one server; a clone is the same list.
#[derive(Debug, Clone, Default)]
pub struct Leases(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    next: u64,
    holders: BTreeMap<u64, Holder>,
}

/// An entry of the list, removed when this value is dropped.
#[derive(Debug)]
pub(crate) struct LeaseEntry {
    leases: Leases,
    number: u64,
}

impl Leases {
    /// The holders of leases, in the order in which they took them.
    #[must_use]
    pub fn holders(&self) -> Vec<Holder> {
        self.held().holders.values().cloned().collect()
    }

    pub(crate) fn add(&self, holder: Holder) -> LeaseEntry {
        let mut held = self.held();
        let number = held.next;
        held.next += 1;
        held.holders.insert(number, holder);
        drop(held);
        let leases = self.clone();
        LeaseEntry { leases, number }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for LeaseEntry {
    fn drop(&mut self) {
        self.leases.held().holders.remove(&self.number);
    }
}
