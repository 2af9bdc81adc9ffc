//! Records completed calls: the thread, the sums, the condition, and the single call.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};

use conditions::limits::MAX_STACK;
use conditions::{Call, Datum, Program, Value, Verdict};

use super::capture::{self, CaptureSpec, JvmValue, MAX_TEXT};
use super::coroutines::TrackPosition;
use super::current::{AGGREGATE, CurrentThread, EVENTS, Jvm, NewThread, unrecorded};
use super::entry::{LENGTH_SHIFT, NAMED, THREW, VIRTUAL};
use super::segments::Pushed;
use super::stack::ExitedCall;
use super::sums::Timed;
use super::table::WATCHED;
use super::threads::ThreadLog;
use crate::events::CaptureSource;

/// Marks the logs of a native thread, one for each session, as ended when the thread ends.
struct ExitGuard(RefCell<Vec<Exit>>);

/// The clean-up at the end of a native thread.
#[derive(Clone, Copy)]
struct Exit {
    log: &'static ThreadLog,
    /// Empties the thread's cell.
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

/// Returns the log and stack of the Java thread `thread`. A virtual thread without a stack gets one for the span that
/// begins.
#[inline(always)]
pub(super) fn here(jvm: &impl Jvm, thread: u64, begins: Option<u32>) -> Option<CurrentThread> {
    let here = jvm.with_cell(Cell::get);
    match here {
        Some(found) if found.stack.owner.load(Ordering::Relaxed) == thread => here,
        _ => find(jvm, here, thread, begins),
    }
}

/// Handles a native thread's first call, the first call of another Java thread, and calls of the agent's own work.
#[cold]
fn find(
    jvm: &impl Jvm,
    here: Option<CurrentThread>,
    thread: u64,
    begins: Option<u32>,
) -> Option<CurrentThread> {
    if jvm.with_query_flag(Cell::get) {
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
    // Fails if the thread is ending: its end could no longer be detected.
    EXIT_GUARD
        .try_with(|guard| {
            guard.0.borrow_mut().push(Exit { log, clear });
        })
        .ok()?;
    let stack = &log.own;
    Some(CurrentThread { log, stack })
}

/// Frees the stack of a virtual thread without open calls.
#[inline(always)]
pub(super) fn give_back(here: CurrentThread) {
    if !std::ptr::eq(here.stack, &here.log.own) && here.stack.is_idle() {
        here.log.shared.virtual_stacks.release(here.stack);
    }
}

/// A call whose frame is gone, or an event, whose `times` are equal.
#[derive(Clone, Copy)]
pub(super) struct CompletedCall {
    pub span: u32,
    /// The ticks of its start and its end.
    pub times: (u64, u64),
    /// The range of its captures.
    pub captures: (u64, u64),
    pub place: TrackPosition,
    /// `true` if an exception left it.
    pub failed: bool,
}

/// Records a call whose frame is gone.
#[inline(always)]
pub(super) fn ended(
    jvm: &impl Jvm,
    here: CurrentThread,
    span: u32,
    left: ExitedCall,
    end: u64,
    failed: bool,
    class: impl FnOnce() -> Option<u32>,
) {
    let ticks = end.saturating_sub(left.start);
    let place = attribute_time(here, ticks);
    record(jvm, here, span, left, end, place, failed, class);
}

impl CurrentThread {
    /// Returns the thread of this platform thread's open calls; the flag is set for a virtual thread. `None` without
    /// open calls.
    #[must_use]
    pub fn with_open_calls(self) -> Option<(u64, bool)> {
        let Self { log, .. } = self;
        let stack = &log.own;
        if stack.is_idle() {
            return None;
        }
        match place(Self { log, stack }).track {
            0 => Some((log.id.load(Ordering::Relaxed), false)),
            track => Some((track, true)),
        }
    }
}

/// Returns the place of the thread's next calls.
#[inline(always)]
pub(super) fn place(here: CurrentThread) -> TrackPosition {
    match here.stack.segment() {
        Some(segment) => {
            let coroutines = &here.log.shared.coroutines;
            coroutines.with(|state| state.place(segment))
        }
        None => TrackPosition::default(),
    }
}

/// Adds the time of a call to the enclosing one, and returns the place of the call.
#[inline(always)]
fn attribute_time(here: CurrentThread, ticks: u64) -> TrackPosition {
    if here.stack.is_in_segment() {
        return attribute_time_in_segment(here, ticks);
    }
    here.stack.add_callee_time(ticks);
    TrackPosition::default()
}

#[inline(never)]
fn attribute_time_in_segment(here: CurrentThread, ticks: u64) -> TrackPosition {
    let Some(segment) = here.stack.segment() else {
        return TrackPosition::default();
    };
    let within = here.stack.open_frames() - segment.depth.min(here.stack.open_frames());
    let mut place = here.log.shared.coroutines.with(|state| {
        if within == 0 {
            state.add_callee_time(segment, ticks);
        }
        state.place(segment)
    });
    if within > 0 {
        here.stack.add_callee_time(ticks);
    }
    if place.track != 0 {
        place.depth += within;
    }
    place
}

/// Adds a call to the sums, and writes it according to its mode.
#[inline(always)]
#[expect(
    clippy::too_many_arguments,
    reason = "arguments are in registers; a struct would be in memory in every mode"
)]
pub(super) fn record(
    jvm: &impl Jvm,
    here: CurrentThread,
    span: u32,
    left: ExitedCall,
    end: u64,
    place: TrackPosition,
    failed: bool,
    class: impl FnOnce() -> Option<u32>,
) {
    let ticks = end.saturating_sub(left.start);
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
    let ended = CompletedCall {
        span,
        times: (left.start, end),
        captures: left.captures,
        place,
        failed,
    };
    if left.mode == EVENTS {
        let thrown = if failed { unrecorded(jvm, class) } else { None };
        push(here, ended, threw(failed), thrown);
    } else if left.mode == WATCHED {
        watched(jvm, here, ended, timed.nanos, class);
    }
}

/// Writes a call of a span with a program if it matches.
#[inline(never)]
fn watched(
    jvm: &impl Jvm,
    here: CurrentThread,
    ended: CompletedCall,
    nanos: u64,
    class: impl FnOnce() -> Option<u32>,
) {
    if let Some(captures) = matching(jvm, here, ended, nanos) {
        let failed = ended.failed;
        let thrown = if failed { unrecorded(jvm, class) } else { None };
        let ended = CompletedCall { captures, ..ended };
        push(here, ended, threw(failed), thrown);
    }
}

/// Returns the captures of a call or event that matches its span's program, with the call stack. `None` if it does
/// not match or the limit is reached.
pub(super) fn matching(
    jvm: &impl Jvm,
    here: CurrentThread,
    ended: CompletedCall,
    nanos: u64,
) -> Option<(u64, u64)> {
    let lost = &here.log.lost;
    let Some((watched, parameters)) = here.log.shared.watches.of(ended.span) else {
        lost.note(|lost| &lost.filtered, 1); // no longer watched
        return None;
    };
    let call = EvaluatedCall {
        here,
        ended,
        words: here.stack.words(ended.captures),
        nanos,
        parameters,
    };
    let verdict = watched.program.evaluate(&call);
    if verdict != Verdict::Matches {
        if verdict == Verdict::Undecided {
            lost.note(|lost| &lost.undecided, 1);
        }
        lost.note(|lost| &lost.filtered, 1);
        return None;
    }
    let end = ended.times.1;
    let second = here.log.shared.scale(here.log.shared.base()).time(end) / 1_000_000_000;
    if !watched.admits(second) {
        lost.note(|lost| &lost.beyond_limit, 1);
        return None;
    }
    let captures = with_computed(&call, ended.captures, &watched.program);
    Some(with_stack(jvm, here, captures, watched.program.stack()))
}

/// Returns the captures of a call, and the shown values that are read from no object.
fn with_computed(call: &EvaluatedCall<'_>, captures: (u64, u64), program: &Program) -> (u64, u64) {
    let mut captures = captures;
    for (number, value) in program.computed() {
        let mut buffer = [0; MAX_TEXT];
        let mut units = [0; MAX_TEXT];
        let (kind, seen) = match value {
            Value::Duration => (b'J', JvmValue::Number(b'J', call.duration())),
            Value::Threw => (b'Z', JvmValue::Number(b'Z', call.threw().into())),
            Value::Depth => (b'J', JvmValue::Number(b'J', call.depth())),
            Value::Arguments => (b'J', JvmValue::Number(b'J', call.arguments())),
            Value::Thread => (b'L', thread_of(call, &mut buffer, &mut units)),
            Value::Path(_) => continue, // has a slot
        };
        let spec = CaptureSpec::new(kind, CaptureSource::Shown(number), MAX_TEXT as u32, false);
        let write = |words: &[AtomicU64]| capture::encode(spec, seen, words);
        match call.here.stack.extend(captures, write) {
            Some(extended) => captures = extended,
            None => call.here.log.lost.note(|lost| &lost.captures, 1),
        }
    }
    captures
}

/// Returns the name of a call's thread.
fn thread_of<'u>(
    call: &EvaluatedCall<'_>,
    buffer: &mut [u8; MAX_TEXT],
    units: &'u mut [u16; MAX_TEXT],
) -> JvmValue<'u> {
    let Datum::Text(name) = call.thread(buffer) else {
        return JvmValue::Unreadable;
    };
    let mut count = 0;
    for (unit, place) in name.known().encode_utf16().zip(units.iter_mut()) {
        *place = unit;
        count += 1;
    }
    let known = units.get(..count).unwrap_or_default();
    JvmValue::Text(known, u32::try_from(count).unwrap_or(u32::MAX))
}

/// Returns the captures of a call, and as many frames of the call stack as requested.
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

/// A completed call, as a program evaluates it.
struct EvaluatedCall<'a> {
    here: CurrentThread,
    ended: CompletedCall,
    words: &'a [AtomicU64],
    nanos: u64,
    parameters: u8,
}

impl Call for EvaluatedCall<'_> {
    fn duration(&self) -> u64 {
        self.nanos
    }

    fn threw(&self) -> bool {
        self.ended.failed
    }

    fn depth(&self) -> u64 {
        if self.ended.place.track != 0 {
            return self.ended.place.depth;
        }
        self.here.stack.depth(self.here.log.shared.base())
    }

    fn arguments(&self) -> u64 {
        self.parameters.into()
    }

    fn thread<'b>(&self, buffer: &'b mut [u8; MAX_TEXT]) -> Datum<'b> {
        let CurrentThread { log, stack } = self.here;
        if !std::ptr::eq(stack, &log.own) {
            return Datum::Missing; // the name of a virtual thread is unknown
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

/// Copies as much of a text as fits. Returns the number of these bytes, and the number of UTF-16 units of the whole
/// text.
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

/// Writes a call to the thread's segment, or to that of the coroutines if it is on the track of one: flags, start,
/// end, announced data, captures. Takes no [`ExitedCall`]: every other mode would have to keep it in memory, too.
#[inline(never)]
pub(super) fn push(here: CurrentThread, ended: CompletedCall, mut flags: u64, thrown: Option<u32>) {
    let captures = here.stack.words(ended.captures);
    let (track, span) = (ended.place.track, ended.span);
    let mut head = [0, ended.times.0, ended.times.1, 0, 0];
    let mut length = 3;
    let mut add = |flag, word| {
        flags |= flag;
        if let Some(next) = head.get_mut(length) {
            *next = word;
        }
        length += 1;
    };
    if track != 0 {
        add(VIRTUAL, track);
    } else if !std::ptr::eq(here.stack, &here.log.own) {
        add(VIRTUAL, here.stack.owner.load(Ordering::Relaxed));
    }
    if let Some(class) = thrown {
        add(NAMED, class.into());
    }
    head[0] = u64::from(span) | flags | ((length + captures.len()) as u64) << LENGTH_SHIFT;
    let head = head.get(..length).unwrap_or_default();
    let shared = here.log.shared;
    let pushed = match track {
        0 => shared.segments.push(&here.log.queue, head, captures),
        _ => shared.coroutines.push(&shared.segments, head, captures),
    };
    match pushed {
        Pushed::Waits => {}
        Pushed::ManyWait => shared.alarm.ring(),
        Pushed::Refused => {
            here.log.lost.note(|lost| &lost.full, 1);
            shared.alarm.ring();
        }
    }
}
