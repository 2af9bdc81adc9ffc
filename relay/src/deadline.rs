//! The end of a recording, and the deadline that follows from it, on the sender's side.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Longest time for sending after the end of the recording.
pub const LAST: Duration = Duration::from_secs(20);

/// The time at which the recording ended; empty while it goes on.
#[derive(Debug, Default)]
pub struct Deadline(OnceLock<Instant>);

impl Deadline {
    /// Sets the end of the recording; later calls have no effect.
    pub fn at(&self, time: Instant) {
        let _ = self.0.set(time);
    }

    /// Returns whether the recording has ended.
    pub fn is_over(&self) -> bool {
        self.0.get().is_some()
    }

    /// Time since the end of the recording, if it has ended.
    pub fn elapsed(&self) -> Option<Duration> {
        self.0.get().map(Instant::elapsed)
    }

    /// The deadline for sending, [`LAST`] after the end of the recording, if it has ended.
    pub fn last(&self) -> Option<Instant> {
        self.0.get().map(|over| *over + LAST)
    }
}
