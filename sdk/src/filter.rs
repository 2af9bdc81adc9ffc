//! Filters for subscriptions to JVM events.

use std::time::Duration;

/// Selects events of a kind. The default selects all, without stacks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub(crate) classes: Vec<String>,
    pub(crate) threads: Vec<String>,
    pub(crate) at_least: u64,
    pub(crate) every: Option<u64>,
    pub(crate) frames: u32,
}

impl Filter {
    /// Selects events of classes that match this pattern, or another one of the filter:
    /// `com.acme.**`. A sample matches if one of its frames does.
    #[must_use]
    pub fn class(mut self, pattern: &str) -> Self {
        self.classes.push(pattern.to_owned());
        self
    }

    /// Selects events of threads that match this pattern, or another one of the filter: `http-*`.
    #[must_use]
    pub fn thread(mut self, pattern: &str) -> Self {
        self.threads.push(pattern.to_owned());
        self
    }

    /// Selects waits and collections of at least this duration.
    #[must_use]
    pub fn at_least(mut self, duration: Duration) -> Self {
        self.at_least = nanos(duration);
        self
    }

    /// Sets the interval between samples of threads, at least a millisecond.
    #[must_use]
    pub fn interval(mut self, interval: Duration) -> Self {
        self.every = Some(nanos(interval));
        self
    }

    /// Sets the average number of bytes that a thread allocates between two samples; 0 samples
    /// every allocation.
    #[must_use]
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.every = Some(bytes);
        self
    }

    /// Sets the number of innermost frames to record of each stack.
    #[must_use]
    pub fn frames(mut self, most: u32) -> Self {
        self.frames = most;
        self
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
