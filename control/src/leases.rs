//! The leases that clients hold: their list, so that a command can name the command that blocks it, and their end.
//!
//! A lease ends with its connection. A lease with a time also ends if the client does not return it then because it is
//! stopped or hangs. A client that only waits for a core keeps it: time alone says nothing about a client.

use crate::client_process::ProcessState;
use crate::message::{Holder, Request};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Interval of looks at a client whose time is over.
const LOOK: Duration = Duration::from_secs(1);
/// Number of looks, one after another, at which a client neither ran nor wanted to run, so that it hangs.
const IDLE_LOOKS: u32 = 10;
/// Number of looks until a client ends that `/proc` does not show.
const UNSEEN_LOOKS: u32 = 60;

/// A request that is carried out when the client is gone.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) request: Request,
    time: Option<LeaseTime>,
    _entry: LeaseEntry,
}

impl Lease {
    /// Creates a lease that ends with its connection, or after `time`.
    pub(crate) fn new(request: Request, time: Option<Duration>, entry: LeaseEntry) -> Self {
        let due = time.and_then(|time| Instant::now().checked_add(time));
        Self {
            request,
            time: due.map(LeaseTime::new),
            _entry: entry,
        }
    }

    /// Returns the time until the next look at the client.
    pub(crate) fn due(&self) -> Option<Duration> {
        let time = self.time.as_ref()?;
        Some(time.due.saturating_duration_since(Instant::now()))
    }

    /// Checks whether the time is over and the client, in the state that `look` returns, will not end the lease itself.
    pub(crate) fn is_over(&mut self, look: impl FnOnce() -> ProcessState) -> bool {
        let time = self.time.as_mut();
        time.is_some_and(|time| time.due <= Instant::now() && time.is_over(look()))
    }
}

/// The time of a lease, with the last states of its client.
#[derive(Debug)]
struct LeaseTime {
    /// The end of the time, then the time of the next look.
    due: Instant,
    /// The state at the last look.
    last: Option<ProcessState>,
    /// The number of looks since the client was seen at work.
    looks: u32,
}

impl LeaseTime {
    fn new(due: Instant) -> Self {
        Self {
            due,
            last: None,
            looks: 0,
        }
    }

    /// Checks whether the lease ends at this look. Otherwise the next look is due later.
    fn is_over(&mut self, state: ProcessState) -> bool {
        let last = self.last.replace(state);
        let is_at_work = match state {
            ProcessState::Alive { is_busy, .. } => is_busy || last.is_some_and(|it| it != state),
            ProcessState::Stopped | ProcessState::Unseen => false,
        };
        self.looks = if is_at_work { 0 } else { self.looks + 1 };
        self.due = Instant::now() + LOOK;
        match state {
            ProcessState::Stopped => true,
            ProcessState::Alive { .. } => self.looks >= IDLE_LOOKS,
            ProcessState::Unseen => self.looks >= UNSEEN_LOOKS,
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn alive(is_busy: bool, ticks: u64) -> ProcessState {
        ProcessState::Alive { is_busy, ticks }
    }

    /// Returns the number of the look that ends the lease.
    fn end(states: impl IntoIterator<Item = ProcessState>) -> Option<usize> {
        let mut time = LeaseTime::new(Instant::now());
        let ends = states.into_iter().position(|state| time.is_over(state));
        ends.map(|index| index + 1)
    }

    #[test]
    fn client_that_waits_for_a_core_or_runs_now_and_then_keeps_its_lease() {
        assert_eq!(end([alive(true, 7); 1_000]), None);
        assert_eq!(end((0..1_000).map(|look| alive(false, look / 9))), None);
        let now_and_then = (0..1_000).map(|look| alive(look % 9 == 0, 7));
        assert_eq!(end(now_and_then), None);
    }

    #[test]
    fn stopped_client_loses_its_lease_at_once_and_an_idle_or_unseen_one_later() {
        assert_eq!(end([ProcessState::Stopped]), Some(1));
        assert_eq!(end([alive(true, 7), ProcessState::Stopped]), Some(2));
        assert_eq!(end([alive(false, 7); 1_000]), Some(10));
        assert_eq!(end([ProcessState::Unseen; 1_000]), Some(60));
    }
}
