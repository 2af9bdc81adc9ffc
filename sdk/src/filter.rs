//! Which events of the JVM a plugin wants to be told of.

use std::time::Duration;

/// Which events of a kind are wanted: all unless something else is said, without stacks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub(crate) classes: Vec<String>,
    pub(crate) threads: Vec<String>,
    pub(crate) at_least: u64,
    pub(crate) every: Option<u64>,
    pub(crate) frames: u32,
}

impl Filter {
    /// Only those of classes with such a name, or one of several such: `com.acme.**`. Of samples, those with a frame of
    /// such a class.
    #[must_use]
    pub fn class(mut self, pattern: &str) -> Self {
        self.classes.push(pattern.to_owned());
        self
    }

    /// Only those of threads with such a name, or one of several such: `http-*`.
    #[must_use]
    pub fn thread(mut self, pattern: &str) -> Self {
        self.threads.push(pattern.to_owned());
        self
    }

    /// Only waits and collections that took as long.
    #[must_use]
    pub fn at_least(mut self, duration: Duration) -> Self {
        self.at_least = nanos(duration);
        self
    }

    /// The time between two looks at the threads, at least a millisecond; of samples.
    #[must_use]
    pub fn interval(mut self, interval: Duration) -> Self {
        self.every = Some(nanos(interval));
        self
    }

    /// How many bytes a thread allocates between two samples, on average; 0 samples every allocation.
    #[must_use]
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.every = Some(bytes);
        self
    }

    /// The innermost frames that are kept of each stack.
    #[must_use]
    pub fn frames(mut self, most: u32) -> Self {
        self.frames = most;
        self
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
