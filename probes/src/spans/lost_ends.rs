//! Detects calls whose end was lost.
//!
//! With almost no stack left, the JVM cannot call the function that reports the end of a call. So a call that begins
//! there is marked. While a marked call is open, each further entry or exit first compares the number of exceptions
//! that left calls. The code of a span increments it before it reports the end, which takes no stack. If an end was
//! not reported, the thread's frames are counted, and the calls without a frame are ended.
//!
//! The number covers all threads, and counting the frames of a deep stack takes milliseconds. While other threads
//! throw, frames are therefore counted less and less often, and once more after the calls with little stack.
//!
//! An end is also lost if another thread injects an exception at the wrong moment (`Thread.stop`). This is detected
//! when a call of another span ends, or when a call begins with a shorter stack than a callee of the innermost call
//! would have.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use super::current::{CurrentThread, Jvm, unrecorded};
use super::stack::ExitedCall;

/// Checks for lost ends before a call begins: `end` receives the calls that are no longer open, innermost first.
#[inline(always)]
pub(super) fn before_entry(
    jvm: &impl Jvm,
    here: CurrentThread,
    span: u32,
    pointer: u64,
    end: impl FnMut(u32, ExitedCall),
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

/// Checks for lost ends before a call ends, by an exception if it `failed`. `end` receives the calls within it that
/// are no longer open.
#[inline(always)]
pub(super) fn before_end(
    jvm: &impl Jvm,
    here: CurrentThread,
    span: u32,
    failed: bool,
    end: impl FnMut(u32, ExitedCall),
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
        // An end that does not match ends the calls within its own call.
        let within = here.stack.within(span).unwrap_or(0);
        abandon(here, within, end);
    }
}

/// Checks for lost ends before a value is captured, so that it follows the captures of open calls. Works as
/// [`before_entry`] and [`before_end`].
#[inline(always)]
pub(super) fn before_value(
    jvm: &impl Jvm,
    here: CurrentThread,
    span: u32,
    is_of_entry: bool,
    end: impl FnMut(u32, ExitedCall),
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

/// Starts to count exceptions: little stack is left for the thread's calls.
#[cold]
pub(super) fn begin_to_count(jvm: &impl Jvm, here: CurrentThread) {
    here.stack.replace_unwound(jvm.unwound());
}

/// Checks whether the frames must be counted: an end may have been lost and the next check is due, or an end is in
/// doubt and enough stack is available again.
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

/// Checks whether an exception may have left a call without a report, apart from the one that `failed` now.
#[cold]
fn was_left(jvm: &impl Jvm, here: CurrentThread, failed: bool) -> bool {
    let now = jvm.unwound();
    let before = here.stack.replace_unwound(now);
    now != before && !(failed && now == before.wrapping_add(1))
}

/// Ends the innermost calls without a frame, and returns whether there were any. The method of the span being entered
/// has a frame and no open call.
#[cold]
fn end_gone(
    jvm: &impl Jvm,
    here: CurrentThread,
    entering: Option<u32>,
    end: impl FnMut(u32, ExitedCall),
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

fn abandon(here: CurrentThread, calls: u64, mut end: impl FnMut(u32, ExitedCall)) {
    for _ in 0..calls {
        let Some((span, left)) = here.stack.abandon() else {
            return;
        };
        end(span, left);
    }
}
