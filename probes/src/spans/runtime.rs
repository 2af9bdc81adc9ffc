//! Collects the recorded calls of all threads for the event file.

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
use super::waits::{CompletedWait, Waits};
use crate::events::{Aggregate, Call, EventWriter, Lost, Outcome, SpanMode};

/// Number of one thread's segments that are read before those of the next thread.
const SEGMENTS: usize = 64;

/// The result of draining.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Drained {
    /// No calls were waiting.
    Nothing,
    /// All waiting calls were written.
    All,
    /// Some calls were written, others wait.
    Part,
}

/// Collects the calls of all threads of one JVM.
#[derive(Debug)]
pub struct Runtime {
    pub(super) shared: Shared,
    pub(super) threads: Threads,
    /// Waits that are not written yet.
    waits: Waits,
    /// Locked while a reader reads.
    reported: Mutex<Reported>,
    /// The open calls of the last visit, by thread and start; `true` for those among the results.
    open: Mutex<HashMap<(u64, u64), bool>>,
}

/// Data that was already written.
#[derive(Debug, Default)]
struct Reported {
    /// The losses before the trace began or was reset.
    lost_before: Lost,
    lost: Lost,
    /// Names of classes by number.
    classes: Vec<Arc<str>>,
}

impl Runtime {
    /// Collects calls of `table`'s spans in `memory`; `nanos_per_tick` is in units of 2^-32.
    #[must_use]
    pub fn new(table: &'static SpanTable, nanos_per_tick: u64, memory: Memory) -> Self {
        let limits = Limits {
            memory,
            ..Limits::default()
        };
        Self::with_limits(table, nanos_per_tick, limits)
    }

    /// Creates a runtime with other memory limits.
    pub(super) fn with_limits(
        table: &'static SpanTable,
        nanos_per_tick: u64,
        limits: Limits,
    ) -> Self {
        Self::of(Shared::new(table, nanos_per_tick, limits))
    }

    /// Creates the runtime of another session's spans. Class names have the same numbers; nothing else is shared.
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

    /// Returns the number of a class name; equal names have equal numbers. All names beyond some 65,000 share one
    /// number.
    pub fn class(&self, name: &str) -> u32 {
        self.shared.class(name)
    }

    /// Returns the name with this number, `?` for the shared number.
    pub fn name(&self, number: u32) -> Arc<str> {
        self.shared.name_of(number)
    }

    /// Adds a wait of a thread with open calls, or a collection.
    pub fn waited(&self, waited: CompletedWait) {
        self.waits.push(waited);
    }

    /// Counts waits or collections whose data was lost.
    pub fn lost_waits(&self, count: u64) {
        self.waits.lose(count);
    }

    /// Checks whether calls of a virtual thread are open.
    #[must_use]
    pub fn has_open_calls(&self, virtual_thread: u64) -> bool {
        let stack = self.shared.virtual_stacks.find(virtual_thread);
        stack.is_some_and(|stack| !stack.is_idle())
    }

    /// Returns Java's ids of the platform threads with open calls.
    #[must_use]
    pub fn threads_with_open_calls(&self) -> HashSet<u64> {
        let logs = self.threads.all().into_iter();
        let has_open = |log: &&ThreadLog| !log.ended.load(Ordering::Acquire) && !log.own.is_idle();
        logs.filter(has_open)
            .map(|log| log.id.load(Ordering::Relaxed))
            .collect()
    }

    /// Pauses the calling reader thread until many calls wait or the time is over.
    pub fn pause(&self, time: Duration) {
        self.shared.alarm.wait(time);
    }

    /// Writes the new threads, spans, calls and losses to `out`. Times begin at the tick `base`.
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
            // If the thread has ended, all its data is readable now.
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
        // Waits follow the calls: a wait that ended before its call is here when the call is.
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

    /// Writes a limited number of waiting calls of a queue; returns `true` if there may be more.
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

    /// Returns the sums of changed spans, since the start or the last reset.
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

    /// Returns the open calls; the flag is set for virtual threads. With `all` it returns every one, else those that
    /// were open at the last visit and not among its results.
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

    /// Checks whether a call that is open for `nanos` will be stored as a single call when it ends.
    fn is_kept(&self, span: u32, mode: u8, nanos: u64) -> bool {
        let watches = self.shared.watches;
        mode == SpanMode::Events as u8 || mode == WATCHED && watches.keeps_open(span, nanos)
    }

    /// Removes the suspend function calls whose continuations were collected, so that they can never resume. Returns
    /// those that are stored as single calls, as open calls.
    pub fn abandoned_calls(&self, objects: &impl Continuations, base: u64, now: u64) -> Vec<Call> {
        let coroutines = &self.shared.coroutines;
        let gone = coroutines.with(|state| state.remove_collected(objects));
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

    /// Discards all calls, sums and losses, and restarts the counts at zero.
    pub fn reset(&self, out: &mut EventWriter) {
        let mut reported = self.reported();
        self.forget(&mut reported);
        out.reset();
    }

    /// Starts another file with the calls entered from the tick `base` on. Discards the collected data and reports
    /// the threads again.
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

    /// Passes on the memory without unread data that no thread writes, so that the system can reclaim it; its
    /// contents do not matter.
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

    /// Returns the losses of these threads and the lost waits.
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
