//! What every thread of one JVM uses while it calls spans.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::alarm::Alarm;
use super::coroutines::Coroutines;
use super::rates::Rates;
use super::segments::{Limits, Segments};
use super::sums::MAX_SUMS;
use super::table::SpanTable;
use super::virtual_stacks::VirtualStacks;
use super::watches::Watches;

/// Class names that have a number of their own.
const MAX_CLASSES: u32 = 1 << 16;
/// The modes of the spans, the clock's rate, the stacks of virtual threads, and what memory is left.
#[derive(Debug)]
pub(crate) struct Shared {
    modes: &'static [AtomicU8],
    /// The spans themselves.
    pub table: &'static SpanTable,
    /// What is asked of the calls of some spans.
    pub watches: &'static Watches,
    /// How many of an event are kept in a second.
    pub rates: &'static Rates,
    nanos_per_tick: u64,
    /// Ticks of a nanosecond at least.
    apart: u64,
    pub virtual_stacks: VirtualStacks,
    pub coroutines: Coroutines,
    /// Sums that may still be made.
    pub sums_left: AtomicUsize,
    /// Calls that wait to be read.
    pub segments: Segments,
    /// Ends the pause of the thread that reads them.
    pub alarm: Alarm,
    /// The tick at which the trace begins.
    base: AtomicU64,
    classes: Arc<Mutex<Classes>>,
}

/// Class names by number, and numbers by name.
#[derive(Debug, Default)]
struct Classes {
    names: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
}

/// The times of one trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scale {
    /// The tick at which they begin.
    pub base: u64,
    /// Nanoseconds per tick, in units of 2^-32.
    nanos_per_tick: u64,
}

impl Scale {
    /// A duration in nanoseconds.
    #[inline]
    pub fn duration(self, ticks: u64) -> u64 {
        match ticks.checked_mul(self.nanos_per_tick) {
            Some(product) => product >> 32,
            None => self.long_duration(ticks),
        }
    }

    /// A duration of more than some seconds.
    #[cold]
    fn long_duration(self, ticks: u64) -> u64 {
        ((u128::from(ticks) * u128::from(self.nanos_per_tick)) >> 32) as u64
    }

    /// A time in nanoseconds since the trace began.
    pub fn time(self, ticks: u64) -> u64 {
        self.duration(ticks.saturating_sub(self.base))
    }
}

impl Shared {
    pub fn new(table: &'static SpanTable, nanos_per_tick: u64, limits: Limits) -> Self {
        Self {
            modes: table.modes(),
            table,
            watches: table.watches(),
            rates: table.rates(),
            nanos_per_tick,
            apart: (1_u64 << 32).div_ceil(nanos_per_tick.max(1)),
            virtual_stacks: VirtualStacks::default(),
            coroutines: Coroutines::default(),
            sums_left: AtomicUsize::new(MAX_SUMS),
            segments: Segments::new(limits),
            alarm: Alarm::default(),
            base: AtomicU64::new(0),
            classes: Arc::default(),
        }
    }

    /// As these, for the spans of another table; class names have the same numbers.
    pub fn beside(&self, table: &'static SpanTable) -> Self {
        Self {
            classes: Arc::clone(&self.classes),
            ..Self::new(table, self.nanos_per_tick, self.segments.limits())
        }
    }

    /// How many ticks two events of a thread are apart at least: their times in nanoseconds then differ, by which calls
    /// are told from one another. Many processors count in steps of several nanoseconds.
    #[inline]
    pub fn apart(&self) -> u64 {
        self.apart
    }

    /// The times of a trace that begins at the tick `base`.
    #[inline]
    pub fn scale(&self, base: u64) -> Scale {
        Scale {
            base,
            nanos_per_tick: self.nanos_per_tick,
        }
    }

    /// The tick at which the trace begins; calls entered before are not of it.
    #[inline]
    pub fn base(&self) -> u64 {
        self.base.load(Ordering::Relaxed)
    }

    /// A trace begins at this tick.
    pub fn set_base(&self, base: u64) {
        self.base.store(base, Ordering::Relaxed);
    }

    /// The mode in force of a span, as [`SpanMode`](crate::events::SpanMode) `as u8`.
    #[inline]
    pub fn mode(&self, span: u32) -> u8 {
        let mode = self.modes.get(span as usize);
        mode.map_or(0, |mode| mode.load(Ordering::Relaxed))
    }

    /// The number of a class name, the same for the same name; there are at most some 65,000, all others share one.
    pub fn class(&self, name: &str) -> u32 {
        let mut classes = self.classes();
        if let Some(number) = classes.numbers.get(name) {
            return *number;
        }
        let number = u32::try_from(classes.names.len()).unwrap_or(u32::MAX);
        if number >= MAX_CLASSES {
            return MAX_CLASSES;
        }
        let name: Arc<str> = name.into();
        classes.names.push(Arc::clone(&name));
        classes.numbers.insert(name, number);
        number
    }

    /// Adds those class names to `names`, which are in the order of their numbers, that are not in it.
    pub fn add_class_names(&self, names: &mut Vec<Arc<str>>) {
        let classes = self.classes();
        let new = classes.names.get(names.len()..).unwrap_or_default();
        names.extend(new.iter().cloned());
    }

    /// The class name with this number, `?` for those that share one.
    pub fn name_of(&self, number: u32) -> Arc<str> {
        let name = self.classes().names.get(number as usize).cloned();
        name.unwrap_or_else(|| "?".into())
    }

    fn classes(&self) -> MutexGuard<'_, Classes> {
        self.classes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
