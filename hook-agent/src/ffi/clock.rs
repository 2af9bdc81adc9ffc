//! The clock of spans: the processor's counter if it runs at one speed on all cores, else the kernel's clock.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// True if the processor's counter is read.
static COUNTER: AtomicBool = AtomicBool::new(false);

/// Shortest time over which the counter is compared with the kernel's clock.
const TIMEOUT: Duration = Duration::from_millis(5);

/// The current time, in ticks.
#[inline]
pub(crate) fn ticks() -> u64 {
    if has_counter() { counter() } else { kernel() }
}

/// Checks whether the clock is [`counter`].
#[inline]
pub(crate) fn has_counter() -> bool {
    COUNTER.load(Ordering::Relaxed)
}

/// The counter of the processor.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn counter() -> u64 {
    // SAFETY: every x86-64 processor has `rdtsc`, and Linux allows it unless the process has disabled it.
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn counter() -> u64 {
    kernel()
}

/// Prefetches the memory of a word that will be written soon.
#[inline]
pub(crate) fn fetch(word: &AtomicU64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction has no visible effect; processors without it ignore it.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) word.as_ptr(), options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = word;
}

/// `CLOCK_MONOTONIC` in nanoseconds.
fn kernel() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock exists on every Linux, and `now` receives its answer.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    (now.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(now.tv_nsec as u64)
}

/// Checks whether the counter has a constant speed (CPUID 8000_0007, EDX bit 8) and the kernel trusts it.
#[cfg(target_arch = "x86_64")]
fn is_invariant() -> bool {
    use std::arch::x86_64::__cpuid;
    let invariant =
        __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx >> 8 & 1 == 1;
    let sources = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    let sources = std::fs::read_to_string(sources).unwrap_or_default();
    invariant && (sources.is_empty() || sources.split_whitespace().any(|name| name == "tsc"))
}

#[cfg(not(target_arch = "x86_64"))]
fn is_invariant() -> bool {
    false
}

/// One moment on both clocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    ticks: u64,
    nanos: u64,
}

impl Start {
    /// Chooses the clock, and begins to compare it with the kernel's.
    pub fn now() -> Self {
        COUNTER.store(is_invariant(), Ordering::Relaxed);
        pair()
    }

    /// Nanoseconds per tick, in units of 2^-32. It waits some milliseconds if the start was just now: a longer
    /// comparison is more precise.
    pub fn nanos_per_tick(&self) -> u64 {
        let began = Instant::now();
        let mut now = pair();
        while now.nanos.wrapping_sub(self.nanos) < TIMEOUT.as_nanos() as u64
            && began.elapsed() < 2 * TIMEOUT
        {
            std::hint::spin_loop();
            now = pair();
        }
        let ticks = now.ticks.wrapping_sub(self.ticks);
        let nanos = u128::from(now.nanos.wrapping_sub(self.nanos)) << 32;
        let per_tick = nanos.checked_div(u128::from(ticks)).unwrap_or(1 << 32);
        u64::try_from(per_tick).unwrap_or(1 << 32)
    }
}

/// Reads both clocks. Of some attempts it returns the one in which the least time passed between two readings of the
/// counter.
fn pair() -> Start {
    let tries = (0..8).map(|_| {
        let before = ticks();
        let nanos = kernel();
        let after = ticks();
        (
            after.wrapping_sub(before),
            Start {
                ticks: before,
                nanos,
            },
        )
    });
    let best = tries.min_by_key(|(width, _)| *width);
    best.map_or(Start { ticks: 0, nanos: 0 }, |(_, start)| start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_convert_to_nanoseconds_of_the_kernel_clock() {
        let start = Start::now();
        let per_tick = start.nanos_per_tick();
        let before = pair();
        std::thread::sleep(Duration::from_millis(20));
        let after = pair();
        let passed = (u128::from(after.ticks - before.ticks) * u128::from(per_tick)) >> 32;
        let expected = u128::from(after.nanos - before.nanos);
        let off = passed.abs_diff(expected) as f64 / expected as f64;
        assert!(off < 0.05, "{passed} for {expected}");
    }
}
