//! The functions that instrumented code calls.
//!
//! Entering and leaving a span takes no lock. Once a thread has seen the span, it allocates nothing. The open calls
//! of a Java thread are a stack. A completed call is added to the sums of the native thread and written to its
//! segment.

use std::sync::atomic::Ordering;

use conditions::{Path, Root, Slot};

use super::capture::{self, CaptureSpec, JvmValue};
use super::completion::{self, ended_unseen};
use super::current::{AGGREGATE, CurrentThread, EVENTS, Jvm, unrecorded};
use super::entry::MOMENT;
use super::opened::{MAX_OPENED, Opening};
use super::recording::{CompletedCall, ended, give_back, here, matching, place, push};
use super::stack::CallStart;
use super::sums::Timed;
use super::table::WATCHED;
use super::{fast_path, lost_ends};

/// Minimum number of free bytes for opening an object.
const MIN_ROOM: usize = 1_000;

/// Records that a call of `span` begins on the Java thread `thread`.
#[inline(always)]
pub fn enter(jvm: &impl Jvm, thread: u64, span: u32) {
    let pointer = jvm.stack_pointer();
    if fast_path::enter(jvm, thread, span, pointer).is_none() {
        enter_general(jvm, thread, span, pointer);
    }
}

/// The general path of [`enter`].
#[inline(never)]
fn enter_general(jvm: &impl Jvm, thread: u64, span: u32, pointer: u64) {
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
    let begin = CallStart {
        mode,
        base: shared.base(),
        pointer,
        scarce,
    };
    if !here.stack.enter(span, begin, now) && mode >= AGGREGATE {
        here.log.lost.note(|lost| &lost.untracked, 1);
    }
}

/// Records that a call of `span` returns.
#[inline(always)]
pub fn exit(jvm: &impl Jvm, thread: u64, span: u32) {
    if fast_path::exit(jvm, thread, span).is_none() {
        exit_general(jvm, thread, span);
    }
}

/// The general path of [`exit`].
#[inline(never)]
fn exit_general(jvm: &impl Jvm, thread: u64, span: u32) {
    leave(jvm, thread, span, false, || None);
}

/// Records that an exception leaves a call of `span`. `class` numbers its class
/// ([`Runtime::class`](super::Runtime::class)) and is called only in mode
/// [`SpanMode::Events`](crate::events::SpanMode::Events).
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
    if let Some(segment) = here.stack.pop_segment() {
        completion::ended(jvm, here, segment.call, Some(left.captures), failed, class);
    } else if left.mode >= AGGREGATE && left.start >= here.log.shared.base() {
        let apart = here.log.shared.apart();
        let end = here.stack.moment(jvm.ticks(), apart);
        ended(jvm, here, span, left, end, failed, class);
    }
    give_back(here);
}

/// Records the event `span`; its values were captured before, as those of a call.
pub fn event(jvm: &impl Jvm, thread: u64, span: u32) {
    let Some(here) = here(jvm, thread, Some(span)) else {
        return;
    };
    let captures = here.stack.take_staged(span);
    let mode = here.log.shared.mode(span);
    if mode >= AGGREGATE {
        let now = here.stack.moment(jvm.ticks(), here.log.shared.apart());
        reached(jvm, here, span, mode, now, captures);
    }
    give_back(here);
}

/// Counts an event, and writes it if limit, program and mode admit it.
fn reached(
    jvm: &impl Jvm,
    here: CurrentThread,
    span: u32,
    mode: u8,
    now: u64,
    captures: (u64, u64),
) {
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
    let event = CompletedCall {
        span,
        times: (now, now),
        captures,
        place: place(here),
        failed: false,
    };
    let captures = match mode {
        WATCHED => matching(jvm, here, event, 0),
        _ => Some(captures),
    };
    if let Some(captures) = captures {
        push(here, CompletedCall { captures, ..event }, MOMENT, None);
    }
}

/// Captures an object with its contents, as [`capture()`]. `read` passes the value to the function.
pub fn capture_opened(
    jvm: &impl Jvm,
    thread: u64,
    span: u32,
    spec: CaptureSpec,
    read: impl FnOnce(Opening, &mut dyn FnMut(JvmValue<'_>)),
) {
    let Some(here) = here(jvm, thread, Some(span)) else {
        return;
    };
    let shared = here.log.shared;
    if shared.mode(span) < EVENTS {
        return;
    }
    settle(jvm, here, span, spec);
    let watched = shared.watches.of(span);
    let levels = watched.map_or(0, |(watched, _)| watched.program.depth());
    unrecorded(jvm, || {
        read(opening(here, levels), &mut |value| {
            keep(here, span, spec.is_of_entry(), spec, value);
        });
    });
}

fn opening(here: CurrentThread, levels: u8) -> Opening {
    if levels == 0 {
        return Opening::default();
    }
    match here.stack.room_to_open() {
        // The rest is reserved for objects of calls within this one, without their contents.
        ..MIN_ROOM => Opening::default(),
        bytes => Opening {
            levels,
            bytes: bytes.min(MAX_OPENED),
        },
    }
}

/// Captures a value of a call of `span` that is about to be entered or left. `read` is called only in mode
/// [`SpanMode::Events`](crate::events::SpanMode::Events).
pub fn capture<'v>(
    jvm: &impl Jvm,
    thread: u64,
    span: u32,
    spec: CaptureSpec,
    read: impl FnOnce() -> JvmValue<'v>,
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

/// Captures a primitive value, as [`capture()`].
#[inline(always)]
pub fn number(jvm: &impl Jvm, thread: u64, span: u32, spec: CaptureSpec, bits: u64) {
    if fast_path::number(jvm, thread, span, spec, bits).is_none() {
        number_general(jvm, thread, span, spec, bits);
    }
}

/// The general path of [`number`].
#[inline(never)]
fn number_general(jvm: &impl Jvm, thread: u64, span: u32, spec: CaptureSpec, bits: u64) {
    let read = || JvmValue::Number(spec.kind(), bits);
    capture(jvm, thread, span, spec, read);
}

/// Captures a value from which the span's program reads others, as [`capture()`]. `read` is called with each path,
/// and without one if the value itself is stored.
pub fn capture_read_from(
    jvm: &impl Jvm,
    thread: u64,
    span: u32,
    spec: CaptureSpec,
    mut read: impl FnMut(CaptureSpec, Option<&Path>, Opening, &mut dyn FnMut(JvmValue<'_>)),
) {
    let Some(here) = here(jvm, thread, Some(span)) else {
        return;
    };
    let shared = here.log.shared;
    let (Some(root), EVENTS..) = (spec.root(), shared.mode(span)) else {
        return;
    };
    let mut read = |spec, path: Option<&Path>, levels, keep: &mut dyn FnMut(JvmValue<'_>)| {
        unrecorded(jvm, || read(spec, path, opening(here, levels), keep));
    };
    settle(jvm, here, span, spec);
    let watched = shared.watches.of(span);
    let levels = watched.map_or(0, |(watched, _)| watched.program.depth());
    let (mut first, of_entry) = (spec.is_first(), spec.is_of_entry());
    if spec.is_kept() {
        read(spec, None, levels, &mut |value| {
            keep(here, span, of_entry, spec, value);
        });
        first = false;
    }
    let Some((watched, _)) = watched else {
        return;
    };
    let mut keep_slot = |(number, slot): (u8, &Slot)| {
        let spec = spec.of_slot(number, slot.is_compared, std::mem::take(&mut first));
        let levels = if slot.is_shown { levels } else { 0 };
        read(spec, Some(&slot.path), levels, &mut |value| {
            if !slot.path.from_root().is_empty() {
                shared.watches.note(watched, number, value);
            }
            keep(here, span, of_entry, spec, value);
        });
    };
    match root {
        Root::Local => {
            let slots = watched.program.slots_of_variable(spec.variable());
            slots.for_each(&mut keep_slot);
        }
        root => watched.program.slots_of(root).for_each(&mut keep_slot),
    }
}

/// Ends calls with a lost end, before the first value of a call that is entered or left.
#[inline(always)]
fn settle(jvm: &impl Jvm, here: CurrentThread, span: u32, spec: CaptureSpec) {
    if spec.is_first() && (spec.is_of_entry() || spec.is_of_end()) {
        let lost = |span, left| ended_unseen(jvm, here, span, left);
        lost_ends::before_value(jvm, here, span, spec.is_of_entry(), lost);
    }
}

/// Adds a value to the staged captures, of a call that is about to be entered if `of_entry`.
fn keep(here: CurrentThread, span: u32, of_entry: bool, spec: CaptureSpec, value: JvmValue<'_>) {
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
