//! The clocks by which a plugin's calls are limited.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Tells how long a plugin has been at work.
///
/// The default is the machine's own clock, [`MachineClock`].
/// Another one makes the limits independent of the speed of the machine, for tests.
pub trait Clock: Debug + Send + Sync {
    /// Time that has passed since a fixed moment.
    fn now(&self) -> Duration;
    /// CPU time that the calling thread has used.
    fn thread_time(&self) -> Duration;
}

/// The monotonic clock of the machine, and the CPU time that the kernel counts for each thread.
#[derive(Debug)]
pub struct MachineClock(Instant);

impl Default for MachineClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for MachineClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn thread_time(&self) -> Duration {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(
            now.tv_sec.unsigned_abs(),
            u32::try_from(now.tv_nsec).unwrap_or(0),
        )
    }
}
