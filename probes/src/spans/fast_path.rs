//! The fast path of most calls: enters and leaves spans whose thread, sums and memory exist.
//!
//! The only function call finds the thread's cell, so no registers are saved on the stack. All look-ups precede the
//! clock reading. The functions do everything or nothing; in the second case the general functions take over.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use super::capture::{self, CaptureSpec, JvmValue};
use super::current::{AGGREGATE, CurrentThread, EVENTS, Jvm};
use super::entry::LENGTH_SHIFT;
use super::sums::Timed;

/// Number of words of a call before its captures: flags, start and end.
const WORDS: usize = 3;

/// Returns the log and stack of the Java thread `thread`.
#[inline(always)]
fn here(jvm: &impl Jvm, thread: u64) -> Option<CurrentThread> {
    let here = jvm.with_cell(Cell::get)?;
    let is_here = here.stack.owner.load(Ordering::Relaxed) == thread && jvm.has_counter();
    is_here.then_some(here)
}

/// Records the entry of a call.
#[inline(always)]
pub(super) fn enter(jvm: &impl Jvm, thread: u64, span: u32, pointer: u64) -> Option<()> {
    let CurrentThread { log, stack } = here(jvm, thread)?;
    let mode = log.shared.mode(span);
    if mode < AGGREGATE || pointer < log.scarce_below.load(Ordering::Relaxed) {
        return None;
    }
    let apart = log.shared.apart();
    let now = || stack.moment(jvm.counter(), apart);
    stack.enter_fast(span, mode, pointer, now)
}

/// Records the return of a call on a platform thread.
#[inline(always)]
pub(super) fn exit(jvm: &impl Jvm, thread: u64, span: u32) -> Option<()> {
    let CurrentThread { log, stack } = here(jvm, thread)?;
    let call = stack.plain(span)?;
    let shared = log.shared;
    if call.start < shared.base() || !std::ptr::eq(stack, &log.own) || stack.is_in_segment() {
        return None;
    }
    let sum = log.sums.fresh(span)?;
    let room = match call.mode {
        AGGREGATE => None,
        EVENTS => Some(shared.segments.room::<WORDS>(&log.queue, call.captures)?),
        _ => return None,
    };
    let apart = shared.apart();
    let end = stack.moment(jvm.counter(), apart);
    let ticks = end - call.start;
    if let Some(room) = room {
        if let Some(word) = room.ahead() {
            jvm.fetch(word);
        }
        let length = WORDS + call.captures.len();
        let head = u64::from(span) | (length as u64) << LENGTH_SHIFT;
        room.fill([head, call.start, end]);
    }
    let own = stack.leave_fast(&call, ticks);
    sum.add_fresh(Timed {
        ticks,
        own,
        nanos: shared.scale(0).duration(ticks),
        failed: false,
        outermost: call.outermost,
    });
    Some(())
}

/// Captures a primitive value of a call that is about to be entered or left.
#[inline(always)]
pub(super) fn number(
    jvm: &impl Jvm,
    thread: u64,
    span: u32,
    spec: CaptureSpec,
    bits: u64,
) -> Option<()> {
    let CurrentThread { log, stack } = here(jvm, thread)?;
    if log.shared.mode(span) < EVENTS || !stack.is_plain(span, spec.is_of_end()) {
        return None;
    }
    let value = JvmValue::Number(spec.kind(), bits);
    let write = |words: &_| capture::encode(spec, value, words);
    stack.stage_fast(span, (spec.is_of_entry(), spec.is_first()), write)
}
