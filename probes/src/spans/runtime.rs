//! What instrumented code calls, and what collects it.
//!
//! Entering and leaving a span takes no lock and, once a thread has seen the span, allocates nothing: the open calls
//! of a Java thread are a stack, a call that ends is added to the sums of the native thread and written to its ring.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::SpanTable;
use super::capture::{self, CaptureSpec, Seen};
use super::ring::Ring;
use super::stack::{Left, ThreadStack};
use super::sums::{MAX_SUMS, Timed};
use super::threads::{ThreadLog, Threads, VirtualStacks};
use crate::events::{Aggregate, Call, EventWriter, Lost, Outcome, SpanMode, ThreadInfo};

const AGGREGATE: u8 = SpanMode::Aggregate as u8;
const EVENTS: u8 = SpanMode::Events as u8;

/// Words of all rings together: 64 MiB.
const RING_WORDS: usize = 8 << 20;
/// Words of one ring, while there are few: 1 MiB.
const MAX_RING: usize = 128 << 10;
/// Words of the smallest ring.
const MIN_RING: usize = 2 << 10;
/// Class names that are told apart.
const MAX_CLASSES: u32 = 1 << 16;
/// Calls of one record in the file.
const CALLS: usize = 4_096;

/// Left by an exception.
const THREW: u64 = 1 << 32;
/// The class of the exception follows.
const NAMED: u64 = 1 << 33;
/// The id of the virtual thread follows.
const VIRTUAL: u64 = 1 << 34;
/// Where a record's length lies in its first word.
const LENGTH_SHIFT: u32 = 48;

/// What the running code is asked while it calls in.
pub trait Jvm {
    /// The clock, in ticks as `Scale` knows them.
    fn ticks(&self) -> u64;

    /// Who this native thread is; asked once per thread. None if that cannot be found out.
    fn join(&self) -> Option<Joining>;

    /// Runs `body` with the place of this native thread, which is empty at first.
    fn with_place<R>(&self, body: impl FnOnce(&Place) -> R) -> R;
}

/// What is kept of a native thread between its calls.
pub type Place = Cell<Option<Here>>;

/// A native thread that calls in for the first time.
#[derive(Debug)]
pub struct Joining {
    /// Where it records.
    pub runtime: &'static Runtime,
    /// The platform thread.
    pub thread: ThreadInfo,
    /// The id that calls of the platform thread itself name.
    pub owner: u64,
    /// Makes the place of a thread that ends empty again.
    pub clear: fn(),
}

/// The times of one recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Scale {
    /// The tick at which they begin.
    base: u64,
    /// Nanoseconds per tick, in units of 2^-32.
    nanos_per_tick: u64,
}

impl Scale {
    /// A duration in nanoseconds.
    #[inline]
    fn duration(self, ticks: u64) -> u64 {
        ((u128::from(ticks) * u128::from(self.nanos_per_tick)) >> 32) as u64
    }

    /// A moment in nanoseconds since the recording began.
    fn moment(self, ticks: u64) -> u64 {
        self.duration(ticks.saturating_sub(self.base))
    }
}

/// Where all threads of one JVM record their spans.
#[derive(Debug)]
pub struct Runtime {
    modes: &'static [AtomicU8],
    nanos_per_tick: u64,
    threads: Threads,
    virtual_stacks: VirtualStacks,
    sums_left: AtomicUsize,
    ring_words_left: AtomicUsize,
    classes: Mutex<Classes>,
    /// Of those who read; also makes them one at a time.
    told: Mutex<Told>,
}

/// What was handed over already.
#[derive(Debug, Default)]
struct Told {
    lost: Lost,
    /// Calls that were open the last time, by thread and start, and whether they were handed over.
    open: HashMap<(u64, u64), bool>,
}

/// Class names by number, and numbers by name.
#[derive(Debug, Default)]
struct Classes {
    names: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
}

/// Where a native thread records, and the stack of the Java thread it runs.
#[derive(Debug, Clone, Copy)]
pub struct Here {
    log: &'static ThreadLog,
    stack: &'static ThreadStack,
}

/// Tells of the end of a native thread.
struct Farewell(Cell<Option<Leaving>>);

/// What a native thread that ends leaves behind.
#[derive(Clone, Copy)]
struct Leaving {
    log: &'static ThreadLog,
    /// Makes its place empty again.
    clear: fn(),
}

impl Drop for Farewell {
    fn drop(&mut self) {
        if let Some(Leaving { log, clear }) = self.0.get() {
            clear();
            log.ended.store(true, Ordering::Release);
        }
    }
}

thread_local! {
    static FAREWELL: Farewell = const { Farewell(Cell::new(None)) };
}

/// The place of the Java thread `thread`; `begin` says that it may be given one.
#[inline(always)]
fn here(jvm: &impl Jvm, thread: u64, begin: bool) -> Option<Here> {
    let here = jvm.with_place(Cell::get);
    match here {
        Some(found) if found.stack.owner.load(Ordering::Relaxed) == thread => here,
        _ => find(jvm, here, thread, begin),
    }
}

/// A native thread's first call, or its first of another Java thread.
#[cold]
fn find(jvm: &impl Jvm, here: Option<Here>, thread: u64, begin: bool) -> Option<Here> {
    let mut here = here.or_else(|| join(jvm))?;
    let log = here.log;
    here.stack = if log.own.owner.load(Ordering::Relaxed) == thread {
        &log.own
    } else if begin {
        let stack = log.runtime.virtual_stacks.claim(thread);
        if stack.is_none() {
            log.lost.note(|lost| &lost.untracked, 1);
        }
        stack?
    } else {
        log.runtime.virtual_stacks.find(thread)?
    };
    jvm.with_place(|place| place.set(Some(here)));
    Some(here)
}

#[cold]
fn join(jvm: &impl Jvm) -> Option<Here> {
    let joining = jvm.join()?;
    let runtime = joining.runtime;
    let log = runtime.threads.join(runtime, joining.thread, joining.owner);
    // A thread that is about to end cannot tell of it any more.
    FAREWELL
        .try_with(|farewell| {
            farewell.0.set(Some(Leaving {
                log,
                clear: joining.clear,
            }));
        })
        .ok()?;
    let stack = &log.own;
    Some(Here { log, stack })
}

/// A call of `span` begins on the Java thread `thread`.
#[inline]
pub fn enter(jvm: &impl Jvm, thread: u64, span: u32) {
    let Some(here) = here(jvm, thread, true) else {
        return;
    };
    let mode = here.log.runtime.mode(span);
    let start = match mode {
        AGGREGATE.. => here.stack.moment(jvm.ticks()),
        _ => 0,
    };
    if !here.stack.enter(span, mode, start) {
        here.log.lost.note(|lost| &lost.untracked, 1);
    }
}

/// A call of `span` returns.
#[inline]
pub fn exit(jvm: &impl Jvm, thread: u64, span: u32) {
    leave(jvm, thread, span, false, || None);
}

/// A call of `span` is left by an exception; `class` numbers its class ([`Runtime::class`]) and is asked only where
/// calls are kept one by one.
#[inline]
pub fn fail(jvm: &impl Jvm, thread: u64, span: u32, class: impl FnOnce() -> Option<u32>) {
    leave(jvm, thread, span, true, class);
}

#[inline(always)]
fn leave(
    jvm: &impl Jvm,
    thread: u64,
    span: u32,
    failed: bool,
    class: impl FnOnce() -> Option<u32>,
) {
    let Some(here) = here(jvm, thread, false) else {
        return;
    };
    let Some(left) = here.stack.leave(span) else {
        return;
    };
    if left.mode >= AGGREGATE {
        let end = here.stack.moment(jvm.ticks());
        ended(here, span, left, end, failed, class);
    }
    if left.unended > 0 {
        here.log.lost.note(|lost| &lost.unended, left.unended);
    }
    if !std::ptr::eq(here.stack, &here.log.own) && here.stack.is_idle() {
        here.stack.owner.store(0, Ordering::Release);
    }
}

#[inline(always)]
fn ended(
    here: Here,
    span: u32,
    left: Left,
    end: u64,
    failed: bool,
    class: impl FnOnce() -> Option<u32>,
) {
    let ticks = end.saturating_sub(left.start);
    here.stack.spent(ticks);
    let timed = Timed {
        ticks,
        own: ticks.saturating_sub(left.within),
        nanos: here.log.runtime.scale(0).duration(ticks),
        failed,
    };
    if !here.log.sums.add(span, timed, &here.log.runtime.sums_left) {
        here.log.lost.note(|lost| &lost.sums, 1);
    }
    if left.mode == EVENTS {
        let thrown = if failed { class() } else { None };
        record(here, span, (left.start, end), left.captures, failed, thrown);
    }
}

/// Writes a call to the ring: flags, start, end, what the flags announce, captures. Takes no [`Left`], which would
/// have to be in memory for it in every other mode as well.
#[inline(never)]
fn record(
    here: Here,
    span: u32,
    (start, end): (u64, u64),
    captures: (u64, u64),
    failed: bool,
    thrown: Option<u32>,
) {
    let captures = here.stack.words(captures);
    let mut head = [0, start, end, 0, 0];
    let mut length = 3;
    let mut flags = if failed { THREW } else { 0 };
    let mut add = |flag, word| {
        flags |= flag;
        if let Some(slot) = head.get_mut(length) {
            *slot = word;
        }
        length += 1;
    };
    if !std::ptr::eq(here.stack, &here.log.own) {
        add(VIRTUAL, here.stack.owner.load(Ordering::Relaxed));
    }
    if let Some(class) = thrown {
        add(NAMED, class.into());
    }
    head[0] = u64::from(span) | flags | ((length + captures.len()) as u64) << LENGTH_SHIFT;
    let ring = match here.log.ring.get() {
        Some(ring) => Some(ring),
        None => here.log.runtime.ring(here.log),
    };
    let head = head.get(..length).unwrap_or_default();
    if !ring.is_some_and(|ring| ring.push(head, captures)) {
        here.log.lost.note(|lost| &lost.full, 1);
    }
}

/// A value of a call of `span` that is about to be entered or left. `read` is asked for it only where calls are kept
/// one by one.
#[inline]
pub fn capture<'v>(
    jvm: &impl Jvm,
    thread: u64,
    span: u32,
    spec: CaptureSpec,
    read: impl FnOnce(&'static Runtime) -> Seen<'v>,
) {
    let Some(here) = here(jvm, thread, true) else {
        return;
    };
    if here.log.runtime.mode(span) != EVENTS {
        return;
    }
    let value = read(here.log.runtime);
    let stack = here.stack;
    let first = spec.is_first();
    if !stack.stage(span, first, |words| capture::encode(spec, value, words)) {
        here.log.lost.note(|lost| &lost.captures, 1);
        stack.stage(span, false, |words| {
            let word = capture::missing(spec);
            words
                .first()
                .map(|slot| slot.store(word, Ordering::Relaxed))?;
            Some(1)
        });
    }
}

impl Runtime {
    /// Where the spans of `table` are recorded; `nanos_per_tick` is in units of 2^-32.
    #[must_use]
    pub fn new(table: &'static SpanTable, nanos_per_tick: u64) -> Self {
        Self {
            modes: table.modes(),
            nanos_per_tick,
            threads: Threads::default(),
            virtual_stacks: VirtualStacks::default(),
            sums_left: AtomicUsize::new(MAX_SUMS),
            ring_words_left: AtomicUsize::new(RING_WORDS),
            classes: Mutex::default(),
            told: Mutex::default(),
        }
    }

    #[inline]
    fn scale(&self, base: u64) -> Scale {
        Scale {
            base,
            nanos_per_tick: self.nanos_per_tick,
        }
    }

    #[inline]
    fn mode(&self, span: u32) -> u8 {
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

    /// The ring of a thread that keeps its first call: an eighth of what all rings may still take.
    #[cold]
    fn ring(&self, log: &'static ThreadLog) -> Option<&'static Ring> {
        let words = |left: usize| {
            let fair = (left / 8).clamp(MIN_RING, MAX_RING);
            1 << fair.ilog2()
        };
        let take = |left: usize| left.checked_sub(words(left));
        let left = self
            .ring_words_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
            .ok()?;
        Some(log.ring.get_or_init(|| Ring::new(words(left))))
    }

    /// Hands what was recorded since the last time to `out`: threads, spans, calls and losses; with `sums` also the
    /// sums that changed, which takes longer. Times begin at the tick `base`.
    pub fn drain(&self, spans: &SpanTable, out: &mut EventWriter, base: u64, sums: bool) {
        let mut told = self.told();
        for span in spans.take_changed() {
            out.span(&span);
        }
        for thread in self.threads.take_joined() {
            out.thread(&thread);
        }
        let logs = self.threads.all();
        let current = spans.current();
        let classes = self.classes().names.clone();
        let mut ended = Vec::new();
        let mut words = Vec::new();
        for log in &logs {
            // What the thread wrote before it ended is in the ring by then.
            let has_ended = log.ended.load(Ordering::Acquire);
            if let Some(ring) = log.ring.get().filter(|ring| !ring.is_empty()) {
                words.clear();
                ring.take(&mut words);
                let own = log.id.load(Ordering::Relaxed);
                let decoder = Decoder {
                    runtime: self,
                    scale: self.scale(base),
                    own,
                    classes: &classes,
                    current: &current,
                };
                decoder.write(&words, out);
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
        if lost != told.lost {
            told.lost = lost;
            out.lost(&lost);
        }
    }

    /// Hands over what is known of the calls that are open: of `all`, or of those that were open the last time, too,
    /// and not handed over then. They are written again when they end.
    pub fn drain_open(
        &self,
        spans: &SpanTable,
        out: &mut EventWriter,
        base: u64,
        now: u64,
        all: bool,
    ) {
        let mut told = self.told();
        let current = spans.current();
        let scale = self.scale(base);
        let now = scale.moment(now);
        let logs = self.threads.all();
        let own = logs
            .iter()
            .filter(|log| !log.ended.load(Ordering::Acquire))
            .map(|log| (log.id.load(Ordering::Relaxed), &log.own, false));
        let virtual_ones = self.virtual_stacks.used();
        let virtual_ones = virtual_ones.map(|(thread, stack)| (thread, stack, true));
        let before = std::mem::take(&mut told.open);
        for (thread, stack, is_virtual) in own.chain(virtual_ones) {
            let mut calls = Vec::new();
            for (span, mode, start) in stack.open() {
                let is_current = current.get(span as usize) == Some(&true);
                if mode != EVENTS || start < base || !is_current {
                    continue;
                }
                let key = (thread, start);
                let handed_over = before.get(&key).copied();
                told.open.insert(key, all || handed_over.is_some());
                if !all && handed_over != Some(false) {
                    continue;
                }
                let start = scale.moment(start);
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

    /// From now on another file is written: what was recorded for the last one is forgotten, and the threads are told
    /// of again.
    pub fn begin_again(&self) {
        self.forget();
        *self.told() = Told::default();
        self.threads.tell_again();
    }

    fn forget(&self) {
        let _told = self.told();
        let mut words = Vec::new();
        for log in self.threads.all() {
            log.sums.reset();
            if let Some(ring) = log.ring.get() {
                ring.take(&mut words);
            }
            words.clear();
        }
    }

    fn name_of(&self, number: u32) -> Arc<str> {
        let name = self.classes().names.get(number as usize).cloned();
        name.unwrap_or_else(|| "?".into())
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
                    .collect(span, |ticks| self.scale(0).duration(ticks), &mut sum);
            }
            (span, sum)
        });
        let sums: Vec<(u32, Aggregate)> = sums.collect();
        out.aggregates(sums.iter().map(|(span, sum)| (*span, sum)));
    }

    fn classes(&self) -> MutexGuard<'_, Classes> {
        self.classes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes calls of the records of one ring.
struct Decoder<'r> {
    runtime: &'r Runtime,
    scale: Scale,
    /// Java's id of the ring's thread.
    own: u64,
    /// Names of classes by number, as far as they were known when the ring was read.
    classes: &'r [Arc<str>],
    /// The spans of this recording.
    current: &'r [bool],
}

impl Decoder<'_> {
    fn write(&self, words: &[u64], out: &mut EventWriter) {
        let mut calls = Vec::new();
        let mut rest = words;
        while let Some(head) = rest.first() {
            let length = (head >> LENGTH_SHIFT) as usize;
            let Some((record, behind)) = rest.split_at_checked(length.max(3)) else {
                break;
            };
            rest = behind;
            calls.extend(self.call(record));
            if calls.len() == CALLS || rest.is_empty() {
                out.calls(calls.iter().map(|(call, is_virtual)| (call, *is_virtual)));
                calls.clear();
            }
        }
    }

    /// A record of the ring as a call, and whether its thread is virtual.
    fn call(&self, record: &[u64]) -> Option<(Call, bool)> {
        let (&[head, start, end], mut rest) = record.split_first_chunk()?;
        let is_current = self.current.get(head as u32 as usize) == Some(&true);
        if start < self.scale.base || !is_current {
            return None; // entered in an earlier recording
        }
        let mut next = |flag: u64| {
            let (first, others) = rest.split_first()?;
            if head & flag == 0 {
                return None;
            }
            rest = others;
            Some(*first)
        };
        let virtual_thread = next(VIRTUAL);
        let thrown = next(NAMED);
        let class = |number: u32| {
            let class = self.classes.get(number as usize).cloned();
            // Numbered after this look at the names; the next look has it, this one need not wait.
            class.unwrap_or_else(|| self.runtime.name_of(number))
        };
        let outcome = match (head & THREW != 0, thrown) {
            (false, _) => Outcome::Returned,
            (true, None) => Outcome::Threw(None),
            (true, Some(number)) => Outcome::Threw(Some(class(number as u32))),
        };
        let call = Call {
            thread: virtual_thread.unwrap_or(self.own),
            span: head as u32,
            start: self.scale.moment(start),
            end: self.scale.moment(end),
            outcome,
            captures: capture::decode(rest, class),
        };
        Some((call, virtual_thread.is_some()))
    }
}

#[cfg(test)]
mod tests;
