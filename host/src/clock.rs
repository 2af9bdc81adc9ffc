//! Clocks that measure the time limits of plugins' calls.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Measures the running time of a plugin.
///
/// The default is the machine's own clock, [`MachineClock`]. Tests use another clock, which makes
/// the limits independent of the speed of the machine.
pub trait Clock: Debug + Send + Sync {
    /// Returns the time since a fixed moment.
    fn now(&self) -> Duration;
    /// Returns the CPU time of the calling thread.
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
