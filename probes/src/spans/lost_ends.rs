//! Ends of calls that were lost, and how that is noticed.
//!
//! With next to no stack left, the JVM cannot call what reports the end of a call. So a call that begins there is
//! marked. While one is open, each further begin or end first compares how many times exceptions have left calls: the
//! code of a span counts that before it reports the end, which takes no stack. If one was not reported, the frames of
//! the thread are counted, and the calls whose frames are gone are ended.
//!
//! The count is one for all threads, and counting the frames of a deep stack takes milliseconds. While other threads throw,
//! the frames are therefore counted more and more seldom, and once more when the calls with little stack are over.
//!
//! An end is lost elsewhere if an exception comes from another thread at the wrong moment (`Thread.stop`). That is noticed when
//! a call of another span ends, or when a call begins with a shorter stack than one within the innermost call would.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use super::current::{CurrentThread, Jvm, unrecorded};
use super::stack::Left;

/// A call is about to begin: `end` gets the calls that are no longer open, the innermost first.
#[inline(always)]
pub(super) fn before_entry(
    jvm: &impl Jvm,
    here: CurrentThread,
    span: u32,
    pointer: u64,
    end: impl FnMut(u32, Left),
) {
    let Some((_, scarce)) = here.stack.top() else {
        return;
    };
    if scarce {
        let is_over = || pointer >= here.log.scarce_below.load(Ordering::Relaxed);
        if is_due(jvm, here, false, is_over) {
            let found = end_gone(jvm, here, Some(span), end);
            here.stack.looked(found);
        }
    } else if here.stack.is_shorter(pointer) {
        let found = end_gone(jvm, here, Some(span), end);
        here.stack.looked_into(pointer, found);
    }
}

/// A call is about to end, by an exception if it `failed`: `end` gets the calls within it that are no longer open.
#[inline(always)]
pub(super) fn before_end(
    jvm: &impl Jvm,
    here: CurrentThread,
    span: u32,
    failed: bool,
    end: impl FnMut(u32, Left),
) {
    let Some((innermost, scarce)) = here.stack.top() else {
        return;
    };
    let mut end = end;
    let is_due = scarce && is_due(jvm, here, failed, || here.stack.is_first_scarce());
    if is_due || innermost != span {
        if is_due || !scarce || here.stack.is_time_to_look() {
            let found = end_gone(jvm, here, None, &mut end);
            here.stack.looked(found);
        }
        // An end that does not match ends the calls within its own.
        let within = here.stack.within(span).unwrap_or(0);
        abandon(here, within, end);
    }
}

/// A value is about to be captured; as [`before_entry`] and [`before_end`], so that it lies behind those of open calls.
#[inline(always)]
pub(super) fn before_value(
    jvm: &impl Jvm,
    here: CurrentThread,
    span: u32,
    is_of_entry: bool,
    end: impl FnMut(u32, Left),
) {
    let Some((innermost, scarce)) = here.stack.top() else {
        return;
    };
    let is_due = scarce && is_due(jvm, here, false, || false);
    if is_due || !is_of_entry && innermost != span && (!scarce || here.stack.is_time_to_look()) {
        let entering = is_of_entry.then_some(span);
        let found = end_gone(jvm, here, entering, end);
        here.stack.looked(found);
    }
}

/// The calls of a thread get scarce of stack: from now on it is counted how often they are left.
#[cold]
pub(super) fn begin_to_count(jvm: &impl Jvm, here: CurrentThread) {
    here.stack.replace_unwound(jvm.unwound());
}

/// Says that the frames are to be counted: an end may have been lost and it is time to look, or that is in doubt and the
/// stack is scarce no longer.
#[cold]
fn is_due(
    jvm: &impl Jvm,
    here: CurrentThread,
    failed: bool,
    is_over: impl FnOnce() -> bool,
) -> bool {
    let is_time = was_left(jvm, here, failed) && here.stack.is_time_to_look();
    is_time || here.stack.is_in_doubt() && is_over()
}

/// Says whether an exception may have left a call without a report of its end, but for the one that `failed` now.
#[cold]
fn was_left(jvm: &impl Jvm, here: CurrentThread, failed: bool) -> bool {
    let now = jvm.unwound();
    let before = here.stack.replace_unwound(now);
    now != before && !(failed && now == before.wrapping_add(1))
}

/// Ends the innermost calls whose frames are gone; whether there are some. The method of the span that is being entered has a frame
/// without an open call.
#[cold]
fn end_gone(
    jvm: &impl Jvm,
    here: CurrentThread,
    entering: Option<u32>,
    end: impl FnMut(u32, Left),
) -> bool {
    let Some(running) = unrecorded(jvm, || jvm.running()) else {
        return false;
    };
    let open = here.stack.open();
    let mut surplus: HashMap<u32, u64> = HashMap::new();
    for (span, ..) in &open {
        *surplus.entry(*span).or_default() += 1;
    }
    let mut gone = 0;
    for (span, surplus) in &mut surplus {
        let method = here.log.shared.table.method(*span);
        let frames = method.and_then(|method| running.get(&method)).copied();
        let frames = frames.unwrap_or(0);
        *surplus = surplus.saturating_sub(frames.saturating_sub((entering == Some(*span)).into()));
        gone += *surplus;
    }
    let mut calls = 0;
    for (span, ..) in open.iter().rev() {
        if gone == 0 {
            break;
        }
        calls += 1;
        if let Some(left) = surplus.get_mut(span)
            && *left > 0
        {
            *left -= 1;
            gone -= 1;
        }
    }
    abandon(here, calls, end);
    calls > 0
}

fn abandon(here: CurrentThread, calls: u64, mut end: impl FnMut(u32, Left)) {
    for _ in 0..calls {
        let Some((span, left)) = here.stack.abandon() else {
            return;
        };
        end(span, left);
    }
}
