//! Data that all threads of one JVM share when they call spans.

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

/// Maximum number of class names with a number of their own.
const MAX_CLASSES: u32 = 1 << 16;
/// The modes of the spans, the clock's rate, the stacks of virtual threads, and the available memory.
#[derive(Debug)]
pub(crate) struct Shared {
    modes: &'static [AtomicU8],
    /// The spans.
    pub table: &'static SpanTable,
    /// The conditions and shown values of some spans.
    pub watches: &'static Watches,
    /// The limits of events per second.
    pub rates: &'static Rates,
    nanos_per_tick: u64,
    /// Minimum number of ticks that make up a nanosecond.
    apart: u64,
    pub virtual_stacks: VirtualStacks,
    pub coroutines: Coroutines,
    /// Number of sums that may still be allocated.
    pub sums_left: AtomicUsize,
    /// Calls waiting for the reader.
    pub segments: Segments,
    /// Ends the reader thread's pause.
    pub alarm: Alarm,
    /// The tick at which the trace begins.
    base: AtomicU64,
    classes: Arc<Mutex<Classes>>,
}

/// Maps class numbers to names and back.
#[derive(Debug, Default)]
struct Classes {
    names: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
}

/// The time base of one trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scale {
    /// The first tick.
    pub base: u64,
    /// Nanoseconds per tick, in units of 2^-32.
    nanos_per_tick: u64,
}

impl Scale {
    /// Converts a duration to nanoseconds.
    #[inline]
    pub fn duration(self, ticks: u64) -> u64 {
        match ticks.checked_mul(self.nanos_per_tick) {
            Some(product) => product >> 32,
            None => self.long_duration(ticks),
        }
    }

    /// Converts a duration above some seconds.
    #[cold]
    fn long_duration(self, ticks: u64) -> u64 {
        ((u128::from(ticks) * u128::from(self.nanos_per_tick)) >> 32) as u64
    }

    /// Converts a time to nanoseconds since the trace began.
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

    /// Creates the data of another session's table; class names have the same numbers.
    pub fn beside(&self, table: &'static SpanTable) -> Self {
        Self {
            classes: Arc::clone(&self.classes),
            ..Self::new(table, self.nanos_per_tick, self.segments.limits())
        }
    }

    /// Returns the minimum distance of two events of a thread in ticks. Their times in nanoseconds then differ, so
    /// they identify calls. Many processors count in steps of several nanoseconds.
    #[inline]
    pub fn apart(&self) -> u64 {
        self.apart
    }

    /// Returns the time base of a trace that begins at the tick `base`.
    #[inline]
    pub fn scale(&self, base: u64) -> Scale {
        Scale {
            base,
            nanos_per_tick: self.nanos_per_tick,
        }
    }

    /// Returns the tick at which the trace begins; earlier calls do not belong to it.
    #[inline]
    pub fn base(&self) -> u64 {
        self.base.load(Ordering::Relaxed)
    }

    /// Sets the tick at which a trace begins.
    pub fn set_base(&self, base: u64) {
        self.base.store(base, Ordering::Relaxed);
    }

    /// Returns the current mode of a span, as [`SpanMode`](crate::events::SpanMode) `as u8`.
    #[inline]
    pub fn mode(&self, span: u32) -> u8 {
        let mode = self.modes.get(span as usize);
        mode.map_or(0, |mode| mode.load(Ordering::Relaxed))
    }

    /// Returns the number of a class name; equal names have equal numbers. All names beyond some 65,000 share one
    /// number.
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

    /// Appends the class names that `names` lacks; it is in the order of their numbers.
    pub fn add_class_names(&self, names: &mut Vec<Arc<str>>) {
        let classes = self.classes();
        let new = classes.names.get(names.len()..).unwrap_or_default();
        names.extend(new.iter().cloned());
    }

    /// Returns the class name with this number, `?` for the shared number.
    pub fn name_of(&self, number: u32) -> Arc<str> {
        let name = self.classes().names.get(number as usize).cloned();
        name.unwrap_or_else(|| "?".into())
    }

    fn classes(&self) -> MutexGuard<'_, Classes> {
        self.classes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
