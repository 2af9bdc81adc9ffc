//! The end of a recording, as the sender knows it.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long may be sent after the end of the recording.
pub const LAST: Duration = Duration::from_secs(20);

/// Whether the recording is over, and since when.
#[derive(Debug, Default)]
pub struct Ends(OnceLock<Instant>);

impl Ends {
    /// The recording was over at this time; the first one counts.
    pub fn at(&self, time: Instant) {
        let _ = self.0.set(time);
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.0.get().is_some()
    }

    /// How long it has been over; none while it goes on.
    pub fn elapsed(&self) -> Option<Duration> {
        self.0.get().map(Instant::elapsed)
    }

    /// Until when may be sent; none while the recording goes on.
    pub fn last(&self) -> Option<Instant> {
        self.0.get().map(|over| *over + LAST)
    }
}
