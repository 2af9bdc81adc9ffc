//! Limits of CPU time that hold on machines of any speed.

#![allow(dead_code, reason = "each test file uses its part")]

use std::hint::black_box;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// CPU time of [`reference_work`] on the machine for which the limits were chosen.
const REFERENCE: Duration = Duration::from_millis(20);

/// Returns the CPU time that this thread has used.
pub fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Checks whether CPU time is within a limit. The limit grows with the ratio of this machine's time
/// for the reference work to [`REFERENCE`].
pub fn is_within(spent: Duration, limit: Duration) -> bool {
    if spent < limit {
        return true;
    }
    let begun = cpu_time();
    reference_work();
    let slowness = (cpu_time() - begun).as_secs_f64() / REFERENCE.as_secs_f64();
    spent < limit.mul_f64(slowness.max(1.0))
}

/// Walks through memory in an order that depends on the content.
fn reference_work() {
    let mut words = vec![1_u32; 1 << 20];
    let mut at = 1_u32;
    for round in 0..4_000_000_u32 {
        let word = &mut words[(at >> 12) as usize];
        *word = word.wrapping_add(round);
        at = at.wrapping_mul(1_664_525).wrapping_add(*word);
    }
    black_box(words);
}
