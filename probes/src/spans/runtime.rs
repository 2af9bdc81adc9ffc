//! Collects what the running code wrote, for the event file.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::coroutines::Continuations;
use super::entry::Entries;
use super::segments::{Limits, Memory, Queue};
use super::shared::Shared;
use super::table::{SpanTable, WATCHED};
use super::threads::{ThreadLog, Threads};
use super::waits::{Waited, Waits};
use crate::events::{Aggregate, Call, EventWriter, Lost, Outcome, SpanMode};

/// Segments of one thread that are read before those of the next one.
const SEGMENTS: usize = 64;

/// What became of the calls that waited to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Drained {
    /// There were none.
    Nothing,
    /// All were written.
    All,
    /// Some were written, others wait.
    Part,
}

/// Collects the calls of all threads of one JVM.
#[derive(Debug)]
pub struct Runtime {
    pub(super) shared: Shared,
    pub(super) threads: Threads,
    /// Waits that are to be written.
    waits: Waits,
    /// Locked for as long as one reader reads.
    reported: Mutex<Reported>,
    /// Calls that were open the last time, by thread and start, and whether they were among the results.
    open: Mutex<HashMap<(u64, u64), bool>>,
}

/// What was written already.
#[derive(Debug, Default)]
struct Reported {
    /// What was lost before the trace began or was reset.
    lost_before: Lost,
    lost: Lost,
    /// Names of classes by number.
    classes: Vec<Arc<str>>,
}

impl Runtime {
    /// Collects calls of the spans of `table` in `memory`; `nanos_per_tick` is in units of 2^-32.
    #[must_use]
    pub fn new(table: &'static SpanTable, nanos_per_tick: u64, memory: Memory) -> Self {
        let limits = Limits {
            memory,
            ..Limits::default()
        };
        Self::with_limits(table, nanos_per_tick, limits)
    }

    /// The same with other limits of memory.
    pub(super) fn with_limits(
        table: &'static SpanTable,
        nanos_per_tick: u64,
        limits: Limits,
    ) -> Self {
        Self::of(Shared::new(table, nanos_per_tick, limits))
    }

    /// Collects calls of the spans of another session: class names have the same numbers, and nothing else is shared.
    #[must_use]
    pub fn beside(&self, table: &'static SpanTable) -> Self {
        Self::of(self.shared.beside(table))
    }

    fn of(shared: Shared) -> Self {
        Self {
            shared,
            threads: Threads::default(),
            waits: Waits::default(),
            reported: Mutex::default(),
            open: Mutex::default(),
        }
    }

    /// Checks whether calls of suspend functions are open.
    #[must_use]
    pub fn awaits_continuations(&self) -> bool {
        !self.shared.coroutines.are_idle()
    }

    /// The number of a class name, the same for the same name; there are at most some 65,000, all others share one.
    pub fn class(&self, name: &str) -> u32 {
        self.shared.class(name)
    }

    /// The name with this number, `?` for those that share one.
    pub fn name(&self, number: u32) -> Arc<str> {
        self.shared.name_of(number)
    }

    /// Adds a wait of a thread with open calls, or a collection.
    pub fn waited(&self, waited: Waited) {
        self.waits.push(waited);
    }

    /// Counts waits or collections that are not known any more.
    pub fn lost_waits(&self, count: u64) {
        self.waits.lose(count);
    }

    /// Checks whether calls of a virtual thread are open.
    #[must_use]
    pub fn has_open_calls(&self, virtual_thread: u64) -> bool {
        let stack = self.shared.virtual_stacks.find(virtual_thread);
        stack.is_some_and(|stack| !stack.is_idle())
    }

    /// Java's ids of the platform threads with open calls.
    #[must_use]
    pub fn threads_with_open_calls(&self) -> HashSet<u64> {
        let logs = self.threads.all().into_iter();
        let has_open = |log: &&ThreadLog| !log.ended.load(Ordering::Acquire) && !log.own.is_idle();
        logs.filter(has_open)
            .map(|log| log.id.load(Ordering::Relaxed))
            .collect()
    }

    /// Pauses the calling thread, which then drains, until much waits to be read or the time is over.
    pub fn pause(&self, time: Duration) {
        self.shared.alarm.wait(time);
    }

    /// Writes what is new since the last time to `out`: threads, spans, calls and losses. Times begin at the tick
    /// `base`.
    pub fn drain(&self, spans: &SpanTable, out: &mut EventWriter, base: u64) -> Drained {
        let mut reported = self.reported();
        spans.note_values(&|number| self.shared.name_of(number));
        for span in spans.take_changed() {
            out.span(&span);
        }
        for thread in self.threads.take_joined() {
            out.thread(&thread);
        }
        self.shared.add_class_names(&mut reported.classes);
        let logs = self.threads.all();
        let current = spans.current();
        let mut ended = Vec::new();
        let mut drained = Drained::Nothing;
        for log in &logs {
            // What the thread wrote before it ended can be read by then.
            let has_ended = log.ended.load(Ordering::Acquire);
            let entries = Entries {
                shared: &self.shared,
                scale: self.shared.scale(base),
                own: log.id.load(Ordering::Relaxed),
                classes: &reported.classes,
                current: &current,
            };
            let more = self.read(&log.queue, &entries, out, &mut drained);
            if has_ended && !more {
                ended.push(*log);
            }
        }
        let entries = Entries {
            shared: &self.shared,
            scale: self.shared.scale(base),
            own: 0,
            classes: &reported.classes,
            current: &current,
        };
        self.read(&self.shared.coroutines.queue, &entries, out, &mut drained);
        // Behind the calls: a wait that ended before its call did is here when the call is.
        if self.waits.write(spans, entries.scale, out) {
            drained = drained.max(Drained::All);
        }
        self.threads.recycle(&ended);
        let (oldest, over_size) = out.limited();
        let lost = Lost {
            unwritten: out.unwritten(),
            oldest,
            over_size,
            ..self.lost_by(&logs).since(&reported.lost_before)
        };
        if lost != reported.lost {
            reported.lost = lost;
            out.lost(&lost);
        }
        drained
    }

    /// Writes the calls that wait in a queue, but not too many; says whether there may be more.
    fn read(
        &self,
        queue: &Queue,
        entries: &Entries<'_>,
        out: &mut EventWriter,
        drained: &mut Drained,
    ) -> bool {
        let mut words = Vec::new();
        for _ in 0..SEGMENTS {
            words.clear();
            let more = self.shared.segments.pull(queue, &mut words);
            entries.write(&words, out);
            if !words.is_empty() {
                *drained = (*drained).max(Drained::All);
            }
            if !more {
                return false;
            }
        }
        *drained = Drained::Part;
        true
    }

    /// The sums of spans that changed since the last time, each since the start or the last reset.
    pub fn changed_sums(&self, spans: &SpanTable) -> Vec<(u32, Aggregate)> {
        let logs = self.threads.all();
        let current = spans.current();
        let mut changed = BTreeSet::new();
        for log in &logs {
            log.sums.visit(|span, grew| {
                if grew && current.get(span as usize) == Some(&true) {
                    changed.insert(span);
                }
            });
        }
        let sums = changed.into_iter().map(|span| {
            let mut sum = Aggregate::default();
            for log in &logs {
                log.sums
                    .collect(span, |ticks| self.shared.scale(0).duration(ticks), &mut sum);
            }
            (span, sum)
        });
        sums.collect()
    }

    /// The calls that are open, and whether their threads are virtual: `all`, or those that were open the last time
    /// and not among the results then.
    pub fn open_calls(
        &self,
        spans: &SpanTable,
        base: u64,
        now: u64,
        all: bool,
    ) -> Vec<(Call, bool)> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let current = spans.current();
        let scale = self.shared.scale(base);
        let now = scale.time(now);
        let logs = self.threads.all();
        let own = logs
            .iter()
            .filter(|log| !log.ended.load(Ordering::Acquire))
            .map(|log| (log.id.load(Ordering::Relaxed), &log.own, false));
        let virtual_ones = self.shared.virtual_stacks.used();
        let virtual_ones = virtual_ones.map(|(thread, stack)| (thread, stack, true));
        let before = std::mem::take(&mut *open);
        let mut calls = Vec::new();
        let of_coroutines = self
            .shared
            .coroutines
            .with(|state| state.open().collect::<Vec<_>>());
        let of_threads = own
            .chain(virtual_ones)
            .flat_map(|(thread, stack, is_virtual)| {
                let open = stack.open().into_iter();
                open.map(move |(span, mode, start)| ((thread, span, mode, start), is_virtual))
            });
        let of_coroutines = of_coroutines.into_iter().map(|call| (call, true));
        for ((thread, span, mode, start), is_virtual) in of_threads.chain(of_coroutines) {
            {
                let is_current = current.get(span as usize) == Some(&true);
                let nanos = now.saturating_sub(scale.time(start));
                if start < base || !is_current || !self.is_kept(span, mode, nanos) {
                    continue;
                }
                let key = (thread, start);
                let given = before.get(&key).copied();
                open.insert(key, all || given.is_some());
                if !all && given != Some(false) {
                    continue;
                }
                let start = scale.time(start);
                let call = Call {
                    thread,
                    span,
                    start,
                    end: now.max(start),
                    outcome: Outcome::Open,
                    captures: Vec::new(),
                };
                calls.push((call, is_virtual));
            }
        }
        calls
    }

    /// Checks whether a call that has been open for so long will be among the single calls when it ends.
    fn is_kept(&self, span: u32, mode: u8, nanos: u64) -> bool {
        let watches = self.shared.watches;
        mode == SpanMode::Events as u8 || mode == WATCHED && watches.keeps_open(span, nanos)
    }

    /// Forgets the calls of suspend functions that can never go on, and gives those whose single calls are kept as
    /// open: nothing refers to their continuations any more.
    pub fn abandoned_calls(&self, objects: &impl Continuations, base: u64, now: u64) -> Vec<Call> {
        let coroutines = &self.shared.coroutines;
        let gone = coroutines.with(|state| state.forget_gone(objects));
        let scale = self.shared.scale(base);
        let current = self.shared.table.current();
        let is_kept = |(_, span, mode, start): &(u64, u32, u8, u64)| {
            let is_current = current.get(*span as usize) == Some(&true);
            let nanos = scale
                .time(now.max(*start))
                .saturating_sub(scale.time(*start));
            *start >= base && is_current && self.is_kept(*span, *mode, nanos)
        };
        let call = |(thread, span, _, start): (u64, u32, u8, u64)| Call {
            thread,
            span,
            start: scale.time(start),
            end: scale.time(now.max(start)),
            outcome: Outcome::Open,
            captures: Vec::new(),
        };
        gone.into_iter().filter(is_kept).map(call).collect()
    }

    /// Forgets all calls, sums and losses; what comes later counts from zero.
    pub fn reset(&self, out: &mut EventWriter) {
        let mut reported = self.reported();
        self.forget(&mut reported);
        out.reset();
    }

    /// From now on another file is written, with the calls that are entered from the tick `base` on: what was
    /// collected for the last one is forgotten, and the threads are reported again.
    pub fn begin_again(&self, base: u64) {
        let mut reported = self.reported();
        self.shared.set_base(base);
        self.shared.watches.begin_again(None);
        self.shared.rates.begin_again();
        self.shared.coroutines.with(|state| state.clear());
        self.forget(&mut reported);
        self.open
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        self.threads.report_again();
    }

    /// Shows the memory that holds nothing to be read and that no thread writes, so that it can be given back to the
    /// system; its contents do not matter.
    pub fn visit_unused(&self, visit: impl Fn(&[AtomicU64])) {
        let _nobody_reads = self.reported();
        self.shared.segments.visit_read(visit);
    }

    fn forget(&self, reported: &mut Reported) {
        let logs = self.threads.all();
        let mut words = Vec::new();
        for log in &logs {
            log.sums.reset();
            while self.shared.segments.pull(&log.queue, &mut words) {
                words.clear();
            }
            words.clear();
        }
        while self
            .shared
            .segments
            .pull(&self.shared.coroutines.queue, &mut words)
        {
            words.clear();
        }
        self.waits.clear();
        reported.lost_before = self.lost_by(&logs);
        reported.lost = Lost::default();
    }

    /// The losses of these threads and the lost waits.
    fn lost_by(&self, logs: &[&'static ThreadLog]) -> Lost {
        let mut lost = Lost {
            waits: self.waits.lost(),
            ..Lost::default()
        };
        logs.iter().for_each(|log| log.lost.collect(&mut lost));
        lost
    }

    fn reported(&self) -> MutexGuard<'_, Reported> {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
