//! JVMs of a running trace, whose calls are settled periodically: their callers are known then.

use std::time::{Duration, Instant};

use probes::events::Trace;

use crate::rolling::Rolling;

/// Interval between searches for settled calls.
const TURN: Duration = Duration::from_millis(250);
/// If a JVM records nothing for this time, all open callers have been seen open.
const SILENCE: Duration = Duration::from_secs(4);

/// The calls of each JVM by its number.
#[derive(Debug)]
pub struct SettlingJvms<T> {
    jvms: Vec<Jvm<T>>,
    looked: Instant,
}

#[derive(Debug)]
struct Jvm<T> {
    calls: T,
    /// The time of its last record.
    last_record: Instant,
}

impl<T> Default for SettlingJvms<T> {
    fn default() -> Self {
        Self {
            jvms: Vec::new(),
            looked: Instant::now(),
        }
    }
}

impl<T> SettlingJvms<T> {
    /// Returns the calls of a JVM that has just recorded an event. `new` creates them for a new
    /// JVM.
    pub fn calls_of(&mut self, number: usize, new: impl Fn() -> T) -> &mut T {
        let now = Instant::now();
        while self.jvms.len() <= number {
            self.jvms.push(Jvm {
                calls: new(),
                last_record: now,
            });
        }
        let jvm = &mut self.jvms[number];
        jvm.last_record = now;
        &mut jvm.calls
    }

    /// Returns the calls of each JVM with its trace, and the time in nanoseconds up to which they
    /// are settled. Returns nothing within the interval after the last turn.
    pub fn turn<'s, 'r: 's>(
        &'s mut self,
        all: impl Iterator<Item = &'r mut Rolling> + 's,
    ) -> impl Iterator<Item = (&'s mut T, &'r Trace, u64)> {
        let is_due = self.looked.elapsed() >= TURN;
        if is_due {
            self.looked = Instant::now();
        }
        let jvms = self.jvms.iter_mut().zip(all).filter(move |_| is_due);
        jvms.map(|(jvm, rolling)| {
            let rolling = &*rolling;
            let trace = rolling.trace();
            let settled = match jvm.last_record.elapsed() > SILENCE {
                true => u64::MAX,
                false => rolling.sums_ms().saturating_sub(trace.meta.start_ms) * 1_000_000,
            };
            (&mut jvm.calls, trace, settled)
        })
    }

    /// Returns the calls of each JVM.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.jvms.iter().map(|jvm| &jvm.calls)
    }

    /// As [`SettlingJvms::iter`], mutable.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.jvms.iter_mut().map(|jvm| &mut jvm.calls)
    }
}
