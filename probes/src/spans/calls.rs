//! What instrumented code calls.
//!
//! Entering and leaving a span takes no lock and, once a thread has seen the span, allocates nothing: the open calls
//! of a Java thread are a stack, a call that ends is added to the sums of the native thread and written to its segment.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};

use conditions::limits::MAX_STACK;
use conditions::{Call, Datum, Path, Verdict};

use super::capture::{self, CaptureSpec, MAX_TEXT, Seen};
use super::current::{AGGREGATE, CurrentThread, EVENTS, Jvm, NewThread, unrecorded};
use super::entry::{LENGTH_SHIFT, MOMENT, NAMED, THREW, VIRTUAL};
use super::segments::Pushed;
use super::stack::{Begin, Left};
use super::sums::Timed;
use super::table::WATCHED;
use super::threads::ThreadLog;
use super::{lost_ends, quick};

/// Marks the logs of a native thread, one for each session, as ended when the thread ends.
struct ExitGuard(RefCell<Vec<Exit>>);

/// What is done when a native thread ends.
#[derive(Clone, Copy)]
struct Exit {
    log: &'static ThreadLog,
    /// Empties its cell.
    clear: fn(),
}

impl Drop for ExitGuard {
    fn drop(&mut self) {
        for Exit { log, clear } in self.0.take() {
            clear();
            log.ended.store(true, Ordering::Release);
        }
    }
}

thread_local! {
    static EXIT_GUARD: ExitGuard = const { ExitGuard(RefCell::new(Vec::new())) };
}

/// The log and stack for the Java thread `thread`; a virtual thread without a stack gets one for the span that begins.
#[inline(always)]
fn here(jvm: &impl Jvm, thread: u64, begins: Option<u32>) -> Option<CurrentThread> {
    let here = jvm.with_cell(Cell::get);
    match here {
        Some(found) if found.stack.owner.load(Ordering::Relaxed) == thread => here,
        _ => find(jvm, here, thread, begins),
    }
}

/// A native thread's first call, its first of another Java thread, or one of our own work.
#[cold]
fn find(
    jvm: &impl Jvm,
    here: Option<CurrentThread>,
    thread: u64,
    begins: Option<u32>,
) -> Option<CurrentThread> {
    if jvm.with_asks(Cell::get) {
        return None;
    }
    let mut here = here.or_else(|| join(jvm))?;
    let log = here.log;
    here.stack = if log.own.owner.load(Ordering::Relaxed) == thread {
        &log.own
    } else if let Some(span) = begins {
        let stack = log.shared.virtual_stacks.claim(thread);
        if stack.is_none() && log.shared.mode(span) >= AGGREGATE {
            log.lost.note(|lost| &lost.untracked, 1);
        }
        stack?
    } else {
        log.shared.virtual_stacks.find(thread)?
    };
    jvm.with_cell(|cell| cell.set(Some(here)));
    Some(here)
}

#[cold]
fn join(jvm: &impl Jvm) -> Option<CurrentThread> {
    let NewThread {
        runtime,
        thread,
        owner,
        scarce_below,
        clear,
    } = unrecorded(jvm, || jvm.join())?;
    let shared = &runtime.shared;
    let log = runtime.threads.join(shared, thread, owner, scarce_below);
    // Fails if the thread is ending: its end could not be noticed any more.
    EXIT_GUARD
        .try_with(|guard| {
            guard.0.borrow_mut().push(Exit { log, clear });
        })
        .ok()?;
    let stack = &log.own;
    Some(CurrentThread { log, stack })
}

/// A call of `span` begins on the Java thread `thread`.
#[inline(always)]
pub fn enter(jvm: &impl Jvm, thread: u64, span: u32) {
    let pointer = jvm.stack_pointer();
    if quick::enter(jvm, thread, span, pointer).is_none() {
        enter_any(jvm, thread, span, pointer);
    }
}

/// [`enter`] in every case.
#[inline(never)]
fn enter_any(jvm: &impl Jvm, thread: u64, span: u32, pointer: u64) {
    let Some(here) = here(jvm, thread, Some(span)) else {
        return;
    };
    let shared = here.log.shared;
    let mode = shared.mode(span);
    let now = || here.stack.moment(jvm.ticks(), shared.apart());
    let lost = |span, left| ended_unseen(jvm, here, span, left);
    lost_ends::before_entry(jvm, here, span, pointer, lost);
    let scarce = pointer < here.log.scarce_below.load(Ordering::Relaxed);
    if scarce && here.stack.top().is_none_or(|(_, scarce)| !scarce) {
        lost_ends::begin_to_count(jvm, here);
    }
    let begin = Begin {
        mode,
        base: shared.base(),
        pointer,
        scarce,
    };
    if !here.stack.enter(span, begin, now) && mode >= AGGREGATE {
        here.log.lost.note(|lost| &lost.untracked, 1);
    }
}

/// A call of `span` returns.
#[inline(always)]
pub fn exit(jvm: &impl Jvm, thread: u64, span: u32) {
    if quick::exit(jvm, thread, span).is_none() {
        exit_any(jvm, thread, span);
    }
}

/// [`exit`] in every case.
#[inline(never)]
fn exit_any(jvm: &impl Jvm, thread: u64, span: u32) {
    leave(jvm, thread, span, false, || None);
}

/// A call of `span` is left by an exception; `class` numbers its class ([`Runtime::class`](super::Runtime::class)) and is called only in
/// mode [`SpanMode::Events`](crate::events::SpanMode::Events).
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
    let Some(here) = here(jvm, thread, None) else {
        return;
    };
    let lost = |span, left| ended_unseen(jvm, here, span, left);
    lost_ends::before_end(jvm, here, span, failed, lost);
    let Some(left) = here.stack.leave(span) else {
        return;
    };
    if left.mode >= AGGREGATE && left.start >= here.log.shared.base() {
        let apart = here.log.shared.apart();
        let end = here.stack.moment(jvm.ticks(), apart);
        ended(jvm, here, span, left, end, failed, class);
    }
    give_back(here);
}

/// Records a call that ended before, by an exception that is not known.
#[cold]
fn ended_unseen(jvm: &impl Jvm, here: CurrentThread, span: u32, left: Left) {
    if left.mode >= AGGREGATE && left.start >= here.log.shared.base() {
        let end = here.stack.moment(jvm.ticks(), here.log.shared.apart());
        ended(jvm, here, span, left, end, true, || None);
    }
}

/// A virtual thread without open calls needs no stack.
#[inline(always)]
fn give_back(here: CurrentThread) {
    if !std::ptr::eq(here.stack, &here.log.own) && here.stack.is_idle() {
        here.log.shared.virtual_stacks.release(here.stack);
    }
}

/// The place of the event `span` is reached; its values were captured before, as those of a call.
pub fn event(jvm: &impl Jvm, thread: u64, span: u32) {
    let Some(here) = here(jvm, thread, Some(span)) else {
        return;
    };
    let captures = here.stack.take_staged(span);
    let mode = here.log.shared.mode(span);
    if mode >= AGGREGATE {
        let now = here.stack.moment(jvm.ticks(), here.log.shared.apart());
        reached(here, span, mode, now, captures);
    }
    give_back(here);
}

/// Counts an event, and writes it if its limit and its mode say so.
fn reached(here: CurrentThread, span: u32, mode: u8, now: u64, captures: (u64, u64)) {
    let (shared, lost) = (here.log.shared, &here.log.lost);
    let once = Timed {
        ticks: 0,
        own: 1, // see `Sum::add_fresh`
        nanos: 0,
        failed: false,
        outermost: true,
    };
    if !here.log.sums.add(span, once, &shared.sums_left) {
        lost.note(|lost| &lost.sums, 1);
    }
    if mode < EVENTS {
        return;
    }
    let second = shared.scale(shared.base()).time(now) / 1_000_000_000;
    if !shared.rates.admits(span, second) {
        return lost.note(|lost| &lost.over_rate, 1);
    }
    push(here, span, (now, now), captures, MOMENT, None);
}

#[inline(always)]
fn ended(
    jvm: &impl Jvm,
    here: CurrentThread,
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
        nanos: here.log.shared.scale(0).duration(ticks),
        failed,
        outermost: left.outermost,
    };
    if !here.log.sums.add(span, timed, &here.log.shared.sums_left) {
        here.log.lost.note(|lost| &lost.sums, 1);
    }
    if left.mode == EVENTS {
        let thrown = if failed { unrecorded(jvm, class) } else { None };
        push(
            here,
            span,
            (left.start, end),
            left.captures,
            threw(failed),
            thrown,
        );
    } else if left.mode == WATCHED {
        let (times, nanos) = ((left.start, end), timed.nanos);
        watched(jvm, here, span, times, nanos, left.captures, failed, class);
    }
}

/// A call of a span with a program: it is written if it matches.
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "as in `push`, without a `Left`")]
fn watched(
    jvm: &impl Jvm,
    here: CurrentThread,
    span: u32,
    times: (u64, u64),
    nanos: u64,
    captures: (u64, u64),
    failed: bool,
    class: impl FnOnce() -> Option<u32>,
) {
    let lost = &here.log.lost;
    let Some((watched, parameters)) = here.log.shared.watches.of(span) else {
        return lost.note(|lost| &lost.filtered, 1); // not watched any more
    };
    let call = EndedCall {
        here,
        words: here.stack.words(captures),
        nanos,
        failed,
        parameters,
    };
    match watched.program.evaluate(&call) {
        Verdict::Matches => {}
        Verdict::Fails => return lost.note(|lost| &lost.filtered, 1),
        Verdict::Undecided => {
            lost.note(|lost| &lost.undecided, 1);
            return lost.note(|lost| &lost.filtered, 1);
        }
    }
    let second = here.log.shared.scale(here.log.shared.base()).time(times.1) / 1_000_000_000;
    if !watched.admits(second) {
        return lost.note(|lost| &lost.beyond_limit, 1);
    }
    let captures = with_stack(jvm, here, captures, watched.program.stack());
    let thrown = if failed { unrecorded(jvm, class) } else { None };
    push(here, span, times, captures, threw(failed), thrown);
}

/// The captures of a call, and the call stack if so many frames of it are asked for.
fn with_stack(
    jvm: &impl Jvm,
    here: CurrentThread,
    captures: (u64, u64),
    most: Option<u8>,
) -> (u64, u64) {
    let Some(most) = most else {
        return captures;
    };
    let mut frames = [0; MAX_STACK as usize];
    let wanted = frames.get_mut(..most.into()).unwrap_or_default();
    let count = unrecorded(jvm, || jvm.frames(wanted));
    let found = frames.get(..count).unwrap_or_default();
    let write = |words: &[AtomicU64]| capture::encode_stack(found, words);
    let extended = here.stack.extend(captures, write);
    extended.unwrap_or_else(|| {
        here.log.lost.note(|lost| &lost.captures, 1);
        captures
    })
}

/// A call that has ended, as a program sees it.
struct EndedCall<'a> {
    here: CurrentThread,
    words: &'a [AtomicU64],
    nanos: u64,
    failed: bool,
    parameters: u8,
}

impl Call for EndedCall<'_> {
    fn duration(&self) -> u64 {
        self.nanos
    }

    fn threw(&self) -> bool {
        self.failed
    }

    fn depth(&self) -> u64 {
        self.here.stack.depth(self.here.log.shared.base())
    }

    fn arguments(&self) -> u64 {
        self.parameters.into()
    }

    fn thread<'b>(&self, buffer: &'b mut [u8; MAX_TEXT]) -> Datum<'b> {
        let CurrentThread { log, stack } = self.here;
        if !std::ptr::eq(stack, &log.own) {
            return Datum::Missing; // the name of a virtual thread is not known
        }
        let copied = log.with_name(|name| copy(name, buffer));
        copied.map_or(Datum::Missing, |(kept, length)| {
            capture::datum_of_text(buffer, kept, length)
        })
    }

    fn slot<'b>(&self, slot: u8, buffer: &'b mut [u8; MAX_TEXT]) -> Datum<'b> {
        let shared = self.here.log.shared;
        capture::slot(self.words, slot, buffer, |class, buffer| {
            let copied = copy(&shared.name_of(class), buffer);
            buffer
                .iter_mut()
                .filter(|byte| **byte == b'/')
                .for_each(|byte| *byte = b'.');
            copied
        })
    }
}

/// Copies as much of a text as fits; says how many bytes those are, and how many UTF-16 units the whole text has.
fn copy(text: &str, buffer: &mut [u8; MAX_TEXT]) -> (usize, u32) {
    let kept = text.floor_char_boundary(MAX_TEXT);
    if let (Some(room), Some(kept)) = (buffer.get_mut(..kept), text.as_bytes().get(..kept)) {
        room.copy_from_slice(kept);
    }
    let units = text.encode_utf16().count();
    (kept, u32::try_from(units).unwrap_or(u32::MAX))
}

fn threw(failed: bool) -> u64 {
    if failed { THREW } else { 0 }
}

/// Writes a call to the thread's segment: flags, start, end, what the flags announce, captures. Takes no [`Left`]: every other
/// mode would have to keep it in memory, too.
#[inline(never)]
fn push(
    here: CurrentThread,
    span: u32,
    (start, end): (u64, u64),
    captures: (u64, u64),
    mut flags: u64,
    thrown: Option<u32>,
) {
    let captures = here.stack.words(captures);
    let mut head = [0, start, end, 0, 0];
    let mut length = 3;
    let mut add = |flag, word| {
        flags |= flag;
        if let Some(next) = head.get_mut(length) {
            *next = word;
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
    let head = head.get(..length).unwrap_or_default();
    let shared = here.log.shared;
    match shared.segments.push(&here.log.queue, head, captures) {
        Pushed::Waits => {}
        Pushed::ManyWait => shared.alarm.ring(),
        Pushed::Refused => {
            here.log.lost.note(|lost| &lost.full, 1);
            shared.alarm.ring();
        }
    }
}

/// A value of a call of `span` that is about to be entered or left. `read` is called only in mode
/// [`SpanMode::Events`](crate::events::SpanMode::Events).
pub fn capture<'v>(
    jvm: &impl Jvm,
    thread: u64,
    span: u32,
    spec: CaptureSpec,
    read: impl FnOnce() -> Seen<'v>,
) {
    let Some(here) = here(jvm, thread, Some(span)) else {
        return;
    };
    if here.log.shared.mode(span) < EVENTS {
        return;
    }
    settle(jvm, here, span, spec);
    let value = unrecorded(jvm, read);
    keep(here, span, spec.is_of_entry(), spec, value);
}

/// As [`capture()`], of a primitive value.
#[inline(always)]
pub fn number(jvm: &impl Jvm, thread: u64, span: u32, spec: CaptureSpec, bits: u64) {
    if quick::number(jvm, thread, span, spec, bits).is_none() {
        number_any(jvm, thread, span, spec, bits);
    }
}

/// [`number`] in every case.
#[inline(never)]
fn number_any(jvm: &impl Jvm, thread: u64, span: u32, spec: CaptureSpec, bits: u64) {
    let read = || Seen::Number(spec.kind(), bits);
    capture(jvm, thread, span, spec, read);
}

/// As [`capture()`], of a value from which the program of the span reads others. `read` is called with each of these,
/// and without one where the value itself is kept.
pub fn capture_read_from(
    jvm: &impl Jvm,
    thread: u64,
    span: u32,
    spec: CaptureSpec,
    mut read: impl FnMut(CaptureSpec, Option<&Path>, &mut dyn FnMut(Seen<'_>)),
) {
    let Some(here) = here(jvm, thread, Some(span)) else {
        return;
    };
    let shared = here.log.shared;
    let (Some(root), EVENTS..) = (spec.root(), shared.mode(span)) else {
        return;
    };
    let mut read = |spec, path: Option<&Path>, keep: &mut dyn FnMut(Seen<'_>)| {
        unrecorded(jvm, || read(spec, path, keep));
    };
    settle(jvm, here, span, spec);
    let (mut first, of_entry) = (spec.is_first(), spec.is_of_entry());
    if spec.is_kept() {
        read(spec, None, &mut |value| {
            keep(here, span, of_entry, spec, value);
        });
        first = false;
    }
    let Some((watched, _)) = shared.watches.of(span) else {
        return;
    };
    for (number, slot) in watched.program.slots_of(root) {
        let spec = spec.of_slot(number, slot.is_compared, first);
        read(spec, Some(&slot.path), &mut |value| {
            keep(here, span, of_entry, spec, value)
        });
        first = false;
    }
}

/// Ends calls whose end was lost before the first value of one that is entered or left.
#[inline(always)]
fn settle(jvm: &impl Jvm, here: CurrentThread, span: u32, spec: CaptureSpec) {
    if spec.is_first() && (spec.is_of_entry() || spec.is_of_end()) {
        let lost = |span, left| ended_unseen(jvm, here, span, left);
        lost_ends::before_value(jvm, here, span, spec.is_of_entry(), lost);
    }
}

/// Writes a value to the captures that are staged, of a call that is about to be entered if `of_entry`.
fn keep(here: CurrentThread, span: u32, of_entry: bool, spec: CaptureSpec, value: Seen<'_>) {
    let stack = here.stack;
    let when = (of_entry, spec.is_first());
    if !stack.stage(span, when, |words| capture::encode(spec, value, words)) {
        here.log.lost.note(|lost| &lost.captures, 1);
        stack.stage(span, (of_entry, false), |words| {
            let word = capture::missing(spec);
            words
                .first()
                .map(|slot| slot.store(word, Ordering::Relaxed))?;
            Some(1)
        });
    }
}

#[cfg(test)]
mod tests;
