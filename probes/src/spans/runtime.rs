//! Collects what the running code wrote, for the event file.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::entry::{CALLS, Entries};
use super::shared::Shared;
use super::table::SpanTable;
use super::threads::{ThreadLog, Threads};
use crate::events::{Aggregate, Call, EventWriter, Lost, Outcome, SpanMode};

/// Collects the calls of all threads of one JVM.
#[derive(Debug)]
pub struct Runtime {
    pub(super) shared: Shared,
    pub(super) threads: Threads,
    /// Locked for as long as one reader reads.
    reported: Mutex<Reported>,
}

/// What was written already.
#[derive(Debug, Default)]
struct Reported {
    lost: Lost,
    /// Calls that were open the last time, by thread and start, and whether they were written.
    open: HashMap<(u64, u64), bool>,
}

impl Runtime {
    /// Collects calls of the spans of `table`; `nanos_per_tick` is in units of 2^-32.
    #[must_use]
    pub fn new(table: &'static SpanTable, nanos_per_tick: u64) -> Self {
        Self {
            shared: Shared::new(table, nanos_per_tick),
            threads: Threads::default(),
            reported: Mutex::default(),
        }
    }

    /// The number of a class name, the same for the same name; there are at most some 65,000, all others share one.
    pub fn class(&self, name: &str) -> u32 {
        self.shared.class(name)
    }

    /// Writes what is new since the last time to `out`: threads, spans, calls and losses; with `sums` also the
    /// sums that changed, which takes longer. Times begin at the tick `base`.
    pub fn drain(&self, spans: &SpanTable, out: &mut EventWriter, base: u64, sums: bool) {
        let mut reported = self.reported();
        for span in spans.take_changed() {
            out.span(&span);
        }
        for thread in self.threads.take_joined() {
            out.thread(&thread);
        }
        let logs = self.threads.all();
        let current = spans.current();
        let classes = self.shared.class_names();
        let mut ended = Vec::new();
        let mut words = Vec::new();
        for log in &logs {
            // What the thread wrote before it ended is in the ring by then.
            let has_ended = log.ended.load(Ordering::Acquire);
            if let Some(ring) = log.ring.get().filter(|ring| !ring.is_empty()) {
                words.clear();
                ring.take(&mut words);
                let own = log.id.load(Ordering::Relaxed);
                let entries = Entries {
                    shared: &self.shared,
                    scale: self.shared.scale(base),
                    own,
                    classes: &classes,
                    current: &current,
                };
                entries.write(&words, out);
            }
            if has_ended {
                ended.push(*log);
            }
        }
        self.threads.recycle(&ended);
        if sums {
            self.write_sums(&logs, &current, out);
        }
        let mut lost = Lost::default();
        logs.iter().for_each(|log| log.lost.collect(&mut lost));
        if lost != reported.lost {
            reported.lost = lost;
            out.lost(&lost);
        }
    }

    /// Writes the calls that are open: `all`, or those that were open the last time and not
    /// written then. They are written again when they end.
    pub fn drain_open(
        &self,
        spans: &SpanTable,
        out: &mut EventWriter,
        base: u64,
        now: u64,
        all: bool,
    ) {
        let mut reported = self.reported();
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
        let before = std::mem::take(&mut reported.open);
        for (thread, stack, is_virtual) in own.chain(virtual_ones) {
            let mut calls = Vec::new();
            for (span, mode, start) in stack.open() {
                let is_current = current.get(span as usize) == Some(&true);
                if mode != SpanMode::Events as u8 || start < base || !is_current {
                    continue;
                }
                let key = (thread, start);
                let written = before.get(&key).copied();
                reported.open.insert(key, all || written.is_some());
                if !all && written != Some(false) {
                    continue;
                }
                let start = scale.time(start);
                calls.push(Call {
                    thread,
                    span,
                    start,
                    end: now.max(start),
                    outcome: Outcome::Open,
                    captures: Vec::new(),
                });
            }
            for calls in calls.chunks(CALLS) {
                out.calls(calls.iter().map(|call| (call, is_virtual)));
            }
        }
    }

    /// Forgets all calls and sums; what comes later counts from zero.
    pub fn reset(&self, out: &mut EventWriter) {
        self.forget();
        out.reset();
    }

    /// From now on another file is written: what was collected for the last one is forgotten, and the threads are
    /// reported again.
    pub fn begin_again(&self) {
        self.forget();
        *self.reported() = Reported::default();
        self.threads.report_again();
    }

    fn forget(&self) {
        let _reported = self.reported();
        let mut words = Vec::new();
        for log in self.threads.all() {
            log.sums.reset();
            if let Some(ring) = log.ring.get() {
                ring.take(&mut words);
            }
            words.clear();
        }
    }

    fn write_sums(&self, logs: &[&'static ThreadLog], current: &[bool], out: &mut EventWriter) {
        let mut changed = BTreeSet::new();
        for log in logs {
            log.sums.visit(|span, grew| {
                if grew && current.get(span as usize) == Some(&true) {
                    changed.insert(span);
                }
            });
        }
        let sums = changed.into_iter().map(|span| {
            let mut sum = Aggregate::default();
            for log in logs {
                log.sums
                    .collect(span, |ticks| self.shared.scale(0).duration(ticks), &mut sum);
            }
            (span, sum)
        });
        let sums: Vec<(u32, Aggregate)> = sums.collect();
        out.aggregates(sums.iter().map(|(span, sum)| (*span, sum)));
    }

    fn reported(&self) -> MutexGuard<'_, Reported> {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
